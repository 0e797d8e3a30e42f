package lake.connect;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.connect.data.Schema;

/**
 * A cache of results for recent schemas. It looks schemas up by identity: Debezium uses one schema object
 * per table version, and a comparison of whole schemas would cost more than computing the result.
 */
final class SchemaCache<T> {

    private static final int KEPT = 4096;

    private final Map<Identity, T> made;

    SchemaCache() {
        this(KEPT);
    }

    SchemaCache(int capacity) {
        made = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Identity, T> eldest) {
                return size() > capacity;
            }
        };
    }

    synchronized T of(Schema schema, Function<Schema, T> make) {
        return made.computeIfAbsent(new Identity(schema), key -> make.apply(schema));
    }

    synchronized void clear() {
        made.clear();
    }

    synchronized int size() {
        return made.size();
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
