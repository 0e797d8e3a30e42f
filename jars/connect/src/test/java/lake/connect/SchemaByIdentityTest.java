package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.rest.client.exception.RestClientException;
import io.apicurio.registry.rest.v2.beans.Error;
import io.apicurio.registry.serde.data.KafkaSerdeMetadata;
import io.apicurio.registry.serde.data.KafkaSerdeRecord;
import io.apicurio.registry.serde.strategy.TopicIdStrategy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.kafka.connect.errors.RetriableException;
import org.junit.jupiter.api.Test;

class SchemaByIdentityTest {

    private static final SchemaLookupResult<Schema> ANSWER =
            SchemaLookupResult.<Schema>builder().contentId(7).build();

    private static final long ANSWER_MILLIS = 500;  // a busy machine may take some hundred to start a thread

    private SchemaLookupResult<Schema> answer = ANSWER;
    private long now;
    private RestClientException refusal;
    private boolean silent;
    private final List<Object> asked = new ArrayList<>();
    private final SchemaByIdentity<Schema, Object> resolver = new SchemaByIdentity<>(() -> now, ANSWER_MILLIS) {
        @Override
        SchemaLookupResult<Schema> ask(Record<Object> data) {
            asked.add(data.payload());
            if (silent) {
                waitForEver();
            }
            if (refusal != null) {
                throw refusal;
            }
            return answer;
        }
    };

    @Test
    void theSameSchemaObjectIsAskedForOnce() {
        Schema schema = schema();
        resolve("t", schema);
        resolve("t", schema);
        assertEquals(1, asked.size());
    }

    @Test
    void anEqualSchemaOfAnotherTableVersionIsAskedFor() {
        resolve("t", schema());
        resolve("t", schema());
        assertEquals(2, asked.size());
    }

    @Test
    void eachTopicHasItsOwnSubject() {
        Schema schema = schema();
        resolve("t", schema);
        resolve("u", schema);
        assertEquals(2, asked.size());
    }

    @Test
    void anOldAnswerIsAskedForAgain() {
        Schema schema = schema();
        resolve("t", schema);
        now += SchemaByIdentity.FRESH_NANOS + 1;
        resolve("t", schema);
        assertEquals(2, asked.size());
    }

    @Test
    void anOldAnswerHoldsWhileTheRegistryIsAway() {
        Schema schema = schema();
        resolve("t", schema);
        now += SchemaByIdentity.FRESH_NANOS + 1;
        refusal = refused(null);
        assertSame(ANSWER, resolve("t", schema));
        assertEquals(2, asked.size());
    }

    @Test
    void aRegistryThatGivesAnotherIdIsNotBelieved() {
        Schema schema = schema();
        resolve("t", schema);
        now += SchemaByIdentity.FRESH_NANOS + 1;
        answer = SchemaLookupResult.<Schema>builder().contentId(1).build();
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThrows(RetriableException.class, () -> resolve("t", schema));
        }
        answer = ANSWER;
        assertSame(ANSWER, resolve("t", schema));
    }

    @Test
    void aNewSchemaIsTriedAgainWhileTheRegistryIsAway() {
        for (Integer code : new Integer[] {null, 500, 503}) {
            refusal = refused(code);
            assertThrows(RetriableException.class, () -> resolve("t", schema()));
        }
        refusal = null;
        assertSame(ANSWER, resolve("t", schema()));
    }

    @Test
    void aRegistryThatNeverAnswersIsAway() {
        silent = true;
        assertThrows(RetriableException.class, () -> resolve("t", schema()));
        silent = false;
        assertSame(ANSWER, resolve("t", schema()));
    }

    @Test
    void aSilentRegistryIsNotWaitedForByEachSchema() {
        Schema schema = schema();
        resolve("t", schema);
        resolve("u", schema);
        now += SchemaByIdentity.FRESH_NANOS + 1;
        silent = true;
        assertSame(ANSWER, resolve("t", schema));
        assertSame(ANSWER, resolve("u", schema));
        assertEquals(3, asked.size());
        silent = false;
        now += SchemaByIdentity.FRESH_NANOS + 1;
        resolve("u", schema);
        assertEquals(4, asked.size());
    }

    @Test
    void aRefusalIsNotTriedAgain() {
        refusal = refused(409);
        assertSame(refusal, assertThrows(RestClientException.class, () -> resolve("t", schema())));
    }

    @Test
    void whatHasNoSchemaGoesTheDefaultWay() {
        resolver.resolveSchema(record("t", "text"));
        resolver.resolveSchema(record("t", "text"));
        assertEquals(2, asked.size());
    }

    @Test
    void whatStandsForARowIsNoVersionOfIt() {
        resolver.setArtifactResolverStrategy(new TopicIdStrategy<>());
        assertEquals("t-value", subject(schema()));
        assertEquals("lake.TooLarge", subject(SchemaBuilder.record("TooLarge").namespace("lake").fields().endRecord()));
    }

    private String subject(Schema schema) {
        Record<Object> record = record("t", new GenericData.Record(schema));
        return resolver.resolveArtifactReference(record, null, false, null).getArtifactId();
    }

    private static void waitForEver() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static RestClientException refused(Integer code) {
        Error error = new Error();
        error.setErrorCode(code);
        return new RestClientException(error);
    }

    private SchemaLookupResult<Schema> resolve(String topic, Schema schema) {
        return resolver.resolveSchema(record(topic, new GenericData.Record(schema)));
    }

    private static Record<Object> record(String topic, Object payload) {
        return new KafkaSerdeRecord<>(new KafkaSerdeMetadata(topic, false, null), payload);
    }

    private static Schema schema() {
        return SchemaBuilder.record("Value").namespace("n").fields().requiredInt("id").endRecord();
    }
}
