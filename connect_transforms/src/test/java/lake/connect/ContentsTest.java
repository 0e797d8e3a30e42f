package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.Test;

class ContentsTest {

    private static final Schema TEXT = Schema.OPTIONAL_STRING_SCHEMA;
    private static final Schema TEXTS = SchemaBuilder.array(TEXT).optional().build();

    /** The hash of a row of these columns: name, schema, value, name, ... */
    private static String of(Object... columns) {
        SchemaBuilder schema = SchemaBuilder.struct();
        for (int i = 0; i < columns.length; i += 3) {
            schema.field((String) columns[i], (Schema) columns[i + 1]);
        }
        Struct row = new Struct(schema.build());
        for (int i = 0; i < columns.length; i += 3) {
            row.put((String) columns[i], columns[i + 2]);
        }
        return Contents.of(row);
    }

    @Test
    void equalRowsHaveOneContent() {
        assertEquals(of("a", TEXT, "x"), of("a", TEXT, "x"));
        assertEquals(32, of("a", TEXT, "x").length());
    }

    @Test
    void anAddedColumnThatIsNullAndTheOrderOfColumnsChangeNothing() {
        String content = of("a", TEXT, "x", "b", TEXT, "y");
        assertEquals(content, of("b", TEXT, "y", "c", TEXT, null, "a", TEXT, "x"));
    }

    @Test
    void aWiderTypeChangesNothing() {
        assertEquals(of("a", Schema.INT32_SCHEMA, 5), of("a", Schema.INT64_SCHEMA, 5L));
    }

    @Test
    void rowsThatDifferHaveOtherContents() {
        assertAllDiffer(
                of("a", TEXT, "x", "b", TEXT, "y"), of("a", TEXT, "y", "b", TEXT, "x"), of("a", TEXT, "x", "b", TEXT, null),
                of("a", TEXT, "x1:b1:y"), of("a", TEXT, "", "b", TEXT, "xy"), of("a", TEXT, "xy", "b", TEXT, ""),
                of("a", TEXT, ""), of("a", TEXT, null));
    }

    @Test
    void listsThatDifferHaveOtherContents() {
        List<String> withNull = Arrays.asList("x", null);
        assertAllDiffer(
                of("a", TEXTS, List.of("x", "y")), of("a", TEXTS, List.of("y", "x")), of("a", TEXTS, List.of("xy")),
                of("a", TEXTS, withNull), of("a", TEXTS, List.of("x")), of("a", TEXTS, List.of("x", "")),
                of("a", TEXTS, List.of()), of("a", TEXTS, null));
    }

    private static void assertAllDiffer(String... contents) {
        assertEquals(contents.length, Set.of(contents).size());
    }

    @Test
    void bytesAreReadAndStay() {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {1, 2});
        String content = of("a", Schema.BYTES_SCHEMA, bytes);
        assertEquals(2, bytes.remaining());
        assertEquals(content, of("a", Schema.BYTES_SCHEMA, new byte[] {1, 2}));
        assertNotEquals(content, of("a", Schema.BYTES_SCHEMA, new byte[] {2, 1}));
    }

    @Test
    void theOrderOfAMapChangesNothing() {
        Schema map = SchemaBuilder.map(Schema.STRING_SCHEMA, TEXT).build();
        Map<String, String> other = new LinkedHashMap<>();
        other.put("y", "2");
        other.put("x", "1");
        Map<String, String> one = new LinkedHashMap<>();
        one.put("x", "1");
        one.put("y", "2");
        assertEquals(of("a", map, one), of("a", map, other));
        one.put("y", "1");
        assertNotEquals(of("a", map, one), of("a", map, other));
    }

    @Test
    void nestedRowsCount() {
        Schema pair = SchemaBuilder.struct().field("x", TEXT).field("y", TEXT).build();
        assertNotEquals(of("a", pair, new Struct(pair).put("x", "1")), of("a", pair, new Struct(pair).put("y", "1")));
    }
}
