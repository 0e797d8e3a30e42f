package lake.connect;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Sends the envelope of a TRUNCATE, which has no row and no key, to a topic of its own ({@code topic}, for example that
 * of the heartbeats) as a small record {@code lake.Truncated}. Its headers name the table, so that the guardian reads them
 * without a schema (lake/guardian/truncates.py). The topic of a table has rows only. Must run before
 * ExtractNewRecordState, which would drop it.
 */
public class TellTruncates<R extends ConnectRecord<R>> implements Transformation<R> {

    static final String SCHEMA = "lake.truncated.schema";
    static final String TABLE = "lake.truncated.table";

    private static final String TOPIC = "topic";
    private static final Schema TRUNCATED = SchemaBuilder.struct().name("lake.Truncated")
            .field("schema", Schema.STRING_SCHEMA)
            .field("table", Schema.STRING_SCHEMA)
            .build();

    private String topic;

    @Override
    public void configure(Map<String, ?> configs) {
        topic = String.valueOf(configs.get(TOPIC));
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define(TOPIC, ConfigDef.Type.STRING, ConfigDef.Importance.HIGH,
                "The topic that says which tables were truncated.");
    }

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct value) || !Envelopes.isTruncate(value)) {
            return record;
        }
        Struct source = value.getStruct("source");
        Struct told = new Struct(TRUNCATED).put("schema", source.get("schema")).put("table", source.get("table"));
        ConnectHeaders headers = new ConnectHeaders();
        headers.addString(SCHEMA, told.getString("schema")).addString(TABLE, told.getString("table"));
        return record.newRecord(topic, null, null, null, TRUNCATED, told, record.timestamp(), headers);
    }

    @Override
    public void close() {
        // Nothing to release.
    }
}
