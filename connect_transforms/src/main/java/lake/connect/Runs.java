package lake.connect;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * The last start of the capture of each server (topic prefix) on this worker, in ms of the source's clock, which all
 * workers share and which commits use too.
 *
 * <p>Debezium restarts within its task after some failures. Another task may have had the slot in between, so
 * messages sent after the restart belong to a new run.
 */
final class Runs {

    private static final String SERVER = "server"; // of the source partition that Debezium gives a record
    private static final Map<String, Long> BEGUN = new ConcurrentHashMap<>();
    private static final Set<String> EXACT = ConcurrentHashMap.newKeySet();

    private Runs() {}

    /** Must be called before the run reads anything. */
    static void begin(String server, long now, boolean isExact) {
        BEGUN.merge(server, now, (last, next) -> Math.max(last + 1, next));
        if (isExact) {
            EXACT.add(server);
        } else {
            EXACT.remove(server);
        }
    }

    /** True if the snapshot of the run shows exactly the rows to which its stream adds. */
    static boolean isExact(Object server) {
        return server != null && EXACT.contains(server.toString());
    }

    /** The server that a record comes from; null if it does not say. */
    static Object server(ConnectRecord<?> record) {
        return record instanceof SourceRecord source ? source.sourcePartition().get(SERVER) : null;
    }

    /** The run of the server; the given value if none is known. */
    static long of(Object server, long otherwise) {
        return server == null ? otherwise : BEGUN.getOrDefault(server.toString(), otherwise);
    }
}
