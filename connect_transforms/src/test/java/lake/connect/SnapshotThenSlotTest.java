package lake.connect;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.debezium.spi.snapshot.Snapshotter;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class SnapshotThenSlotTest {
    private final SnapshotThenSlot snapshotter = new SnapshotThenSlot();

    @Test
    void theFirstStartTakesASnapshotAndStreamsFromTheSlot() {
        assertTrue(snapshotter.shouldSnapshotData(false, false));
        assertFalse(snapshotter.shouldStreamEventsStartingFromSnapshot());
    }

    @Test
    void anInterruptedSnapshotIsTakenAgainAndNothingOfTheLogIsLeftOut() {
        assertTrue(snapshotter.shouldSnapshotData(true, true));
        assertFalse(snapshotter.shouldStreamEventsStartingFromSnapshot());
    }

    @Test
    void afterACompleteSnapshotStreamingGoesOnByItself() {
        assertFalse(snapshotter.shouldSnapshotData(true, false));
        assertTrue(snapshotter.shouldStreamEventsStartingFromSnapshot());
        snapshotter.shouldSnapshotData(false, false);
        snapshotter.snapshotCompleted();
        assertTrue(snapshotter.shouldStreamEventsStartingFromSnapshot());
    }

    @Test
    void debeziumFindsItByName() {
        var names = ServiceLoader.load(Snapshotter.class).stream().map(found -> found.get().name()).toList();
        assertTrue(names.contains("then_slot"), names::toString);
    }
}
