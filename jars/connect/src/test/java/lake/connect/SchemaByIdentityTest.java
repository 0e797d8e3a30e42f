package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.serde.data.KafkaSerdeMetadata;
import io.apicurio.registry.serde.data.KafkaSerdeRecord;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.junit.jupiter.api.Test;

class SchemaByIdentityTest {

    private long now;
    private final List<Object> asked = new ArrayList<>();
    private final SchemaByIdentity<Schema, Object> resolver = new SchemaByIdentity<>(() -> now) {
        @Override
        SchemaLookupResult<Schema> ask(Record<Object> data) {
            asked.add(data.payload());
            return null;
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
    void whatHasNoSchemaGoesTheDefaultWay() {
        resolver.resolveSchema(record("t", "text"));
        resolver.resolveSchema(record("t", "text"));
        assertEquals(2, asked.size());
    }

    private void resolve(String topic, Schema schema) {
        resolver.resolveSchema(record(topic, new GenericData.Record(schema)));
    }

    private static Record<Object> record(String topic, Object payload) {
        return new KafkaSerdeRecord<>(new KafkaSerdeMetadata(topic, false, null), payload);
    }

    private static Schema schema() {
        return SchemaBuilder.record("Value").namespace("n").fields().requiredInt("id").endRecord();
    }
}
