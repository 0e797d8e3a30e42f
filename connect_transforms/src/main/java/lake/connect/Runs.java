package lake.connect;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The last start of the capture of each server (topic prefix) on this worker, in ms of the source's clock, which all
 * workers share and which commits use too.
 *
 * <p>Debezium restarts within its task after some failures. Another task may have had the slot in between, so
 * messages sent after the restart belong to a new run.
 */
final class Runs {

    private static final Map<String, Long> BEGUN = new ConcurrentHashMap<>();

    private Runs() {}

    /** Must be called before the run reads anything. */
    static void begin(String server, long now) {
        BEGUN.merge(server, now, (last, next) -> Math.max(last + 1, next));
    }

    /** The run of the server; the given value if none is known. */
    static long of(Object server, long otherwise) {
        return server == null ? otherwise : BEGUN.getOrDefault(server.toString(), otherwise);
    }
}
