package lake.connect;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Names the missing values of a row under REPLICA IDENTITY DEFAULT, in two new fields of the flat row or of the
 * envelope. With {@code only.missing} a row that lacks nothing stays as it is: that is for tables under FULL, whose
 * identity somebody may change meanwhile.
 *
 * <ul>
 *   <li>{@code __unavailable}: the names of the columns whose large value did not change and is not in the message:
 *       Debezium wrote its placeholder there. {@code *} means all columns except the key; the delete that begins a
 *       change of a key has it. NULL if no value is missing.</li>
 *   <li>{@code __moved_from}: the former key of the row, in the create that ends a change of a key.</li>
 * </ul>
 *
 * No real value equals the placeholder: it contains U+0000, which no text of PostgreSQL does, and as bytes it
 * arrives as a {@code byte[]}, while Debezium wraps every real value in a {@code ByteBuffer}. Must run after
 * ExtractNewRecordState, if there is one, and before NormalizeColumns, which normalizes the key in {@code __moved_from} too.
 */
public class NameUnavailable<R extends ConnectRecord<R>> implements Transformation<R> {

    /** The same as {@code unavailable.value.placeholder} of the connector. */
    static final String PLACEHOLDER = "lake\u0000unavailable";

    static final String UNAVAILABLE = "__unavailable";
    static final String MOVED_FROM = "__moved_from";
    static final List<String> ALL = List.of("*");

    private static final byte[] PLACEHOLDER_BYTES = PLACEHOLDER.getBytes(StandardCharsets.UTF_8);
    private static final String OLD_KEY = "__debezium.oldkey";
    private static final String NEW_KEY = "__debezium.newkey";

    private static final String ONLY_MISSING = "only.missing";

    private final SchemaCache<Schema> widened = new SchemaCache<>();

    private boolean onlyMissing;

    @Override
    public void configure(Map<String, ?> configs) {
        onlyMissing = Boolean.parseBoolean(String.valueOf(configs.get(ONLY_MISSING)));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define(ONLY_MISSING, ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.HIGH,
                "Leaves a row that lacks nothing as it is.");
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct)) {
            return record;
        }
        Struct row = (Struct) record.value();
        if (onlyMissing && (record.keySchema() == null || missing(row) == null)) {
            return record;
        }
        Schema wider = widened.of(row.schema(), schema -> widen(schema, record.keySchema()));
        Struct named = Structs.copy(row, wider);
        named.put(UNAVAILABLE, unavailable(record, row));
        named.put(MOVED_FROM, movedFrom(record, wider.field(MOVED_FROM).schema()));
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                wider, named, record.timestamp(), record.headers());
    }

    private List<String> unavailable(R record, Struct row) {
        return record.headers().lastWithName(NEW_KEY) != null ? ALL : missing(row);
    }

    private static List<String> missing(Struct row) {
        Struct found = Envelopes.row(row);
        if (found == null) {
            return null;
        }
        List<String> names = found.schema().fields().stream()
                .filter(field -> isPlaceholder(found.getWithoutDefault(field.name()))).map(Field::name).toList();
        return names.isEmpty() ? null : names;
    }

    static boolean isPlaceholder(Object value) {
        if (value instanceof List) {
            List<?> items = (List<?>) value;
            return items.size() == 1 && PLACEHOLDER.equals(items.get(0));
        }
        return PLACEHOLDER.equals(value)
                || value instanceof byte[] && Arrays.equals(PLACEHOLDER_BYTES, (byte[]) value);
    }

    private Struct movedFrom(R record, Schema schema) {
        Header key = record.headers().lastWithName(OLD_KEY);
        return key == null ? null : Structs.copy((Struct) key.value(), schema);
    }

    private static Schema widen(Schema value, Schema key) {
        SchemaBuilder target = Structs.like(value);
        target.field(UNAVAILABLE, SchemaBuilder.array(Schema.STRING_SCHEMA).optional().build());
        SchemaBuilder moved = SchemaBuilder.struct().name(key.name()).optional();
        key.fields().forEach(field -> moved.field(field.name(), field.schema()));
        return target.field(MOVED_FROM, moved.build()).build();
    }

    @Override
    public void close() {
        widened.clear();
    }
}
