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
  private final Facts facts;
  private final boolean full;
  private final long last;

  /**
   * Decodes all messages.
   *
   * @param writer the id of the schema of all messages
   * @param full whether the table has REPLICA IDENTITY FULL
   * @param last when the source committed what the table got last, ms
   * @throws NotPlain with the reason
   */
  public PlainBatch(
      List<ConsumerRecord<byte[], byte[]>> messages, Rows rows, int writer, List<String> keys, boolean full,
      long last) {
    this.rows = rows;
    this.full = full;
    this.last = last;
    order = rows.type().fieldIndex("_order");
    UnsafeProjection key = rows.columns(keys);
    facts = new Facts(rows.type());
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
    refuseDeleteOfTwo(held, row);
    if (held == null) {
      newest.put(key.copy(), row.copy());
    } else if (held.getLong(order) < row.getLong(order)) {
      newest.put(key, row.copy()); // the map keeps its own copy of the key
    }
  }

  /** Two rows may hold a key within a transaction: which of them a delete ends is known by the general road. */
  private void refuseDeleteOfTwo(UnsafeRow held, UnsafeRow row) {
    if (!full || !facts.of(row).isDelete()) {
      return;
    }
    Long at = facts.sourceMs();
    boolean goesOn = at == null || at <= last;
    if (goesOn || held != null && !facts.of(held).isDelete() && at.equals(facts.sourceMs())) {
      throw new NotPlain("a delete of a row that its own transaction may have made");
    }
  }
}
