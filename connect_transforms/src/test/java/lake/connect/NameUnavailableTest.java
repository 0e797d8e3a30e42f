package lake.connect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class NameUnavailableTest {

    private static final Schema KEY = SchemaBuilder.struct().name("lab.public.big.Key")
            .field("id", Schema.INT32_SCHEMA).build();
    private static final Schema ROW = SchemaBuilder.struct().name("lab.public.big.Value")
            .field("id", Schema.INT32_SCHEMA)
            .field("note", Schema.STRING_SCHEMA)
            .field("photo", Schema.OPTIONAL_BYTES_SCHEMA)
            .field("tags", SchemaBuilder.array(Schema.OPTIONAL_STRING_SCHEMA).optional().build())
            .build();
    private static final byte[] BYTES = NameUnavailable.PLACEHOLDER.getBytes(StandardCharsets.UTF_8);

    private final NameUnavailable<SourceRecord> transform = new NameUnavailable<>();

    private static Struct key(int id) {
        return new Struct(KEY).put("id", id);
    }

    private static Struct row(String note) {
        return new Struct(ROW).put("id", 2).put("note", note);
    }

    private static SourceRecord message(Struct row) {
        return new SourceRecord(Map.of(), Map.of(), "lab.public.big", KEY, key(2), ROW, row);
    }

    private Struct named(SourceRecord message) {
        return (Struct) transform.apply(message).value();
    }

    @Test
    void namesEachShapeOfThePlaceholder() {
        Struct row = row(NameUnavailable.PLACEHOLDER).put("photo", BYTES)
                .put("tags", List.of(NameUnavailable.PLACEHOLDER));
        assertEquals(List.of("note", "photo", "tags"), named(message(row)).getArray(NameUnavailable.UNAVAILABLE));
    }

    @Test
    void leavesAWholeRowOfATableUnderFullAsItIs() {
        transform.configure(Map.of("only.missing", "true"));
        SourceRecord whole = message(row("a"));
        assertSame(whole, transform.apply(whole));
        assertEquals(List.of("note"),
                named(message(row(NameUnavailable.PLACEHOLDER))).getArray(NameUnavailable.UNAVAILABLE));
    }

    @Test
    void takesNoRealValueForIt() {
        Struct row = row("lake unavailable").put("photo", ByteBuffer.wrap(BYTES)).put("tags", List.of("a", "b"));
        Struct named = named(message(row));
        assertNull(named.get(NameUnavailable.UNAVAILABLE));
        assertNull(named.get(NameUnavailable.MOVED_FROM));
        assertArrayEquals(BYTES, named.getBytes("photo"));
    }

    @Test
    void aCompleteRowKeepsItsValuesAndItsNulls() {
        Struct named = named(message(row("a")));
        assertEquals("a", named.get("note"));
        assertNull(named.get("photo"));
        named.validate();
    }

    @Test
    void aChangedKeyLeavesNothingButItselfInItsDelete() {
        SourceRecord delete = message(new Struct(ROW).put("id", 1));
        delete.headers().add("__debezium.newkey", key(2), KEY);
        assertEquals(List.of("*"), named(delete).getArray(NameUnavailable.UNAVAILABLE));
    }

    @Test
    void aChangedKeyNamesTheOldOneInItsCreate() {
        SourceRecord create = message(row("a"));
        create.headers().add("__debezium.oldkey", key(1), KEY);
        Struct old = named(create).getStruct(NameUnavailable.MOVED_FROM);
        assertEquals(1, old.get("id"));
        assertEquals("lab.public.big.Key", old.schema().name());
        assertTrue(old.schema().isOptional());
    }

    @Test
    void anEnvelopeNamesTheMissingValuesOfItsRow() {
        Schema half = SchemaBuilder.struct().name("lab.public.big.Value").optional()
                .field("id", Schema.INT32_SCHEMA).field("note", Schema.OPTIONAL_STRING_SCHEMA).build();
        Schema envelope = SchemaBuilder.struct().name("lab.public.big.Envelope")
                .field("before", half).field("after", half).field("op", Schema.STRING_SCHEMA).build();
        Struct after = new Struct(half).put("id", 2).put("note", NameUnavailable.PLACEHOLDER);
        Struct update = new Struct(envelope).put("op", "u").put("after", after);
        Struct named = named(new SourceRecord(Map.of(), Map.of(), "t", KEY, key(2), envelope, update));
        assertEquals(List.of("note"), named.getArray(NameUnavailable.UNAVAILABLE));
        assertEquals(after, named.getStruct("after"));
        Struct delete = new Struct(envelope).put("op", "d").put("before", new Struct(half).put("id", 2));
        assertNull(named(new SourceRecord(Map.of(), Map.of(), "t", KEY, key(2), envelope, delete))
                .get(NameUnavailable.UNAVAILABLE));
    }

    @Test
    void oneSchemaObjectForOneTableVersion() {
        Schema first = transform.apply(message(row("a"))).valueSchema();
        assertSame(first, transform.apply(message(row("b"))).valueSchema());
    }

    @Test
    void passesWhatIsNoRow() {
        SourceRecord tombstone = new SourceRecord(Map.of(), Map.of(), "lab.public.big", KEY, key(2), null, null);
        assertSame(tombstone, transform.apply(tombstone));
    }

    @Test
    void debeziumsMarkersAreBareObjects() {
        assertTrue(ExactColumns.isUnchangedLargeValue(new Object()));
        assertEquals(false, ExactColumns.isUnchangedLargeValue("{a}"));
    }
}
