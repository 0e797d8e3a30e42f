package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class NameRunTest {

    private static final Schema ROW = SchemaBuilder.struct().name("lab.public.t.Value")
            .field("id", Schema.INT32_SCHEMA)
            .field("note", Schema.STRING_SCHEMA)
            .field("__op", Schema.OPTIONAL_STRING_SCHEMA)
            .build();

    private static NameRun<SourceRecord> begun() {
        NameRun<SourceRecord> transform = new NameRun<>();
        transform.configure(Map.of());
        return transform;
    }

    private static SourceRecord message(Struct value) {
        return new SourceRecord(Map.of(), Map.of(), "lab.public.t", null, null, value.schema(), value);
    }

    private static Struct named(NameRun<SourceRecord> transform, Struct row) {
        return (Struct) transform.apply(message(row)).value();
    }

    @Test
    void aRowSaysWhenItsRunBegan() {
        long before = System.currentTimeMillis();
        NameRun<SourceRecord> transform = begun();
        long after = System.currentTimeMillis();
        long run = named(transform, new Struct(ROW).put("id", 1).put("note", "a")).getInt64(NameRun.RUN);
        assertTrue(before <= run && run <= after);
        assertEquals(run, named(transform, new Struct(ROW).put("id", 2).put("note", "b")).getInt64(NameRun.RUN));
    }

    @Test
    void anEnvelopeSaysItToo() {
        Schema envelope = SchemaBuilder.struct().name("lab.public.t.Envelope").field("op", Schema.STRING_SCHEMA).build();
        Struct named = named(begun(), new Struct(envelope).put("op", "c"));
        assertTrue(named.getInt64(NameRun.RUN) > 0);
        assertEquals("lab.public.t.Envelope", named.schema().name());
    }

    @Test
    void aStartWithinTheTaskIsARunOfItsOwn() {
        NameRun<SourceRecord> transform = begun();
        for (long[] clockAndRun : new long[][] {{5, 5}, {5, 6}, {3, 7}, {90, 90}}) {
            Runs.begin("one", clockAndRun[0], false);
            assertEquals(clockAndRun[1], run(transform, "one"));
        }
        assertTrue(run(transform, "other") > 90); // by this worker's own clock
    }

    private static long run(NameRun<SourceRecord> transform, String server) {
        Struct row = new Struct(ROW).put("id", 1).put("note", "a");
        SourceRecord record = new SourceRecord(Map.of("server", server), Map.of(), "lab.public.t", ROW, row);
        return ((Struct) transform.apply(record).value()).getInt64(NameRun.RUN);
    }

    @Test
    void theRowKeepsWhatItHas() {
        Struct named = named(begun(), new Struct(ROW).put("id", 1).put("__op", "d")); // a delete: note is unset
        assertEquals(1, named.get("id"));
        assertEquals("d", named.get("__op"));
        assertNull(named.getWithoutDefault("note"));
        assertEquals("lab.public.t.Value", named.schema().name());
    }

    @Test
    void rowsOfOneSchemaShareTheWiderOne() {
        NameRun<SourceRecord> transform = begun();
        Struct first = named(transform, new Struct(ROW).put("id", 1).put("note", "a"));
        assertSame(first.schema(), named(transform, new Struct(ROW).put("id", 2).put("note", "b")).schema());
    }

    @Test
    void whatIsNoRowPassesAsItCame() {
        Schema heartbeat = SchemaBuilder.struct().name("io.debezium.connector.common.Heartbeat")
                .field("ts_ms", Schema.INT64_SCHEMA).build();
        SourceRecord message = message(new Struct(heartbeat).put("ts_ms", 1L));
        assertSame(message, begun().apply(message));
        SourceRecord empty = new SourceRecord(Map.of(), Map.of(), "t", null, null, null, null);
        assertSame(empty, begun().apply(empty));
    }
}
