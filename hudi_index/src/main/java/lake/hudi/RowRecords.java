package lake.hudi;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lake.NotPlain;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.AvroConversionUtils;
import org.apache.hudi.DataSourceUtils;
import org.apache.hudi.avro.AvroSchemaUtils;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.exception.HoodieIOException;
import org.apache.hudi.index.bucket.BucketIdentifier;
import org.apache.hudi.keygen.BaseKeyGenerator;
import org.apache.hudi.keygen.factory.HoodieSparkKeyGeneratorFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import scala.Function0;
import scala.Function1;
import scala.Option;
import scala.Tuple2;

/** Makes Hudi's records of Spark's rows as Hudi's DataFrame writer does, by bucket as its index does. */
final class RowRecords {

  /** The fields that take no null. */
  private final List<Schema.Field> required;
  private final Function1<InternalRow, GenericRecord> converter;
  private final BaseKeyGenerator keys;
  private final HoodieWriteConfig config;

  /** schema: the table's, without Hudi's own columns. Throws NotPlain if the columns are others. */
  RowRecords(HoodieWriteConfig config, StructType columns, Schema schema) throws NotPlain {
    refuseOtherColumns(columns, schema);
    PlainTable.refuse(schema.getField(HoodieRecord.HOODIE_IS_DELETED_FIELD) != null, "it has Hudi's own mark of deletes");
    this.config = config;
    this.required = schema.getFields().stream()
        .filter(field -> !AvroSchemaUtils.isNullable(field.schema())).collect(Collectors.toList());
    this.converter = converter(columns, schema);
    this.keys = keyGenerator(config);
  }

  /** With the schema of config. */
  RowRecords(HoodieWriteConfig config, StructType columns) {
    this(config, columns, new Schema.Parser().parse(config.getWriteSchema()));
  }

  /** By number of the bucket, in the order of the rows. The iterator may reuse its row. */
  @SuppressWarnings("unchecked")
  <T> Map<Integer, List<HoodieRecord<T>>> byBucket(Iterator<InternalRow> rows) throws NotPlain {
    Map<Integer, List<HoodieRecord<T>>> found = new TreeMap<>();
    while (rows.hasNext()) {
      GenericRecord row = values(rows.next());
      HoodieRecord<T> record = (HoodieRecord<T>) new AppendedRecord(key(row), new RowPayload(row));
      found.computeIfAbsent(bucket(record.getKey()), bucket -> new ArrayList<>()).add(record);
    }
    return found;
  }

  /** Each record with its bucket, in the order of the rows, to be sent to another process. */
  <T> Iterator<Tuple2<Integer, HoodieRecord<T>>> withBuckets(Iterator<InternalRow> rows) {
    return new Iterator<Tuple2<Integer, HoodieRecord<T>>>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, HoodieRecord<T>> next() {
        HoodieRecord<T> record = encoded(values(rows.next()));
        return new Tuple2<>(bucket(record.getKey()), record);
      }
    };
  }

  private GenericRecord values(InternalRow row) throws NotPlain {
    refuseMissingValues(row);
    return converter.apply(row);
  }

  private HoodieKey key(GenericRecord row) {
    return new HoodieKey(keys.getRecordKey(row), keys.getPartitionPath(row));
  }

  /** A record with Hudi's own payload. */
  @SuppressWarnings("unchecked")
  private <T> HoodieRecord<T> encoded(GenericRecord row) {
    String payload = config.getString(HoodieWriteConfig.WRITE_PAYLOAD_CLASS_NAME);
    try {
      return DataSourceUtils.createHoodieRecord(row, key(row), payload, Option.empty());
    } catch (IOException failed) {
      throw new HoodieIOException("no payload of row " + key(row), failed);
    }
  }

  private int bucket(HoodieKey key) {
    return BucketIdentifier.getBucketId(key, config.getBucketIndexHashField(), config.getBucketIndexNumBuckets());
  }

  /** Spark calls columns nullable that are not: what counts is the value. */
  private void refuseMissingValues(InternalRow row) throws NotPlain {
    for (Schema.Field field : required) {
      PlainTable.refuse(row.isNullAt(field.pos()), "column " + field.name() + " has no nulls yet");
    }
  }

  private static void refuseOtherColumns(StructType columns, Schema stored) throws NotPlain {
    Schema given = AvroConversionUtils.convertStructTypeToAvroSchema(columns, stored.getName(), stored.getNamespace());
    List<Schema.Field> ours = given.getFields();
    List<Schema.Field> theirs = stored.getFields();
    PlainTable.refuse(ours.size() != theirs.size(), "it has other columns");
    for (int place = 0; place < ours.size(); place++) {
      String name = ours.get(place).name();
      boolean same = name.equals(theirs.get(place).name()) && type(ours.get(place)).equals(type(theirs.get(place)));
      PlainTable.refuse(!same, "its column " + theirs.get(place).name() + " is another one than " + name);
    }
  }

  private static Schema type(Schema.Field field) {
    return AvroSchemaUtils.resolveNullableSchema(field.schema());
  }

  private static Function1<InternalRow, GenericRecord> converter(StructType columns, Schema schema) {
    Function0<Function1<InternalRow, GenericRecord>> made =
        () -> AvroConversionUtils.createInternalRowToAvroConverter(columns, schema, false);
    Option<SparkSession> session = SparkSession.getDefaultSession();
    // Spark's settings say how days before 1582 are written. A thread of which no session is active has Spark's defaults.
    return session.isEmpty() ? made.apply() : SQLConf.withExistingConf(session.get().sessionState().conf(), made);
  }

  private static BaseKeyGenerator keyGenerator(HoodieWriteConfig config) {
    try {
      return (BaseKeyGenerator) HoodieSparkKeyGeneratorFactory.createKeyGenerator(new TypedProperties(config.getProps()));
    } catch (IOException failed) {
      throw new HoodieIOException("no key generator", failed);
    }
  }
}
