package lake.connect;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Makes the key and the value of a record survive the Avro converter unchanged. Needs no configuration.
 *
 * <ul>
 *   <li>An optional field loses its default: the converter writes the default wherever the value is NULL,
 *       so NULL in a nullable column that has a DEFAULT would arrive as the default.</li>
 *   <li>{@code io.debezium.data.VariableScaleDecimal} (a struct of scale and bytes, for {@code numeric}
 *       without a declared scale) becomes a string of plain digits: one type for all scales.</li>
 * </ul>
 *
 * Both hold at any depth: the before and after of an envelope, arrays, maps, nested structs. Records whose
 * schemas need no change are returned as they are. Set {@code replace.null.with.default=false} on an
 * ExtractNewRecordState that runs before this transform: otherwise it fills in the default first.
 */
public class NormalizeColumns<R extends ConnectRecord<R>> implements Transformation<R> {

    private final SchemaCache<Rewrite> rewrites = new SchemaCache<>();

    @Override
    public void configure(Map<String, ?> configs) {
        // Nothing to set.
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public R apply(R record) {
        Rewrite key = rewrites.of(record.keySchema(), Rewrite::of);
        Rewrite value = rewrites.of(record.valueSchema(), Rewrite::of);
        if (!key.changes() && !value.changes()) {
            return record;
        }
        return record.newRecord(record.topic(), record.kafkaPartition(),
                key.schema(), key.apply(record.key()),
                value.schema(), value.apply(record.value()),
                record.timestamp(), record.headers());
    }

    @Override
    public void close() {
        rewrites.clear();
    }
}
