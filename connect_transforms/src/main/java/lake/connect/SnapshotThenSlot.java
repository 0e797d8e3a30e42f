package lake.connect;

import io.debezium.spi.snapshot.Snapshotter;
import java.util.Map;

/**
 * The first snapshot, like Debezium's `initial`, and then the stream from where the slot stands.
 *
 * <p>After a snapshot that was interrupted, `initial` takes another one and streams from the end of the log at that
 * moment: a row that the first one sent, and that was deleted before the second one, would stay for ever, because its
 * delete is never sent. The slot has held the log since before the first snapshot, so all of it is sent instead, before
 * or after the second snapshot. What comes twice changes nothing: per key the last change committed is sent last.
 */
public final class SnapshotThenSlot implements Snapshotter {
    private volatile boolean due;

    @Override
    public String name() {
        return "then_slot";
    }

    @Override
    public void configure(Map<String, ?> properties) {}

    @Override
    public boolean shouldSnapshotData(boolean offsetExists, boolean snapshotInProgress) {
        due = !offsetExists || snapshotInProgress;
        return due;
    }

    @Override
    public boolean shouldSnapshotSchema(boolean offsetExists, boolean snapshotInProgress) {
        return false; // PostgreSQL's own catalog is read at each start
    }

    @Override
    public boolean shouldStream() {
        return true;
    }

    @Override
    public boolean shouldSnapshotOnSchemaError() {
        return false;
    }

    @Override
    public boolean shouldSnapshotOnDataError() {
        return false;
    }

    /** Asked at each start: without a snapshot to take, streaming goes on from its own offset as ever. */
    @Override
    public boolean shouldStreamEventsStartingFromSnapshot() {
        return !due;
    }

    @Override
    public void snapshotCompleted() {
        due = false;
    }
}
