package lake;

/** Only the general road can apply a batch, or write to a table. Nothing was written. */
public final class NotPlain extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public NotPlain(String reason) {
    super(reason);
  }
}
