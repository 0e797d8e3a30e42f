package lake.stream;

/** Only the general road can apply this batch. Nothing of it was written. */
public final class NotPlain extends RuntimeException {
  private static final long serialVersionUID = 1;

  public NotPlain(String reason) {
    super(reason);
  }
}
