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
 * Says what a flat row of a table under REPLICA IDENTITY DEFAULT lacks, in two fields more. Needs no configuration.
 *
 * <ul>
 *   <li>{@code __unavailable}: the names of the columns whose large value did not change, and so is not in the message:
 *       Debezium wrote its placeholder there. {@code *}, all columns but the key, in the delete that the change of a
 *       key begins with. NULL when nothing is lacking.</li>
 *   <li>{@code __moved_from}: the key that the row had before, in the create that the change of a key ends with.</li>
 * </ul>
 *
 * No value can be taken for the placeholder: it contains U+0000, which no text of PostgreSQL does, and as bytes it
 * arrives as a {@code byte[]}, where Debezium wraps every real value in a {@code ByteBuffer}. To run after
 * ExtractNewRecordState, and before NormalizeColumns, which normalizes the key in {@code __moved_from} too.
 */
public class NameUnavailable<R extends ConnectRecord<R>> implements Transformation<R> {

    /** As {@code unavailable.value.placeholder} of the connector. */
    static final String PLACEHOLDER = "lake\u0000unavailable";

    static final String UNAVAILABLE = "__unavailable";
    static final String MOVED_FROM = "__moved_from";
    static final List<String> ALL = List.of("*");

    private static final byte[] PLACEHOLDER_BYTES = PLACEHOLDER.getBytes(StandardCharsets.UTF_8);
    private static final String OLD_KEY = "__debezium.oldkey";
    private static final String NEW_KEY = "__debezium.newkey";

    private final SchemaCache<Schema> widened = new SchemaCache<>();

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
        if (!(record.value() instanceof Struct)) {
            return record;
        }
        Struct row = (Struct) record.value();
        Schema wider = widened.of(row.schema(), schema -> widen(schema, record.keySchema()));
        Struct named = Structs.copy(row, wider);
        named.put(UNAVAILABLE, unavailable(record, row));
        named.put(MOVED_FROM, movedFrom(record, wider.field(MOVED_FROM).schema()));
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                wider, named, record.timestamp(), record.headers());
    }

    private List<String> unavailable(R record, Struct row) {
        if (record.headers().lastWithName(NEW_KEY) != null) {
            return ALL;
        }
        List<String> names = row.schema().fields().stream()
                .filter(field -> isPlaceholder(row.getWithoutDefault(field.name()))).map(Field::name).toList();
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
