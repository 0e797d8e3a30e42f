package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Map;
import java.util.ServiceLoader;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.junit.jupiter.api.Test;

class NormalizeColumnsTest {

    private static final Schema OPTIONAL_WITH_DEFAULT = SchemaBuilder.int64().optional().defaultValue(7L)
            .name("io.debezium.time.MicroTimestamp").version(1).doc("created").parameter("length", "6").build();
    private static final Schema REQUIRED_WITH_DEFAULT = SchemaBuilder.string().defaultValue("x").build();

    private final NormalizeColumns<SourceRecord> transform = new NormalizeColumns<>();

    @Test
    void nullInAnOptionalColumnWithADefaultStaysNull() {
        Schema row = row("created", OPTIONAL_WITH_DEFAULT);
        Struct out = value(new Struct(row));
        assertNull(out.get("created"));
        assertNull(out.schema().field("created").schema().defaultValue());
    }

    @Test
    void aColumnKeepsAllButItsDefault() {
        Struct out = value(new Struct(row("created", OPTIONAL_WITH_DEFAULT)).put("created", 9L));
        Schema column = out.schema().field("created").schema();
        assertEquals(9L, out.get("created"));
        assertEquals("io.debezium.time.MicroTimestamp", column.name());
        assertEquals(1, column.version());
        assertEquals("created", column.doc());
        assertEquals(Map.of("length", "6"), column.parameters());
        assertEquals("row", out.schema().name());
    }

    @Test
    void aRequiredColumnKeepsItsDefault() {
        Schema row = SchemaBuilder.struct().field("created", OPTIONAL_WITH_DEFAULT)
                .field("name", REQUIRED_WITH_DEFAULT).build();
        Struct out = value(new Struct(row).put("name", "y"));
        assertEquals("x", out.schema().field("name").schema().defaultValue());
        assertEquals("y", out.get("name"));
    }

    @Test
    void beforeAndAfterOfAnEnvelopeAreNormalized() {
        Schema row = SchemaBuilder.struct().optional().field("created", OPTIONAL_WITH_DEFAULT).build();
        Schema envelope = SchemaBuilder.struct().field("before", row).field("after", row).build();
        Struct out = value(new Struct(envelope).put("after", new Struct(row)));
        assertNull(out.get("before"));
        assertNull(out.getStruct("after").get("created"));
    }

    @Test
    void decimalsOfAnyScaleBecomePlainDigits() {
        Struct out = value(new Struct(row("price", decimalSchema())).put("price", decimal(-1200, 2)));
        assertEquals("-12.00", out.get("price"));
        assertEquals("100000", digits(decimal(1, -5)));
        assertEquals("0.000000001", digits(decimal(1, 9)));
    }

    @Test
    void anOptionalDecimalStaysOptional() {
        Struct out = value(new Struct(row("price", decimalSchema())));
        assertNull(out.get("price"));
        assertEquals(Schema.OPTIONAL_STRING_SCHEMA, out.schema().field("price").schema());
    }

    @Test
    void arraysAndMapsOfDecimalsBecomeDigits() {
        Schema row = SchemaBuilder.struct()
                .field("prices", SchemaBuilder.array(decimalSchema()).optional().build())
                .field("rates", SchemaBuilder.map(Schema.STRING_SCHEMA, decimalSchema()).build()).build();
        Struct out = value(new Struct(row).put("prices", Arrays.asList(decimal(15, 1), null))
                .put("rates", Map.of("eur", decimal(3, 0))));
        assertEquals(Arrays.asList("1.5", null), out.getArray("prices"));
        assertEquals(Map.of("eur", "3"), out.getMap("rates"));
    }

    @Test
    void theDefaultOfARequiredDecimalBecomesDigits() {
        SchemaBuilder required = SchemaBuilder.struct().name("io.debezium.data.VariableScaleDecimal").version(1)
                .field("scale", Schema.INT32_SCHEMA).field("value", Schema.BYTES_SCHEMA);
        Struct half = new Struct(required).put("scale", 1).put("value", new byte[] {5});
        assertEquals("0.5", Rewrite.of(required.defaultValue(half).build()).schema().defaultValue());
    }

