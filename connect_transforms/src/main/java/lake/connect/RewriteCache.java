package lake.connect;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;

/**
 * The rewrites of the schemas seen last. Looks schemas up by identity: Debezium hands out one schema object
 * per table version, and comparing whole schemas would cost more than the rewrite itself.
 */
final class RewriteCache {

    private final Map<Identity, Rewrite> rewrites;

    RewriteCache(int capacity) {
        rewrites = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Identity, Rewrite> eldest) {
                return size() > capacity;
            }
        };
    }

    synchronized Rewrite of(Schema schema) {
        return rewrites.computeIfAbsent(new Identity(schema), key -> Rewrite.of(schema));
    }

    synchronized void clear() {
        rewrites.clear();
    }

    synchronized int size() {
        return rewrites.size();
    }

    private record Identity(Schema schema) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Identity identity && identity.schema == schema;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(schema);
        }
    }
}
