package lake.connect;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Adds the field {@code __run} to a flat row, or to an envelope: the generation of the connector that sent it, which is the start time of
 * that run in ms ({@link Runs}; by this worker's clock if the snapshotter is not ours). Needs no configuration. Must run
 * after ExtractNewRecordState, if there is one.
 *
 * <p>Messages that a run sent before it was replaced can still be in network buffers. They then arrive after messages of
 * the next run: older changes after newer ones. Readers of the topic detect them by this field
 * (spark_jobs/events/fencing.py).
 */
public class NameRun<R extends ConnectRecord<R>> implements Transformation<R> {

    static final String RUN = "__run";

    private static final String OPERATION = "__op";

    private final SchemaCache<Schema> widened = new SchemaCache<>();

    private long began;

    @Override
    public void configure(Map<String, ?> configs) {
        began = System.currentTimeMillis();
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct row) || !isRow(row)) {
            return record;
        }
        Struct named = Structs.copy(row, widened.of(row.schema(), NameRun::widen));
        named.put(RUN, Runs.of(Runs.server(record), began));
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                named.schema(), named, record.timestamp(), record.headers());
    }

    private static boolean isRow(Struct value) {
        return value.schema().field(OPERATION) != null || Envelopes.isEnvelope(value);
    }

    private static Schema widen(Schema row) {
        return Structs.like(row).field(RUN, Schema.OPTIONAL_INT64_SCHEMA).build();
    }

    @Override
    public void close() {
        widened.clear();
    }
}