    @Test
    void aRequiredDecimalWithADefaultMayBeAbsent() {
        SchemaBuilder required = SchemaBuilder.struct().name("io.debezium.data.VariableScaleDecimal").version(1)
                .field("scale", Schema.INT32_SCHEMA).field("value", Schema.BYTES_SCHEMA);
        required.defaultValue(new Struct(required).put("scale", 1).put("value", new byte[] {5}));
        Struct out = value(new Struct(row("price", required.build())));
        assertNull(out.getWithoutDefault("price"));
    }

    @Test
    void aRequiredColumnMayBeUnsetAsInTheRowOfADelete() {
        Schema row = SchemaBuilder.struct().field("created", OPTIONAL_WITH_DEFAULT)
                .field("name", Schema.STRING_SCHEMA).build();
        assertNull(value(new Struct(row)).get("name"));
    }

    @Test
    void theDefaultOfARequiredStructIsRebuiltWithIt() {
        SchemaBuilder required = SchemaBuilder.struct().field("created", OPTIONAL_WITH_DEFAULT);
        Struct seven = new Struct(required).put("created", 7L);
        Struct rebuilt = (Struct) Rewrite.of(required.defaultValue(seven).build()).schema().defaultValue();
        assertEquals(7L, rebuilt.get("created"));
        assertNull(rebuilt.schema().field("created").schema().defaultValue());
    }

    @Test
    void theKeyIsNormalizedToo() {
        Struct key = new Struct(row("id", decimalSchema())).put("id", decimal(42, 0));
        SourceRecord out = transform.apply(new SourceRecord(Map.of(), Map.of(), "t", 0, key.schema(), key, null, null));
        assertEquals("42", ((Struct) out.key()).get("id"));
        assertNull(out.value());
    }

    @Test
    void recordsThatNeedNothingAreReturnedAsTheyCame() {
        Struct row = new Struct(row("name", REQUIRED_WITH_DEFAULT)).put("name", "y");
        SourceRecord plain = record(row.schema(), row);
        SourceRecord schemaless = record(null, Map.of("a", 1));
        assertSame(plain, transform.apply(plain));
        assertSame(schemaless, transform.apply(schemaless));
    }

    @Test
    void aTombstoneStaysATombstone() {
        Schema row = row("created", OPTIONAL_WITH_DEFAULT);
        assertNull(transform.apply(record(row, null)).value());
    }

    @Test
    void oneSchemaIsRebuiltOnce() {
        Schema row = row("created", OPTIONAL_WITH_DEFAULT);
        assertSame(value(new Struct(row)).schema(), value(new Struct(row)).schema());
    }

    @Test
    void theCacheIsBoundedAndGoesByIdentity() {
        SchemaCache<Rewrite> cache = new SchemaCache<>(2);
        Schema first = row("a", OPTIONAL_WITH_DEFAULT);
        Rewrite rewrite = cache.of(first, Rewrite::of);
        assertNotSame(rewrite, cache.of(row("a", OPTIONAL_WITH_DEFAULT), Rewrite::of));
        assertSame(rewrite, cache.of(first, Rewrite::of));
        cache.of(row("b", OPTIONAL_WITH_DEFAULT), Rewrite::of);
        assertEquals(2, cache.size());
    }

    @Test
    void connectFindsTheTransform() {
        assertNotNull(ServiceLoader.load(Transformation.class).stream()
                .filter(provider -> provider.type() == NormalizeColumns.class).findFirst().orElse(null));
    }

    private static Schema row(String column, Schema schema) {
        return SchemaBuilder.struct().name("row").field(column, schema).build();
    }

    private static Schema decimalSchema() {
        return SchemaBuilder.struct().name("io.debezium.data.VariableScaleDecimal").version(1).optional()
                .field("scale", Schema.INT32_SCHEMA).field("value", Schema.BYTES_SCHEMA).build();
    }

    private static Struct decimal(long unscaled, int scale) {
        return new Struct(decimalSchema()).put("scale", scale).put("value", BigInteger.valueOf(unscaled).toByteArray());
    }

    private static String digits(Struct decimal) {
        return (String) Rewrite.of(decimal.schema()).apply(decimal);
    }

    private Struct value(Struct row) {
        return (Struct) transform.apply(record(row.schema(), row)).value();
    }

    private static SourceRecord record(Schema schema, Object value) {
        return new SourceRecord(Map.of(), Map.of(), "t", 0, schema, value);
    }
}
