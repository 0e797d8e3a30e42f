package lake.connect;

import io.debezium.DebeziumException;
import io.debezium.jdbc.JdbcConnection;
import java.sql.SQLException;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The position that a replication slot has confirmed, in bytes; null if the slot does not exist.
 *
 * <p>Debezium 3.7 compares its offset with the slot's restart_lsn, which is before confirmed_flush_lsn. But PostgreSQL
 * sends from the latter, whatever the client requests. So changes between the offset and a slot that somebody
 * advanced or re-created would be skipped silently (docs/reliability.md, row 12).
 */
record SlotPosition(String slot, Long confirmed) {
    private static final String QUERY =
            "SELECT confirmed_flush_lsn - '0/0'::pg_lsn FROM pg_replication_slots WHERE slot_name = ?";

    static SlotPosition read(JdbcConnection source, String slot) {
        try {
            Long confirmed = source.prepareQueryAndMap(QUERY, query -> query.setString(1, slot), rows -> rows.next()
                    ? (Long) rows.getLong(1)
                    : null);
            return new SlotPosition(slot, confirmed);
        } catch (SQLException e) {
            throw new DebeziumException("The state of replication slot " + slot + " can't be read", e);
        }
    }

    /**
     * A slot confirms only changes that Kafka has acknowledged, so it is never ahead of the offset in Kafka.
     *
     * @throws DebeziumException if it is ahead, or does not exist
     */
    void refuseGap(Map<String, ?> offset) {
        long position = Stream.of("lsn", "lsn_commit", "lsn_proc")
                .mapToLong(name -> offset.get(name) instanceof Number number ? number.longValue() : 0)
                .max()
                .getAsLong();
        if (position == 0) {
            return; // no record of the log yet, so the slot cannot be compared
        }
        if (confirmed == null) {
            throw new DebeziumException("Replication slot " + slot + " does not exist: changes are lost; run: lake recover");
        }
        if (confirmed > position) {
            throw new DebeziumException("Replication slot " + slot + " is ahead of the connector: it was advanced or"
                    + " re-created. Changes are lost; run: lake recover");
        }
    }
}
