package lake.stream;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lake.NotPlain;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Messages of one topic that need nothing that only the general road knows: of one writer schema, with all values. */
public final class PlainBatch {
  private final Map<UnsafeRow, UnsafeRow> newest = new HashMap<>();
  private final Map<Integer, Summary> partitions = new TreeMap<>();
  private final Rows rows;
  private final int order;

  /**
   * Decodes all messages.
   *
   * @param writer the id of the schema of all messages
   * @throws NotPlain with the reason
   */
  public PlainBatch(
      List<ConsumerRecord<byte[], byte[]>> messages, Rows rows, int writer, List<String> keys) {
    this.rows = rows;
    order = rows.type().fieldIndex("_order");
    UnsafeProjection key = rows.columns(keys);
    Facts facts = new Facts(rows.type());
    for (ConsumerRecord<byte[], byte[]> message : messages) {
      UnsafeRow row = decoded(message, writer);
      partitions.computeIfAbsent(message.partition(), number -> new Summary()).add(message, facts.of(row));
      keep(key.apply(row), row);
    }
  }

  /** The newest row of each key. */
  public Iterator<InternalRow> rows() {
    return new ArrayList<InternalRow>(newest.values()).iterator();
  }

  /** By partition, what Python needs to know of its messages: as JSON. */
  public String summary() {
    List<Object> found = new ArrayList<>();
    partitions.forEach((number, one) -> found.add(one.facts(number)));
    return Json.of(found);
  }

  private UnsafeRow decoded(ConsumerRecord<byte[], byte[]> message, int writer) {
    byte[] value = message.value();
    if (writer < 0 || Frame.writer(value) != writer) {
      throw new NotPlain("a message of another writer");
    }
    try {
      return rows.of(message.partition(), message.offset(), value);
    } catch (Exception error) { // Spark's are checked, and Scala declares none
      throw new NotPlain("a message that can't be decoded: " + error.getMessage());
    }
  }

  private void keep(UnsafeRow key, UnsafeRow row) {
    UnsafeRow held = newest.get(key);
    if (held == null) {
      newest.put(key.copy(), row.copy());
    } else if (held.getLong(order) < row.getLong(order)) {
      newest.put(key, row.copy()); // the map keeps its own copy of the key
    }
  }
}
