package lake.connect;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When the capture of each server (its topic prefix) began last on this worker, in ms.
 *
 * <p>Debezium starts again within its task after many a failure, and may then find that another task had the slot
 * meanwhile: what it sends from then on is a run of its own.
 */
final class Runs {

    private static final Map<String, Long> BEGUN = new ConcurrentHashMap<>();

    private Runs() {}

    /** To be called before the run reads anything. */
    static void begin(String server) {
        BEGUN.merge(server, System.currentTimeMillis(), (last, now) -> Math.max(last + 1, now));
    }

    /** The run of the server; the given one where that is later, or none is known. */
    static long of(Object server, long least) {
        return server == null ? least : Math.max(least, BEGUN.getOrDefault(server.toString(), 0L));
    }
}
