package lake.connect;

import io.apicurio.registry.resolver.DefaultSchemaResolver;
import io.apicurio.registry.resolver.ParsedSchema;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import io.apicurio.registry.rest.client.exception.RestClientException;
import io.apicurio.registry.serde.data.KafkaSerdeMetadata;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericContainer;
import org.apache.kafka.connect.errors.RetriableException;

/**
 * Finds the registry's answer for a schema by the schema object itself. The default resolver prints the schema as
 * JSON for every record to look it up by its text, which took more than half of a source task's time.
 *
 * <p>The converter returns one schema object per table version. An answer expires after FRESH_NANOS, as in the
 * default resolver's own cache (apicurio.registry.check-period-ms). While the registry is unavailable the old
 * answer stays valid: an id never changes its schema. A schema without an answer waits for the registry: any other
 * exception than a RetriableException would end the task for good (errors.retry.timeout). A registry that gives another
 * id for the same schema has lost its store, and could give one id to two schemas: nothing is written until it has its
 * old store again.
 *
 * <p>The registry's client waits forever for an answer (Apicurio 2.6.13, JdkHttpClient), and with it the task, which
 * stays RUNNING. Here a registry without an answer within ANSWER_MILLIS counts as away, and known answers stay valid
 * without another request for as long as a fresh one.
 */
public class SchemaByIdentity<S, T> extends DefaultSchemaResolver<S, T> {

    static final long FRESH_NANOS = 30_000_000_000L;
    private static final long ANSWER_MILLIS = 10_000;
    private static final int CAPACITY = 1000;
    private static final int SERVER_ERROR = 500;
    private static final String OWN = "lake";  // namespace

    private final LongSupplier clock;
    private final long answerMillis;
    private final ExecutorService asking = Executors.newCachedThreadPool(SchemaByIdentity::daemon);
    private Long silentSince;
    private final Map<Asked, Answer<S>> answers = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Asked, Answer<S>> eldest) {
            return size() > CAPACITY;
        }
    };

    /** For the converter, which takes the class by name: apicurio.registry.schema-resolver. */
    public SchemaByIdentity() {
        this(System::nanoTime, ANSWER_MILLIS);
    }

    SchemaByIdentity(LongSupplier clock, long answerMillis) {
        this.clock = clock;
        this.answerMillis = answerMillis;
    }

    @Override
    public SchemaLookupResult<S> resolveSchema(Record<T> data) {
        Object payload = data.payload();
        if (payload instanceof GenericContainer container && data.metadata() instanceof KafkaSerdeMetadata metadata) {
            return known(new Asked(metadata.getTopic(), container.getSchema()), data);
        }
        return ask(data);
    }

    /** The default resolver's way: it looks the text of the schema up, and registers it if it is new. */
    SchemaLookupResult<S> ask(Record<T> data) {
        return super.resolveSchema(data);
    }

    /**
     * A record of the lake that replaces a row is not a version of the row, so its schema has a separate subject
     * ("lake.TooLarge"). Readers of all versions of a topic's rows, or of the newest, get rows only.
     */
    @Override
    protected ArtifactReference resolveArtifactReference(
            Record<T> data, ParsedSchema<S> parsed, boolean isReference, String referenceId) {
        if (data.payload() instanceof GenericContainer container && OWN.equals(container.getSchema().getNamespace())) {
            return ArtifactReference.builder().artifactId(container.getSchema().getFullName()).build();
        }
        return super.resolveArtifactReference(data, parsed, isReference, referenceId);
    }

    @Override
    public void reset() {
        synchronized (answers) {
            answers.clear();
        }
        super.reset();
    }

    @Override
    public void close() throws IOException {
        asking.shutdownNow();
        super.close();
    }

    private SchemaLookupResult<S> known(Asked asked, Record<T> data) {
        synchronized (answers) {
            Answer<S> answer = answers.get(asked);
            if (answer == null || clock.getAsLong() - answer.at() > FRESH_NANOS) {
                answer = new Answer<>(askOrKeep(data, answer), clock.getAsLong());
                answers.put(asked, answer);
            }
            return answer.schema();
        }
    }

    private SchemaLookupResult<S> askOrKeep(Record<T> data, Answer<S> old) {
        if (old != null && silentSince != null && clock.getAsLong() - silentSince <= FRESH_NANOS) {
            return old.schema();
        }
        try {
            return same(askInTime(data), old);
        } catch (RestClientException refusal) {
            if (!isAway(refusal)) {
                throw refusal;
            }
            return kept(old, refusal);
        } catch (TimeoutException silence) {
            silentSince = clock.getAsLong();
            return kept(old, silence);
        }
    }

    private SchemaLookupResult<S> kept(Answer<S> old, Exception why) {
        if (old == null) {
            throw new RetriableException("the schema registry does not answer", why);
        }
        return old.schema();
    }

    private SchemaLookupResult<S> askInTime(Record<T> data) throws TimeoutException {
        Future<SchemaLookupResult<S>> answer = asking.submit(() -> ask(data));
        try {
            return answer.get(answerMillis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw error.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(error.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new RetriableException("interrupted while waiting for the schema registry", stopped);
        } finally {
            answer.cancel(true);
        }
    }

    private static Thread daemon(Runnable question) {
        Thread thread = new Thread(question, "ask-schema-registry");
        thread.setDaemon(true);
        return thread;
    }

    private SchemaLookupResult<S> same(SchemaLookupResult<S> found, Answer<S> old) {
        if (old != null && found.getContentId() != old.schema().getContentId()) {
            super.reset(); // else its cache would return this answer until it expires there
            throw new RetriableException("the schema registry has lost its store: it gives id " + found.getContentId()
                    + " to the schema of id " + old.schema().getContentId() + "; restore the store from its backup");
        }
        return found;
    }

    /** True if there is no answer, or one of a failing server (5xx). */
    private static boolean isAway(RestClientException refusal) {
        Integer code = refusal.getError() == null ? null : refusal.getError().getErrorCode();
        return code == null || code >= SERVER_ERROR;
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
