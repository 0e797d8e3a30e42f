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
