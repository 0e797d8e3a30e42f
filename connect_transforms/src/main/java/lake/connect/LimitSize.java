package lake.connect;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Refuses a record that is greater than Kafka takes, by table and key: the producer's own error names neither.
 *
 * <p>What counts are the bytes of texts and byte strings; a row that is above the limit by its numbers alone has more
 * columns than PostgreSQL allows.
 */
public class LimitSize<R extends ConnectRecord<R>> implements Transformation<R> {

    private static final String MAX_BYTES = "max.bytes";
    private static final int UTF8_AT_MOST = 3; // bytes per UTF-16 unit

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
        if (bytes(record.value(), false) > limit) {
            long exact = bytes(record.value(), true);
            if (exact > limit) {
                throw new DataException(record.topic() + ": the row with key " + record.key() + " has " + exact
                        + " bytes, and a message at most " + limit + ": make it smaller in PostgreSQL, or raise "
                        + "the limit of the topic and of the connector");
            }
        }
        return record;
    }

    /** At most that many, or exactly so many. */
    private static long bytes(Object value, boolean exact) {
        if (value instanceof String text) {
            return exact ? utf8(text) : (long) UTF8_AT_MOST * text.length();
        }
        if (value instanceof byte[] bytes) {
            return bytes.length;
        }
        if (value instanceof ByteBuffer buffer) {
            return buffer.remaining();
        }
        if (value instanceof Struct struct) {
            return struct.schema().fields().stream().mapToLong(field -> bytes(struct.get(field), exact)).sum();
        }
        if (value instanceof Collection<?> items) {
            return items.stream().mapToLong(item -> bytes(item, exact)).sum();
        }
        if (value instanceof Map<?, ?> map) {
            return bytes(map.keySet(), exact) + bytes(map.values(), exact);
        }
        return 0;
    }

    private static long utf8(String text) {
        return text.codePoints().mapToLong(point -> point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4)
                .sum();
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
