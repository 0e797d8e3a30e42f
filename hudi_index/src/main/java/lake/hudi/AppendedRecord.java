package lake.hudi;

import java.util.Properties;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.MetadataValues;
import org.apache.hudi.common.model.RewriteAvroPayload;

/** A row that is appended as it is: it gets Hudi's own columns without a search for the place of each of its columns. */
final class AppendedRecord extends HoodieAvroRecord<RowPayload> {

  private static final long serialVersionUID = 1L;

  AppendedRecord(HoodieKey key, RowPayload row) {
    super(key, row);
  }

  /** False: a deleted row of the source is a row with a mark, or with its key alone. */
  @Override
  public boolean isDelete(Schema schema, Properties properties) {
    return false;
  }

  /** stored: Hudi's own columns, and then those of the row. */
  @Override
  @SuppressWarnings("rawtypes") // as Hudi declares it
  public HoodieRecord prependMetaFields(Schema row, Schema stored, MetadataValues own, Properties properties) {
    GenericRecord record = new GenericData.Record(stored);
    int columns = getData().putInto(record);
    String[] values = own.getValues(); // a new array at each call
    for (int place = 0; place < stored.getFields().size() - columns; place++) {
      record.put(place, values[place]);
    }
    return new HoodieAvroRecord<>(getKey(), new RewriteAvroPayload(record), getOperation(), currentLocation, newLocation);
  }
}
