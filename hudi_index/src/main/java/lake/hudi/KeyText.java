package lake.hudi;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.common.util.Option;

/**
 * The text of a key where Hudi has none, or the same one for different keys. Hudi refuses an empty text, writes bytes as
 * Java shows a buffer, and joins the elements of an array without quotes.
 */
final class KeyText {
  /** No text of PostgreSQL contains U+0000. */
  private static final String EMPTY = "\u0000";

  private KeyText() {}

  /** Empty where Hudi's own text is right. A key of several columns is one text already, in the column _key. */
  static Option<String> of(GenericRecord row, List<String> fields) {
    Object value = fields.size() == 1 ? row.get(fields.get(0)) : null;
    if (value instanceof CharSequence) {
      return ((CharSequence) value).length() == 0 ? Option.of(EMPTY) : Option.empty();
    }
    if (value instanceof ByteBuffer) {
      return Option.of(hex(((ByteBuffer) value).duplicate()));
    }
    return value instanceof Collection ? Option.of(GenericData.get().toString(value)) : Option.empty();
  }

  /** As PostgreSQL writes bytes. */
  private static String hex(ByteBuffer bytes) {
    StringBuilder text = new StringBuilder("\\x");
    while (bytes.hasRemaining()) {
      text.append(String.format("%02x", bytes.get()));
    }
    return text.toString();
  }
}
