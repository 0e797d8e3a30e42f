package lake.hudi;

import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.keygen.NonpartitionedKeyGenerator;

/** Hudi's own key generator, with the texts of {@link KeyText}. */
public final class NonpartitionedKeys extends NonpartitionedKeyGenerator {

  public NonpartitionedKeys(TypedProperties properties) {
    super(properties);
  }

  @Override
  public String getRecordKey(GenericRecord row) {
    return KeyText.of(row, getRecordKeyFieldNames()).orElseGet(() -> super.getRecordKey(row));
  }
}
