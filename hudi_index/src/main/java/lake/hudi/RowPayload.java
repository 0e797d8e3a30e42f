package lake.hudi;

import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.apache.hudi.common.model.HoodieRecordPayload;
import org.apache.hudi.common.util.Option;

/**
 * The values of a row on their way into a log block of the same process.
 *
 * <p>Hudi's own payloads encode a row as Avro, and decode it again when the block is written. This one keeps no schema:
 * Hudi measures a row now and then, and would measure the schema with it.
 */
final class RowPayload implements HoodieRecordPayload<RowPayload> {

  private static final long serialVersionUID = 1L;

  private final Object[] values;

  RowPayload(GenericRecord row) {
    this.values = new Object[row.getSchema().getFields().size()];
    for (int place = 0; place < values.length; place++) {
      values[place] = row.get(place);
    }
  }

  /** Puts the values into the last fields of a record. Returns their number. */
  int putInto(GenericRecord record) {
    int before = record.getSchema().getFields().size() - values.length;
    for (int place = 0; place < values.length; place++) {
      record.put(before + place, values[place]);
    }
    return values.length;
  }

  @Override
  public Option<IndexedRecord> getInsertValue(Schema schema) {
    GenericRecord row = new GenericData.Record(schema);
    putInto(row);
    return Option.of(row);
  }

  @Override
  public RowPayload preCombine(RowPayload older) {
    throw new UnsupportedOperationException("each key has one row");
  }

  @Override
  public Option<IndexedRecord> combineAndGetUpdateValue(IndexedRecord stored, Schema schema) {
    throw new UnsupportedOperationException("rows are appended, and merged by those who read them");
  }
}
