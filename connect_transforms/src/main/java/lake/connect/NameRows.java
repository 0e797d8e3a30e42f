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
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Names each row of a table without a key, in the field {@code __row} of the rows of its envelope. Needs a predicate: the
 * topics of such tables. Must run after NameColumns, and before ExtractNewRecordState.
 *
 * <ul>
 *   <li>An inserted row has its place in the log: the LSN, and which of the changes at that LSN it is; COPY writes many
 *       rows at one. Debezium counts them in its offset, so a row that is sent again has the same name.</li>
 *   <li>A row of a snapshot has a number, if the snapshot shows exactly the state from which the log is read. It is not
 *       sent again: after an interruption the snapshot is another one.</li>
 *   <li>Everything else has NULL, which a reader must refuse: an update, a delete, and a row of a snapshot that may also
 *       come in the stream.</li>
 * </ul>
 *
 * With {@code multiset} an update and a delete have their place in the log, too. In addition {@code __content} is the hash
 * of the row that it is in ({@link Contents}), and {@code __was}, in an update, that of the row before it.
 */
public class NameRows<R extends ConnectRecord<R>> implements Transformation<R> {

    static final String ROW = "__row";
    static final String CONTENT = "__content";
    static final String WAS = "__was";

    private static final String MULTISET = "multiset";
    private static final List<String> CHANGES = List.of("c", "u", "d");
    private static final List<String> ROWS = List.of(Envelopes.BEFORE, Envelopes.AFTER);
    private static final String LSN = "lsn";
    private static final String PLACE_AT_LSN = "lsn_events_processed";

    private final SchemaCache<Wider> wider = new SchemaCache<>();
    private final Map<String, Long> read = new HashMap<>();  // rows of snapshots, by topic

    private boolean isMultiset;

    @Override
    public void configure(Map<String, ?> configs) {
        isMultiset = Boolean.parseBoolean(String.valueOf(configs.get(MULTISET)));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define(MULTISET, ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.HIGH,
                "Names updates and deletes, too, and hashes the content of rows.");
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct value) || !Envelopes.isEnvelope(value)) {
            return record;
        }
        Wider schemas = wider.of(value.schema(), schema -> Wider.of(schema, isMultiset));
        Struct named = schemas.copy(value, name(record, value.getString(Envelopes.OPERATION)));
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                schemas.envelope, named, record.timestamp(), record.headers());
    }

    private String name(R record, String operation) {
        if (isPlaced(operation) && record instanceof SourceRecord source) {
            return "%016x-%d".formatted(source.sourceOffset().get(LSN), source.sourceOffset().get(PLACE_AT_LSN));
        }
        Object server = Runs.server(record);
        if (operation.equals("r") && Runs.isExact(server)) {
            return "%d.%d".formatted(Runs.of(server, 0), read.merge(record.topic(), 1L, Long::sum));
        }
        return null;
    }

    private boolean isPlaced(String operation) {
        return isMultiset ? CHANGES.contains(operation) : operation.equals("c");
    }

    @Override
    public void close() {
        wider.clear();
    }

    /** The schemas of an envelope, and of its rows, with the fields. */
    private record Wider(Schema envelope, Schema row, boolean isMultiset) {

        static Wider of(Schema envelope, boolean isMultiset) {
            Schema row = widened(envelope.field(Envelopes.AFTER).schema(), isMultiset);
            SchemaBuilder target = SchemaBuilder.struct().name(envelope.name()).version(envelope.version())
                    .doc(envelope.doc());
            envelope.fields().forEach(field ->
                    target.field(field.name(), ROWS.contains(field.name()) ? row : field.schema()));
            return new Wider(target.build(), row, isMultiset);
        }

        private static Schema widened(Schema row, boolean isMultiset) {
            SchemaBuilder target = Structs.like(row).optional();
            (isMultiset ? List.of(ROW, CONTENT, WAS) : List.of(ROW))
                    .forEach(name -> target.field(name, Schema.OPTIONAL_STRING_SCHEMA));
            return target.build();
        }

        Struct copy(Struct value, String name) {
            Struct target = new Struct(envelope);
            for (Field field : value.schema().fields()) {
                Object part = value.getWithoutDefault(field.name());
                if (part != null) {
                    target.put(field.name(), ROWS.contains(field.name()) ? named((Struct) part, name, value) : part);
                }
            }
            return target;
        }

        private Struct named(Struct given, String name, Struct value) {
            Struct target = Structs.copy(given, row).put(ROW, name);
            return isMultiset ? target.put(CONTENT, Contents.of(given)).put(WAS, was(value)) : target;
        }

        private static String was(Struct value) {
            Struct before = value.getStruct(Envelopes.BEFORE);
            return before == null || Envelopes.isDelete(value) ? null : Contents.of(before);
        }
    }
}
