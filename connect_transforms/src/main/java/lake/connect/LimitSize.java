package lake.connect;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.utils.ByteUtils;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Replaces a row that Kafka would refuse by a small record {@code lake.TooLarge}. The producer's own refusal would end
 * the task, and with it the capture of all tables of the database, for as long as the row is in the log.
 *
 * <p>The record has the key of the row, and names the row and its size. Readers of the topic treat it as a bad message
 * (spark_jobs/events/validate.py). A delete is always sent, without the largest values of the deleted row. An envelope
 * is sent without the row before the change if it fits then.
 *
 * <p>The size is that of the row in Avro, at most some bytes per column below that of the message. Must run last.
 */
public class LimitSize<R extends ConnectRecord<R>> implements Transformation<R> {

    static final Schema TOO_LARGE = SchemaBuilder.struct().name("lake.TooLarge")
            .field("key", Schema.STRING_SCHEMA)
            .field("bytes", Schema.INT64_SCHEMA)
            .field("limit", Schema.INT64_SCHEMA)
            .build();

    private static final String MAX_BYTES = "max.bytes";
    private static final int SHOWN = 200;  // characters of a key
    private static final int NUMBER = 11;  // bytes of the longest number in Avro, and of its NULL flag

    private long limit;

    @Override
    public void configure(Map<String, ?> configs) {
        limit = Long.parseLong(String.valueOf(configs.get(MAX_BYTES)));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define(MAX_BYTES, ConfigDef.Type.LONG, ConfigDef.Importance.HIGH,
                "The limit of key and row: producer.override.max.request.size without the other parts of a message.");
    }

    @Override
    public R apply(R record) {
        long size = bytes(record.key()) + bytes(record.value());
        if (size <= limit || !(record.value() instanceof Struct value)) {
            return size <= limit ? record : with(record, notice(record, size));
        }
        if (Envelopes.isDelete(value)) {
            return with(record, shortenedDelete(value, size));
        }
        Struct small = withoutBefore(value);
        return size - bytes(value) + bytes(small) <= limit ? with(record, small) : with(record, notice(record, size));
    }

    private static Struct withoutBefore(Struct value) {
        return Envelopes.isEnvelope(value) ? Structs.copy(value, value.schema()).put(Envelopes.BEFORE, null) : value;
    }

    private Struct shortenedDelete(Struct value, long size) {
        if (!Envelopes.isEnvelope(value)) {
            return shortened(value, size);
        }
        Struct before = value.getStruct(Envelopes.BEFORE);
        return Structs.copy(value, value.schema()).put(Envelopes.BEFORE, shortened(before, size));
    }

    private R with(R record, Struct value) {
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                value.schema(), value, record.timestamp(), record.headers());
    }

    private Struct notice(R record, long size) {
        return new Struct(TOO_LARGE).put("key", text(record.key())).put("bytes", size).put("limit", limit);
    }

    /** "id=7, part=a" */
    private static String text(Object key) {
        String text = key instanceof Struct struct
                ? struct.schema().fields().stream().map(field -> field.name() + "=" + shown(struct.get(field)))
                        .collect(Collectors.joining(", "))
                : String.valueOf(key);
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }

    private static String shown(Object value) {
        if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return "\\x" + HexFormat.of().formatHex(bytes);
        }
        return String.valueOf(value);
    }

    /** The row without its largest values, so that it fits. The key is small: an index of PostgreSQL holds it. */
    private Struct shortened(Struct row, long size) {
        Struct small = Structs.copy(row, row.schema());
        List<Field> largestFirst = row.schema().fields().stream()
                .sorted(Comparator.comparingLong((Field field) -> bytes(row.get(field))).reversed()).toList();
        long left = size;
        for (Field field : largestFirst) {
            if (left <= limit) {
                break;
            }
            left -= bytes(row.get(field));
            small.put(field, nothing(field.schema()));
        }
        return small;
    }

    private static Object nothing(Schema schema) {
        if (schema.isOptional()) {
            return null;
        }
        return switch (schema.type()) {
            case STRING -> "";
            case BYTES -> ByteBuffer.allocate(0);
            case ARRAY -> List.of();
            default -> throw new IllegalStateException("a value of type " + schema.type() + " is never large");
        };
    }

    private static long bytes(Object value) {
        if (value instanceof String text) {
            return framed(Utils.utf8Length(text));
        }
        if (value instanceof byte[] bytes) {
            return framed(bytes.length);
        }
        if (value instanceof ByteBuffer buffer) {
            return framed(buffer.remaining());
        }
        if (value instanceof Struct struct) {
            return struct.schema().fields().stream().mapToLong(field -> bytes(struct.get(field))).sum();
        }
        if (value instanceof Collection<?> items) {
            return NUMBER + items.stream().mapToLong(LimitSize::bytes).sum();
        }
        if (value instanceof Map<?, ?> map) {
            return bytes(map.keySet()) + bytes(map.values());
        }
        return value == null ? 1 : NUMBER;
    }

    /** The size of a value with its length and its NULL flag. */
    private static long framed(int length) {
        return 1L + ByteUtils.sizeOfVarint(length) + length;
    }

    @Override
    public void close() {
        // Nothing to release.
    }
}
