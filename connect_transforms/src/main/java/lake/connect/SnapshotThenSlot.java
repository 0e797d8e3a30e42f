package lake.connect;

import io.debezium.DebeziumException;
import io.debezium.bean.StandardBeanNames;
import io.debezium.bean.spi.BeanRegistry;
import io.debezium.bean.spi.BeanRegistryAware;
import io.debezium.jdbc.JdbcConnection;
import io.debezium.pipeline.spi.OffsetContext;
import io.debezium.pipeline.spi.Offsets;
import io.debezium.spi.snapshot.Snapshotter;
import java.sql.SQLException;
import java.util.Map;

/**
 * Takes the first snapshot, like Debezium's `initial`, and then streams from the position of the slot.
 *
 * <p>After an interrupted snapshot, `initial` takes another one and streams from the end of the log at that
 * moment. A row that the first one sent, and that was deleted before the second one, would stay forever, because its
 * delete is never sent. The slot has held the log since before the first snapshot, so all of it is sent instead, before
 * or after the second snapshot. Redelivery changes nothing: per key the last committed change is sent last.
 *
 * <p>With {@code snapshot.mode.custom.exact}, a first snapshot that is not interrupted shows exactly the state at which the
 * slot begins. Rows without a key need that (ADR 48): a row that snapshot and stream both send would be there twice. It
 * keeps one transaction of the source open until all tables are read.
 *
 * <p>A start after a gap in the log is refused ({@link SlotPosition}).
 */
public final class SnapshotThenSlot implements Snapshotter, BeanRegistryAware {
    private static final String NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    private static final String EXACT = "snapshot.mode.custom.exact";

    private volatile boolean due;
    private volatile boolean isExact;
    private BeanRegistry beans;

    @Override
    public String name() {
        return "then_slot";
    }

    @Override
    public void injectBeanRegistry(BeanRegistry registry) {
        beans = registry;
    }

    /** Called at each start, also within the task, before anything is read; DebeziumException after a gap. */
    @Override
    public void configure(Map<String, ?> properties) {
        JdbcConnection source = beans.lookupByName(StandardBeanNames.JDBC_CONNECTION, JdbcConnection.class);
        SlotPosition slot = SlotPosition.read(source, String.valueOf(properties.get("slot.name")));
        isExact = slot.confirmed() == null && "true".equals(properties.get(EXACT));
        Runs.begin(String.valueOf(properties.get("topic.prefix")), clockOf(source), isExact);
        OffsetContext offset = beans.lookupByName(StandardBeanNames.OFFSETS, Offsets.class).getTheOnlyOffset();
        if (offset != null) {
            slot.refuseGap(offset.getOffset());
        }
    }

    private static long clockOf(JdbcConnection source) {
        try {
            return source.queryAndMap(NOW, rows -> rows.next() ? rows.getLong(1) : 0);
        } catch (SQLException e) {
            throw new DebeziumException("The clock of the source can't be read", e);
        }
    }

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

    /**
     * Called at each start: without a snapshot to take, streaming continues from its own offset as usual. With a new slot
     * Debezium then reads all tables as they were when the slot was made.
     */
    @Override
    public boolean shouldStreamEventsStartingFromSnapshot() {
        return !due || isExact;
    }

    @Override
    public void snapshotCompleted() {
        due = false;
    }
}
