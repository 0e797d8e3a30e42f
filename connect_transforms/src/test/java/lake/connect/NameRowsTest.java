package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class NameRowsTest {

    private static final Schema LINE = SchemaBuilder.struct().name("shop.public.log.Value").optional()
            .field("line", Schema.OPTIONAL_STRING_SCHEMA).build();
    private static final Schema ENVELOPE = SchemaBuilder.struct().name("shop.public.log.Envelope")
            .field("before", LINE).field("after", LINE).field("op", Schema.STRING_SCHEMA).build();

    private final NameRows<SourceRecord> transform = new NameRows<>();

    private static SourceRecord message(String operation, Map<String, ?> offset, Schema key) {
        String part = operation.equals("d") ? "before" : "after";
        Struct value = new Struct(ENVELOPE).put("op", operation).put(part, new Struct(LINE).put("line", "x"));
        Struct keyed = key == null ? null : new Struct(key);
        return new SourceRecord(Map.of("server", "shop"), offset, "shop.public.log", null, key, keyed, ENVELOPE, value);
    }

    private Struct row(String operation, Map<String, ?> offset) {
        SourceRecord found = transform.apply(message(operation, offset, null));
        assertEquals(found.valueSchema(), ((Struct) found.value()).schema());
        return Envelopes.row((Struct) found.value());
    }

    private String name(String operation, Map<String, ?> offset) {
        return row(operation, offset).getString(NameRows.ROW);
    }

    @Test
    void anInsertedRowHasItsPlaceInTheLog() {
        String first = name("c", Map.of("lsn", 255L, "lsn_events_processed", 1L));
        assertEquals("00000000000000ff-1", first);
        assertEquals(first, name("c", Map.of("lsn", 255L, "lsn_events_processed", 1L))); // it is sent again
    }

    @Test
    void rowsOfOneLsnAreToldApart() {
        assertNotEquals(name("c", Map.of("lsn", 255L, "lsn_events_processed", 1L)),
                name("c", Map.of("lsn", 255L, "lsn_events_processed", 2L)));
    }

    @Test
    void rowsOfAnExactSnapshotAreNumbered() {
        Runs.begin("shop", 1000, true);
        String first = name("r", Map.of());
        assertEquals(Runs.of("shop", 0) + ".1", first);
        assertEquals(Runs.of("shop", 0) + ".2", name("r", Map.of()));
    }

    @Test
    void aSnapshotThatTheStreamMayRepeatNamesNoRow() {
        Runs.begin("shop", 1000, true);
        Runs.begin("shop", 2000, false);
        assertNull(name("r", Map.of()));
    }

    @Test
    void updatesAndDeletesNameNoRow() {
        assertNull(name("u", Map.of("lsn", 255L, "lsn_events_processed", 1L)));
        assertNull(name("d", Map.of("lsn", 255L, "lsn_events_processed", 1L)));
    }

    private static Struct multiset(String operation, String before, String after) {
        NameRows<SourceRecord> copies = new NameRows<>();
        copies.configure(Map.of("multiset", "true"));
        Struct value = new Struct(ENVELOPE).put("op", operation).put("before", line(before)).put("after", line(after));
        Map<String, ?> offset = Map.of("lsn", 255L, "lsn_events_processed", 2L);
        SourceRecord found = copies.apply(new SourceRecord(Map.of(), offset, "shop.public.log", ENVELOPE, value));
        assertEquals(found.valueSchema(), ((Struct) found.value()).schema());
        return Envelopes.row((Struct) found.value());
    }

    private static Struct line(String text) {
        return text == null ? null : new Struct(LINE).put("line", text);
    }

    @Test
    void inAMultisetChangesHaveTheirPlaceInTheLog() {
        assertEquals("00000000000000ff-2", multiset("u", "x", "y").getString(NameRows.ROW));
        assertEquals("00000000000000ff-2", multiset("d", "x", null).getString(NameRows.ROW));
        assertEquals("00000000000000ff-2", multiset("c", null, "x").getString(NameRows.ROW));
    }

    @Test
    void whatAnUpdateOrADeleteEndsHasTheContentOfWhatWasInserted() {
        String inserted = multiset("c", null, "x").getString(NameRows.CONTENT);
        assertEquals(inserted, multiset("u", "x", "y").getString(NameRows.WAS));
        assertEquals(inserted, multiset("d", "x", null).getString(NameRows.CONTENT));
        assertNotEquals(inserted, multiset("u", "x", "y").getString(NameRows.CONTENT));
    }

    @Test
    void onlyAnUpdateSaysWhatTheRowWas() {
        assertNull(multiset("c", null, "x").getString(NameRows.WAS));
        assertNull(multiset("d", "x", null).getString(NameRows.WAS));
        assertNull(multiset("d", "x", null).getString(NameRows.WAS));
        assertNull(multiset("u", null, "y").getString(NameRows.WAS)); // somebody has taken the identity FULL away
    }

    @Test
    void rowsThatAreOnlyAddedHaveNoContent() {
        assertNull(row("c", Map.of("lsn", 255L, "lsn_events_processed", 1L)).schema().field(NameRows.CONTENT));
    }

    @Test
    void theRowKeepsItsValues() {
        Struct found = row("c", Map.of("lsn", 255L, "lsn_events_processed", 1L));
        assertEquals("x", found.getString("line"));
        assertEquals("shop.public.log.Value", found.schema().name());
    }

    @Test
    void aTableThatGotAKeyNamesItsRowsAsBefore() {
        Schema key = SchemaBuilder.struct().name("shop.public.log.Key").build();
        SourceRecord found = transform.apply(message("c", Map.of("lsn", 255L, "lsn_events_processed", 1L), key));
        assertEquals("00000000000000ff-1", Envelopes.row((Struct) found.value()).getString(NameRows.ROW));
        assertSame(key, found.keySchema());
    }

    @Test
    void whatIsNoRowStays() {
        SourceRecord other = new SourceRecord(Map.of(), Map.of(), "__debezium-heartbeat.shop", null, null, null, null);
        assertSame(other, transform.apply(other));
    }
}
