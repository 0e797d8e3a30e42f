package lake.connect;

import io.apicurio.registry.resolver.DefaultSchemaResolver;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.serde.data.KafkaSerdeMetadata;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericContainer;

/**
 * Finds the registry's answer for a schema by the schema object itself. The default resolver prints the schema as
 * JSON for every record to look it up by its text, which took more than half of a source task's time.
 *
 * <p>The converter hands out one schema object per table version. An answer is asked for again after FRESH_NANOS, as
 * long as the default resolver trusts its own (apicurio.registry.check-period-ms).
 */
public class SchemaByIdentity<S, T> extends DefaultSchemaResolver<S, T> {

    static final long FRESH_NANOS = 30_000_000_000L;
    private static final int CAPACITY = 1000;

    private final LongSupplier clock;
    private final Map<Asked, Answer<S>> answers = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Asked, Answer<S>> eldest) {
            return size() > CAPACITY;
        }
    };

    /** For the converter, which takes the class by name: apicurio.registry.schema-resolver. */
    public SchemaByIdentity() {
        this(System::nanoTime);
    }

    SchemaByIdentity(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public SchemaLookupResult<S> resolveSchema(Record<T> data) {
        Object payload = data.payload();
        if (payload instanceof GenericContainer container && data.metadata() instanceof KafkaSerdeMetadata metadata) {
            return known(new Asked(metadata.getTopic(), container.getSchema()), data);
        }
        return ask(data);
    }

    /** The default resolver's way: by the text of the schema, registering it when it is new. */
    SchemaLookupResult<S> ask(Record<T> data) {
        return super.resolveSchema(data);
    }

    @Override
    public void reset() {
        synchronized (answers) {
            answers.clear();
        }
        super.reset();
    }

    private SchemaLookupResult<S> known(Asked asked, Record<T> data) {
        synchronized (answers) {
            Answer<S> answer = answers.get(asked);
            if (answer == null || clock.getAsLong() - answer.at() > FRESH_NANOS) {
                answer = new Answer<>(ask(data), clock.getAsLong());
                answers.put(asked, answer);
            }
            return answer.schema();
        }
    }

    private record Answer<S>(SchemaLookupResult<S> schema, long at) {}

    private record Asked(String topic, Schema schema) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Asked asked && asked.schema == schema && asked.topic.equals(topic);
        }

        @Override
        public int hashCode() {
            return 31 * topic.hashCode() + System.identityHashCode(schema);
        }
    }
}
