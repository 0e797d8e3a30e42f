package lake.connect;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.debezium.DebeziumException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SlotPositionTest {
    private static final Map<String, ?> OFFSET = Map.of("lsn", 100L, "lsn_proc", 90L, "ts_usec", 5000L);

    @Test
    void aSlotThatKafkaIsAheadOfLosesNothing() {
        assertDoesNotThrow(() -> new SlotPosition("lake_shop", 80L).refuseGap(OFFSET));
        assertDoesNotThrow(() -> new SlotPosition("lake_shop", 100L).refuseGap(OFFSET));
    }

    @Test
    void nothingIsExpectedBeforeTheFirstRecord() {
        assertDoesNotThrow(() -> new SlotPosition("lake_shop", null).refuseGap(Map.of("ts_usec", 5000L)));
    }

    @Test
    void aSlotThatWasAdvancedIsRefused() {
        var error = assertThrows(DebeziumException.class, () -> new SlotPosition("lake_shop", 101L).refuseGap(OFFSET));
        assertTrue(error.getMessage().contains("lake_shop is ahead of the connector"));
    }

    @Test
    void aSlotThatDoesNotExistIsRefused() {
        var error = assertThrows(DebeziumException.class, () -> new SlotPosition("lake_shop", null).refuseGap(OFFSET));
        assertTrue(error.getMessage().contains("lake_shop does not exist"));
    }
}
