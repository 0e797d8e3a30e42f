package lake.hudi;

/** A batch or a table that the {@link Appender} leaves to Hudi's own writer. Nothing was written. */
public final class NotPlain extends Exception {

  private static final long serialVersionUID = 1L;

  public NotPlain(String reason) {
    super(reason);
  }
}
