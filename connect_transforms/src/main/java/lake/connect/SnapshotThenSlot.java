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
 * <p>A start after a gap in the log is refused ({@link SlotPosition}).
 */
public final class SnapshotThenSlot implements Snapshotter, BeanRegistryAware {
    private static final String NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    private volatile boolean due;
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
        Runs.begin(String.valueOf(properties.get("topic.prefix")), clockOf(source));
        OffsetContext offset = beans.lookupByName(StandardBeanNames.OFFSETS, Offsets.class).getTheOnlyOffset();
        if (offset != null) {
            SlotPosition.read(source, String.valueOf(properties.get("slot.name"))).refuseGap(offset.getOffset());
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

    /** Called at each start: without a snapshot to take, streaming continues from its own offset as usual. */
    @Override
    public boolean shouldStreamEventsStartingFromSnapshot() {
        return !due;
    }

    @Override
    public void snapshotCompleted() {
        due = false;
    }
}
