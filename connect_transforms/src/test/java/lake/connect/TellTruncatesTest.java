package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class TellTruncatesTest {

    private static final String TOPIC = "__debezium-heartbeat.shop";
    private static final Schema SOURCE = SchemaBuilder.struct()
            .field("schema", Schema.STRING_SCHEMA).field("table", Schema.STRING_SCHEMA).build();
    private static final Schema ENVELOPE = SchemaBuilder.struct().name("shop.public.t.Envelope")
            .field("source", SOURCE).field("op", Schema.STRING_SCHEMA).build();

    private final TellTruncates<SourceRecord> transform = new TellTruncates<>();

    TellTruncatesTest() {
        transform.configure(Map.of("topic", TOPIC));
    }

    private SourceRecord sent(String operation) {
        Struct source = new Struct(SOURCE).put("schema", "Sales 1").put("table", "größe");
        Struct value = new Struct(ENVELOPE).put("op", operation).put("source", source);
        return new SourceRecord(Map.of("server", "shop"), Map.of("lsn", 7L), "shop.public.t", null, null, ENVELOPE, value);
    }

    @Test
    void aTruncateIsToldInTheOtherTopicByItsHeaders() {
        SourceRecord told = transform.apply(sent("t"));
        assertEquals(TOPIC, told.topic());
        assertNull(told.key());
        assertEquals("Sales 1", told.headers().lastWithName(TellTruncates.SCHEMA).value());
        assertEquals("größe", told.headers().lastWithName(TellTruncates.TABLE).value());
        assertEquals(Map.of("lsn", 7L), told.sourceOffset());
    }

    @Test
    void everythingElseIsLeftAsItIs() {
        for (SourceRecord record : new SourceRecord[] {
            sent("d"), new SourceRecord(Map.of(), Map.of(), TOPIC, null, null, null, null)}) {
            assertSame(record, transform.apply(record));
        }
    }
}
