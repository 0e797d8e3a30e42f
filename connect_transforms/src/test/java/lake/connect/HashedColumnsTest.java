package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.debezium.spi.converter.CustomConverter.Converter;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class HashedColumnsTest {

    /** RFC 4231, test case 2. */
    @Test
    void theHashIsHmac() {
        HashedColumns one = hashing("Jefe");
        assertEquals("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                one.hashed("what do ya want for nothing?"));
    }

    @Test
    void valuesOfNamedColumnsBecomeHashes() {
        Registered email = registered("public.people", "email", true).orElseThrow();
        assertEquals(hashing("salt").hashed("a@example.com"), email.converter.convert("a@example.com"));
        assertEquals(Schema.Type.STRING, email.schema.type());
        assertEquals("TEXT", email.schema.parameters().get("lake.type"));
        assertNull(email.converter.convert(null));
        assertNotEquals(hashing("other").hashed("a"), hashing("salt").hashed("a"));
    }

    @Test
    void oneValueHasOneHashWhateverItsClass() {
        Registered email = registered("public.people", "email", true).orElseThrow();
        assertEquals(email.converter.convert("17"), email.converter.convert(17L));
    }

    @Test
    void aLargeValueThatWasNotSentStaysMarked() {
        Registered email = registered("public.people", "email", true).orElseThrow();
        assertEquals(NameUnavailable.PLACEHOLDER, email.converter.convert(new Object()));
    }

    @Test
    void aRequiredColumnHasAValueInEveryDelete() {
        Registered email = registered("public.people", "email", false).orElseThrow();
        assertFalse(email.schema.isOptional());
        assertEquals("", email.converter.convert(null));
    }

    @Test
    void otherColumnsAndOtherTablesAreLeftAlone() {
        assertTrue(registered("public.people", "Email", true).isEmpty());
        assertTrue(registered("public.peoples", "email", true).isEmpty());
        assertTrue(registered("public.people", "id", true).isEmpty());
    }

    @Test
    void nothingIsHashedWithoutASecret() {
        assertThrows(IllegalArgumentException.class, () -> hashing(""));
    }

    private static HashedColumns hashing(String secret) {
        Properties settings = new Properties();
        settings.setProperty("columns", "(?-i)\\Qpublic.other.ssn\\E,(?-i)\\Qpublic.people.email\\E");
        settings.setProperty("secret", secret);
        HashedColumns made = new HashedColumns();
        made.configure(settings);
        return made;
    }

    private static Optional<Registered> registered(String table, String name, boolean isOptional) {
        AtomicReference<Registered> found = new AtomicReference<>();
        hashing("salt").converterFor(Column.text(table, name, isOptional),
                (schema, converter) -> found.set(new Registered(schema.build(), converter)));
        return Optional.ofNullable(found.get());
    }

    private record Registered(Schema schema, Converter converter) {}
}
