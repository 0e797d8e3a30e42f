package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class LimitSizeTest {
    private static final Schema KEY = SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();
    private static final Schema ROW = SchemaBuilder.struct()
            .field("id", Schema.INT32_SCHEMA)
            .field("t", Schema.OPTIONAL_STRING_SCHEMA)
            .field("b", Schema.OPTIONAL_BYTES_SCHEMA)
            .field("a", SchemaBuilder.array(Schema.STRING_SCHEMA).optional().build())
            .build();

    private final LimitSize<SourceRecord> limit = new LimitSize<>();

    LimitSizeTest() {
        limit.configure(Map.of("max.bytes", "10"));
    }

    private static SourceRecord record(String text, byte[] bytes, List<String> items) {
        var row = new Struct(ROW).put("id", 7).put("t", text).put("b", bytes == null ? null : ByteBuffer.wrap(bytes));
        return new SourceRecord(Map.of(), Map.of(), "shop.public.t", KEY, new Struct(KEY).put("id", 7), ROW,
                row.put("a", items));
    }

    @Test
    void whatFitsPassesAsItCame() {
        for (var fits : List.of(record("1234567890", null, null), record("ééééé", null, null), record("😀😀", null, null),
                record("12", new byte[4], List.of("12", "34")), record(null, null, null))) {
            assertSame(fits, limit.apply(fits));
        }
        var tombstone = new SourceRecord(Map.of(), Map.of(), "shop.public.t", KEY, null, null, null);
        assertSame(tombstone, limit.apply(tombstone));
    }

    @Test
    void whatDoesNotIsNamedByTableAndKey() {
        for (var great : List.of(record("12345678901", null, null), record("éééééé", null, null),
                record("12", new byte[9], null), record(null, null, List.of("123456", "78901")))) {
            assertThrows(DataException.class, () -> limit.apply(great));
        }
        var error = assertThrows(DataException.class, () -> limit.apply(record("12345678901", null, null)));
        assertEquals("shop.public.t: the row with key Struct{id=7} has 11 bytes, and a message at most 10: make it "
                + "smaller in PostgreSQL, or raise the limit of the topic and of the connector", error.getMessage());
    }
}
