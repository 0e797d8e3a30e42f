package lake.connect;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Gives the columns of an envelope, and of its key, the names that they have in the lake ({@link Names}): any name of
 * PostgreSQL becomes one that Avro and Hive accept, and that the pipeline does not give to columns of its own. Must run
 * before ExtractNewRecordState, which adds such columns.
 *
 * <p>{@code named.<topic>.<name in the lake>}: the column that a person gave this name; all others get theirs by the rule.
 *
 * <p>Records whose columns have these names already are returned as they are.
 */
public class NameColumns<R extends ConnectRecord<R>> implements Transformation<R> {

    private static final List<String> ROWS = List.of(Envelopes.BEFORE, Envelopes.AFTER);
    private static final List<String> KEYS = List.of("__debezium.oldkey", "__debezium.newkey");  // headers

    private static final String CHOSEN = "named.";

    private final SchemaCache<Named> named = new SchemaCache<>();
    private final Map<String, Map<String, String>> chosen = new HashMap<>();  // by topic and column

    @Override
    public void configure(Map<String, ?> configs) {
        configs.forEach((key, column) -> {
            if (key.startsWith(CHOSEN)) {
                int end = key.lastIndexOf('.');
                chosen.computeIfAbsent(key.substring(CHOSEN.length(), end), topic -> new HashMap<>())
                        .put(column.toString(), key.substring(end + 1));
            }
        });
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct value) || !Envelopes.isEnvelope(value)) {
            return record;
        }
        Named names = named.of(value.schema(), schema -> Named.of(schema, record.keySchema(),
                chosen.getOrDefault(record.topic(), Map.of())));
        if (!names.changes()) {
            return record;
        }
        Struct envelope = new Struct(names.envelope);
        for (Field field : value.schema().fields()) {
            Object part = value.getWithoutDefault(field.name());
            if (part != null) {
                envelope.put(field.name(), ROWS.contains(field.name()) ? names.row((Struct) part) : part);
            }
        }
        Object key = record.key() instanceof Struct struct ? names.key(struct) : record.key();
        return record.newRecord(record.topic(), record.kafkaPartition(), names.key == null ? record.keySchema() : names.key,
                key, envelope.schema(), envelope, record.timestamp(), headers(record.headers(), names));
    }

    private static Headers headers(Headers given, Named names) {
        Headers found = new ConnectHeaders();
        for (Header one : given) {
            if (KEYS.contains(one.key()) && one.value() instanceof Struct key) {
                found.add(one.key(), names.key(key), names.key);
            } else {
                found.add(one);
            }
        }
        return found;
    }

    @Override
    public void close() {
        named.clear();
    }

    /** The schemas of an envelope with the names of the lake; key: null if its messages have no key. */
    private record Named(Map<String, String> columns, Schema envelope, Schema row, Schema key) {

        static Named of(Schema envelope, Schema key, Map<String, String> chosen) {
            List<String> ofKey = key == null ? List.of() : names(key);
            Map<String, String> columns =
                    Names.storedColumns(names(envelope.field(Envelopes.AFTER).schema()), ofKey, chosen);
            Map<Schema, Schema> rows = new HashMap<>();
            SchemaBuilder target = SchemaBuilder.struct().name(envelope.name()).version(envelope.version())
                    .doc(envelope.doc());
            for (Field field : envelope.fields()) {
                boolean isRow = ROWS.contains(field.name());
                target.field(field.name(), isRow
                        ? rows.computeIfAbsent(field.schema(), one -> renamed(one, columns))
                        : field.schema());
            }
            Schema built = target.build();
            return new Named(columns, built, built.field(Envelopes.AFTER).schema(),
                    key == null ? null : renamed(key, columns));
        }

        boolean changes() {
            return columns.entrySet().stream().anyMatch(one -> !one.getKey().equals(one.getValue()));
        }

        Struct row(Struct given) {
            return copied(given, row);
        }

        Struct key(Struct given) {
            return copied(given, key);
        }

        /** Fields keep their order. Unset stays unset: put refuses NULL in a required field. */
        private static Struct copied(Struct given, Schema schema) {
            Struct target = new Struct(schema);
            for (Field field : given.schema().fields()) {
                Object value = given.getWithoutDefault(field.name());
                if (value != null) {
                    target.put(schema.fields().get(field.index()), value);
                }
            }
            return target;
        }

        private static List<String> names(Schema schema) {
            return schema.fields().stream().map(Field::name).toList();
        }

        private static Schema renamed(Schema schema, Map<String, String> columns) {
            SchemaBuilder target = SchemaBuilder.struct().name(schema.name()).version(schema.version())
                    .doc(schema.doc());
            if (schema.isOptional()) {
                target.optional();
            }
            schema.fields().forEach(field -> target.field(columns.get(field.name()), field.schema()));
            return target.build();
        }
    }
}
