package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class LimitSizeTest {
    private static final Schema KEY = SchemaBuilder.struct()
            .field("id", Schema.INT32_SCHEMA).field("part", Schema.BYTES_SCHEMA).build();
    private static final Schema ROW = SchemaBuilder.struct()
            .field("id", Schema.INT32_SCHEMA)
            .field("t", Schema.OPTIONAL_STRING_SCHEMA)
            .field("note", Schema.STRING_SCHEMA)
            .field("b", Schema.OPTIONAL_BYTES_SCHEMA)
            .field("a", SchemaBuilder.array(Schema.OPTIONAL_STRING_SCHEMA).optional().build())
            .field("__deleted", Schema.STRING_SCHEMA)
            .build();
    private static final int FRAME = 11 + 3 + 11 + 1 + 2 + 1 + 1 + 7; // of key and row without values
    private static final int LIMIT = 200;

    private final LimitSize<SourceRecord> limit = new LimitSize<>();

    LimitSizeTest() {
        limit.configure(Map.of("max.bytes", String.valueOf(LIMIT)));
    }

    private static Struct row(String text, byte[] bytes, List<String> items) {
        return new Struct(ROW).put("id", 7).put("t", text).put("note", "").put("__deleted", "false")
                .put("b", bytes == null ? null : ByteBuffer.wrap(bytes)).put("a", items);
    }

    private static SourceRecord record(Struct row) {
        var key = new Struct(KEY).put("id", 7).put("part", ByteBuffer.wrap(new byte[] {(byte) 0xff}));
        return new SourceRecord(Map.of(), Map.of(), "shop.public.t", KEY, key, row == null ? null : ROW, row);
    }

    private boolean fits(Struct row) {
        var sent = record(row);
        return limit.apply(sent) == sent;
    }

    @Test
    void whatFitsPassesAsItCame() {
        int most = LIMIT - FRAME - 2; // the length of the text takes two bytes from 64 on
        assertEquals(List.of(true, false), List.of(fits(row("x".repeat(most), null, null)),
                fits(row("x".repeat(most + 1), null, null))));
        assertEquals(List.of(true, false), List.of(fits(row("é".repeat(most / 2), null, null)),
                fits(row("é".repeat(most / 2 + 1), null, null))));
        assertEquals(List.of(true, false), List.of(fits(row(null, new byte[most], null)),
                fits(row(null, new byte[most + 1], null))));
        assertEquals(true, fits(null));
    }

    @Test
    void theItemsOfAnArrayCountWithTheirFrames() {
        int most = (LIMIT - FRAME - 10) / 3;
        assertEquals(List.of(true, false), List.of(fits(row(null, null, Collections.nCopies(most, "1"))),
                fits(row(null, null, Collections.nCopies(most + 1, "1")))));
        assertEquals(true, fits(row(null, null, Collections.nCopies(most * 2, null))));
    }

    @Test
    void whatDoesNotIsNamedByKeyAndSizeUnderTheKeyOfTheRow() {
        var great = record(row("x".repeat(LIMIT), null, null));
        var sent = limit.apply(great);
        assertSame(great.key(), sent.key());
        assertSame(LimitSize.TOO_LARGE, sent.valueSchema());
        assertEquals(new Struct(LimitSize.TOO_LARGE).put("key", "id=7, part=\\xff").put("bytes", FRAME + LIMIT + 2L)
                .put("limit", (long) LIMIT), sent.value());
    }

    @Test
    void aLongKeyIsShownInPart() {
        var key = "k".repeat(300);
        var sent = limit.apply(new SourceRecord(Map.of(), Map.of(), "t", Schema.STRING_SCHEMA, key, ROW, row(null, null, null)));
        assertEquals("k".repeat(200) + "...", ((Struct) sent.value()).get("key"));
    }

    private static final Schema ENVELOPE = SchemaBuilder.struct().name("shop.public.t.Envelope")
            .field("before", SchemaBuilder.struct().name("shop.public.t.Value").optional()
                    .field("id", Schema.INT32_SCHEMA).field("t", Schema.OPTIONAL_STRING_SCHEMA).build())
            .field("after", SchemaBuilder.struct().name("shop.public.t.Value").optional()
                    .field("id", Schema.INT32_SCHEMA).field("t", Schema.OPTIONAL_STRING_SCHEMA).build())
            .field("op", Schema.STRING_SCHEMA)
            .build();

    private static Struct half(String side, String text) {
        return new Struct(ENVELOPE.field(side).schema()).put("id", 7).put("t", text);
    }

    private Struct sent(Struct envelope) {
        var key = new Struct(KEY).put("id", 7).put("part", ByteBuffer.wrap(new byte[0]));
        return (Struct) limit.apply(new SourceRecord(Map.of(), Map.of(), "t", KEY, key, ENVELOPE, envelope)).value();
    }

    @Test
    void anEnvelopeIsSentLessTheRowBeforeTheChange() {
        var update = new Struct(ENVELOPE).put("op", "u").put("before", half("before", "b".repeat(100)));
        var sent = sent(update.put("after", half("after", "a".repeat(90))));
        assertNull(sent.get("before"));
        assertEquals("a".repeat(90), sent.getStruct("after").get("t"));
        assertSame(LimitSize.TOO_LARGE, sent(update.put("after", half("after", "a".repeat(300)))).schema());
    }

    @Test
    void anEnvelopeOfADeleteIsSentLessTheLargestValues() {
        var sent = sent(new Struct(ENVELOPE).put("op", "d").put("before", half("before", "b".repeat(300))));
        assertEquals(7, sent.getStruct("before").get("id"));
        assertNull(sent.getStruct("before").get("t"));
    }

    @Test
    void aDeleteIsSentLessTheLargestValues() {
        var deleted = row("x".repeat(150), new byte[40], List.of("kept")).put("__deleted", "true").put("note", "n".repeat(300));
        var sent = (Struct) limit.apply(record(deleted)).value();
        assertSame(ROW, sent.schema());
        assertEquals(List.of(7, "", List.of("kept"), "true"),
                List.of(sent.get("id"), sent.get("note"), sent.get("a"), sent.get("__deleted")));
        assertNull(sent.get("t"));
        assertEquals(40, ((ByteBuffer) sent.get("b")).remaining());
    }
}
