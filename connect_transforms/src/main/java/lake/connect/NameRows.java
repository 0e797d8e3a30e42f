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
 * Names each row of a table without a key, in the field {@code __row} of the rows of its envelope. Needs no configuration,
 * but a predicate: the topics of such tables. Must run after NameColumns, and before ExtractNewRecordState.
 *
 * <ul>
 *   <li>An inserted row has its place in the log: the LSN, and which of the changes at that LSN it is; COPY writes many
 *       rows at one. Debezium counts them in its offset, so a row that is sent again has the same name.</li>
 *   <li>A row of a snapshot has a number, if the snapshot shows exactly the state from which the log is read. It is not
 *       sent again: after an interruption the snapshot is another one.</li>
 *   <li>Everything else has NULL, which a reader must refuse: an update, a delete, and a row of a snapshot that may also
 *       come in the stream.</li>
 * </ul>
 */
public class NameRows<R extends ConnectRecord<R>> implements Transformation<R> {

    static final String ROW = "__row";

    private static final List<String> ROWS = List.of(Envelopes.BEFORE, Envelopes.AFTER);
    private static final String LSN = "lsn";
    private static final String PLACE_AT_LSN = "lsn_events_processed";

    private final SchemaCache<Wider> wider = new SchemaCache<>();
    private final Map<String, Long> read = new HashMap<>();  // rows of snapshots, by topic

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
        if (!(record.value() instanceof Struct value) || !Envelopes.isEnvelope(value)) {
            return record;
        }
        Wider schemas = wider.of(value.schema(), Wider::of);
        Struct named = schemas.copy(value, name(record, value.getString(Envelopes.OPERATION)));
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                schemas.envelope, named, record.timestamp(), record.headers());
    }

    private String name(R record, String operation) {
        if (operation.equals("c") && record instanceof SourceRecord source) {
            return "%016x-%d".formatted(source.sourceOffset().get(LSN), source.sourceOffset().get(PLACE_AT_LSN));
        }
        Object server = Runs.server(record);
        if (operation.equals("r") && Runs.isExact(server)) {
            return "%d.%d".formatted(Runs.of(server, 0), read.merge(record.topic(), 1L, Long::sum));
        }
        return null;
    }

    @Override
    public void close() {
        wider.clear();
    }

    /** The schemas of an envelope, and of its rows, with the field. */
    private record Wider(Schema envelope, Schema row) {

        static Wider of(Schema envelope) {
            Schema row = widened(envelope.field(Envelopes.AFTER).schema());
            SchemaBuilder target = SchemaBuilder.struct().name(envelope.name()).version(envelope.version())
                    .doc(envelope.doc());
            envelope.fields().forEach(field ->
                    target.field(field.name(), ROWS.contains(field.name()) ? row : field.schema()));
            return new Wider(target.build(), row);
        }

        private static Schema widened(Schema row) {
            return Structs.like(row).optional().field(ROW, Schema.OPTIONAL_STRING_SCHEMA).build();
        }

        Struct copy(Struct value, String name) {
            Struct target = new Struct(envelope);
            for (Field field : value.schema().fields()) {
                Object part = value.getWithoutDefault(field.name());
                if (part != null) {
                    target.put(field.name(), ROWS.contains(field.name()) ? named((Struct) part, name) : part);
                }
            }
            return target;
        }

        private Struct named(Struct given, String name) {
            return Structs.copy(given, row).put(ROW, name);
        }
    }
}
