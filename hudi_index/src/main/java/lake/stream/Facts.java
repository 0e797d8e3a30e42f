package lake.stream;

import lake.NotPlain;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/** What a row says of its message. */
final class Facts {
  private final int lsn;
  private final int op;
  private final int sourceMs;
  private final int leftOut;
  private final int run;
  private UnsafeRow row;

  Facts(StructType type) {
    lsn = type.fieldIndex("__lsn");
    op = type.fieldIndex("__op");
    sourceMs = type.fieldIndex("__source_ts_ms");
    leftOut = type.fieldIndex("__left_out");
    run = type.fieldIndex("__run");
  }

  /** The facts of one row, until the next call. Throws NotPlain. */
  Facts of(UnsafeRow next) {
    row = next;
    if (row.getBoolean(leftOut)) {
      throw new NotPlain("a message without a large value");
    }
    return this;
  }

  /** False for a row of a snapshot. */
  boolean isChange() {
    return row.isNullAt(op) || !"r".equals(row.getUTF8String(op).toString());
  }

  boolean isDelete() {
    return !row.isNullAt(op) && "d".equals(row.getUTF8String(op).toString());
  }

  Long lsn() {
    return row.isNullAt(lsn) ? null : row.getLong(lsn);
  }

  /** When the source committed it, ms. */
  Long sourceMs() {
    return row.isNullAt(sourceMs) ? null : row.getLong(sourceMs);
  }

  /** The generation of the connector that sent it; null if the message does not name it. */
  String run() {
    return row.isNullAt(run) ? null : Long.toString(row.getLong(run));
  }
}
