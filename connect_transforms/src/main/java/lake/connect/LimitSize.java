package lake.connect;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Refuses a record that is greater than Kafka takes, by table and key: the producer's own error names neither.
 *
 * <p>What counts are the bytes of texts and byte strings. A row that is above the limit only by what else it has, as
 * arrays of numbers, is left to the producer.
 */
public class LimitSize<R extends ConnectRecord<R>> implements Transformation<R> {

    private static final String MAX_BYTES = "max.bytes";

    private long limit;

    @Override
    public void configure(Map<String, ?> configs) {
        limit = Long.parseLong(String.valueOf(configs.get(MAX_BYTES)));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define(MAX_BYTES, ConfigDef.Type.LONG, ConfigDef.Importance.HIGH,
                "The largest message of the topic, as producer.override.max.request.size.");
    }

    @Override
    public R apply(R record) {
        long size = bytes(record.value());
        if (size > limit) {
            throw new DataException(record.topic() + ": the row with key " + record.key() + " has " + size
                    + " bytes, and a message at most " + limit + ": make it smaller in PostgreSQL, or raise "
                    + "the limit of the topic and of the connector");
        }
        return record;
    }

    private static long bytes(Object value) {
        if (value instanceof String text) {
            return Utils.utf8Length(text);
        }
        if (value instanceof byte[] bytes) {
            return bytes.length;
        }
        if (value instanceof ByteBuffer buffer) {
            return buffer.remaining();
        }
        if (value instanceof Struct struct) {
            return struct.schema().fields().stream().mapToLong(field -> bytes(struct.get(field))).sum();
        }
        if (value instanceof Collection<?> items) {
            return items.stream().mapToLong(LimitSize::bytes).sum();
        }
        if (value instanceof Map<?, ?> map) {
            return bytes(map.keySet()) + bytes(map.values());
        }
        return 0;
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
