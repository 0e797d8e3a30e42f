package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class NameColumnsTest {

    private static SourceRecord message(String key, String column) {
        Schema keys = SchemaBuilder.struct().name("shop.public.t.Key").field(key, Schema.INT32_SCHEMA).build();
        Schema row = SchemaBuilder.struct().name("shop.public.t.Value").optional()
                .field(key, Schema.INT32_SCHEMA).field(column, Schema.OPTIONAL_STRING_SCHEMA).build();
        Schema envelope = SchemaBuilder.struct().name("shop.public.t.Envelope")
                .field("before", row).field("after", row).field("op", Schema.STRING_SCHEMA).build();
        Struct value = new Struct(envelope).put("op", "u").put("after", new Struct(row).put(key, 7).put(column, "x"));
        Struct keyed = new Struct(keys).put(key, 7);
        SourceRecord record = new SourceRecord(Map.of(), Map.of(), "shop.public.t", null, keys, keyed, envelope, value);
        record.headers().add("__debezium.oldkey", new Struct(keys).put(key, 6), keys);
        return record;
    }

    private static SourceRecord named(SourceRecord record) {
        return new NameColumns<SourceRecord>().apply(record);
    }

    private static List<String> fields(Schema schema) {
        return schema.fields().stream().map(Field::name).toList();
    }

    @Test
    void keyRowsAndFormerKeyHaveTheNamesOfTheLake() {
        SourceRecord found = named(message("userId", "__deleted"));
        Struct row = ((Struct) found.value()).getStruct("after");
        assertEquals(List.of("userid", "source__deleted"), fields(row.schema()));
        assertEquals("x", row.getString("source__deleted"));
        assertNull(((Struct) found.value()).getStruct("before"));
        assertEquals("u", ((Struct) found.value()).getString("op"));
        assertEquals(7, ((Struct) found.key()).getInt32("userid"));
        assertEquals(6, ((Struct) found.headers().lastWithName("__debezium.oldkey").value()).getInt32("userid"));
        assertEquals("shop.public.t.Value", row.schema().name());
        assertEquals(found.valueSchema(), ((Struct) found.value()).schema());
    }

    @Test
    void aPersonChoosesNamesByTopic() {
        NameColumns<SourceRecord> names = new NameColumns<>();
        names.configure(Map.of("named.shop.public.t.user_id", "userId", "named.shop.public.u.comment", "note"));
        SourceRecord found = names.apply(message("userId", "note"));
        assertEquals(List.of("user_id", "note"), fields(((Struct) found.value()).getStruct("after").schema()));
        assertEquals(7, ((Struct) found.key()).getInt32("user_id"));
    }

    @Test
    void plainNamesStay() {
        SourceRecord plain = message("id", "note");
        assertSame(plain, named(plain));
    }

    @Test
    void whatIsNoEnvelopeStays() {
        SourceRecord other = new SourceRecord(Map.of(), Map.of(), "__debezium-heartbeat.shop", null, null, null, null);
        assertSame(other, named(other));
    }
}
