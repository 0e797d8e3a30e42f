package lake.connect;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When the capture of each server (its topic prefix) began last on this worker, in ms of the source's clock: all workers
 * have the same one so, and it is that of the commits, too.
 *
 * <p>Debezium starts again within its task after many a failure, and may then find that another task had the slot
 * meanwhile: what it sends from then on is a run of its own.
 */
final class Runs {

    private static final Map<String, Long> BEGUN = new ConcurrentHashMap<>();

    private Runs() {}

    /** To be called before the run reads anything. */
    static void begin(String server, long now) {
        BEGUN.merge(server, now, (last, next) -> Math.max(last + 1, next));
    }

    /** The run of the server; the given one where none is known. */
    static long of(Object server, long otherwise) {
        return server == null ? otherwise : BEGUN.getOrDefault(server.toString(), otherwise);
    }
}
