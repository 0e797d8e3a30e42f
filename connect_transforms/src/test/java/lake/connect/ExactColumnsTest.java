package lake.connect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Types;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.postgresql.geometric.PGpolygon;
import org.postgresql.util.PGInterval;

class ExactColumnsTest {

    private static Date snapshotDate(int era, int year, int month, int day) {
        GregorianCalendar fields = new GregorianCalendar(year, month - 1, day);
        fields.set(GregorianCalendar.ERA, era);
        return new Date(fields.getTimeInMillis());
    }

    @Test
    void keepsTheEraOfASnapshotDate() {
        assertEquals(-735160, ExactColumns.days(snapshotDate(GregorianCalendar.BC, 44, 3, 15)));
        assertEquals(-735160, ExactColumns.days(LocalDate.of(-43, 3, 15)));
    }

    @Test
    void readsDatesOfTheJulianCalendarByTheirFields() {
        assertEquals(-141438, ExactColumns.days(snapshotDate(GregorianCalendar.AD, 1582, 10, 4)));
        assertEquals(19782, ExactColumns.days(snapshotDate(GregorianCalendar.AD, 2024, 2, 29)));
    }

    @Test
    void givesBothInfinitiesTheEndsOfTheRangeInSnapshotAndStream() {
        assertEquals(Integer.MAX_VALUE, ExactColumns.days(new Date(9223372036825200000L)));
        assertEquals(Integer.MIN_VALUE, ExactColumns.days(new Date(-9223372036832400000L)));
        assertEquals(Integer.MAX_VALUE, ExactColumns.days(LocalDate.ofEpochDay(2146033979)));
        assertEquals(Integer.MIN_VALUE, ExactColumns.days(LocalDate.ofEpochDay(-2147472691)));
        assertEquals(2145042905, ExactColumns.days(LocalDate.of(5874897, 12, 31)));
    }

    @Test
    void splitsAnArrayIntoTheTextsOfItsElements() {
        assertEquals(List.of(), PostgresArray.elements("{}"));
        assertEquals(Arrays.asList("1", null, "3"), PostgresArray.elements("{1,NULL,3}"));
        assertEquals(Arrays.asList("", "NULL", null, "a,b", "\"q\" {}", "back\\slash"),
                PostgresArray.elements("{\"\",\"NULL\",NULL,\"a,b\",\"\\\"q\\\" {}\",\"back\\\\slash\"}"));
        assertEquals(List.of("1", "2"), PostgresArray.elements("[0:1]={1,2}"));
    }

    @Test
    void marksAnArrayOfSeveralDimensions() {
        assertEquals(List.of(PostgresArray.NESTED + "{{1,2},{3,4}}"), PostgresArray.elements("{{1,2},{3,4}}"));
    }

    @Test
    void marksWhatIsNoArray() {
        assertEquals(List.of(PostgresArray.NESTED + "x"), ExactColumns.elements("x"));
    }

    private static final String TEXTS = "(?-i)\\Qpublic.t.grid\\E,(?-i)\\Qpublic.t.a\\E\\x2c\\Qb\\E";

    /** Type of the lake and converted value; null where Debezium's own conversion is used. */
    private static Object[] converted(Column column, Object value) {
        ExactColumns exact = new ExactColumns();
        Properties settings = new Properties();
        settings.setProperty("texts", TEXTS);
        exact.configure(settings);
        Object[] found = new Object[2];
        exact.converterFor(column, (schema, converter) -> {
            found[0] = schema.build().parameters().get("lake.type");
            found[1] = converter.convert(value);
        });
        return found;
    }

    @Test
    void aCompositeIsItsText() {
        Column pair = new Column("p", Types.STRUCT, 20000, "pair");
        assertArrayEquals(new Object[] {"TEXT", "(1,\"a b\")"}, converted(pair, "(1,\"a b\")"));
        assertArrayEquals(new Object[] {"TEXT", null}, converted(pair, null));
        assertArrayEquals(new Object[] {"TEXT", NameUnavailable.PLACEHOLDER}, converted(pair, new Object()));
    }

    @Test
    void aRangeThatAPersonMadeIsItsText() {
        assertArrayEquals(new Object[] {"TEXT", "[1,2)"}, converted(new Column("r", Types.OTHER, 20001, "floats"), "[1,2)"));
        assertNull(converted(new Column("c", Types.OTHER, 20002, "citext"), "a")[0]);
        assertNull(converted(new Column("n", Types.OTHER, 3908, "tsrange"), "a")[0]);
    }

    @Test
    void anArrayThatIsDeclaredWithSeveralDimensionsIsItsText() {
        String grid = "{{1,2},{3,4}}";
        assertArrayEquals(new Object[] {"TEXT", grid}, converted(new Column("grid", Types.ARRAY, 1007, "_int4"), grid));
        assertArrayEquals(new Object[] {"TEXT", grid}, converted(new Column("a,b", Types.ARRAY, 1007, "_int4"), grid));
        assertArrayEquals(new Object[] {"_INT4", List.of("1")}, converted(new Column("g", Types.ARRAY, 1007, "_int4"), "{1}"));
    }

    @Test
    void anArrayOfWhatAPersonMadeIsAnArrayOfTexts() {
        Column pairs = new Column("ps", Types.ARRAY, 20003, "_date");  // of a type "Date", in another spelling
        assertArrayEquals(new Object[] {"_TEXT", List.of("(1,a)", "(2,\"b c\")")},
                converted(pairs, "{\"(1,a)\",\"(2,\\\"b c\\\")\"}"));
    }

    @Test
    void decidesByTheTypeBelowADomain() throws Exception {
        String area = "((0,0),(1,1))";
        assertArrayEquals(new Object[] {"TEXT", area},
                converted(new Column("a", Types.OTHER, 604, "area"), new PGpolygon(area)));
        assertArrayEquals(new Object[] {"TEXT", "{(1,1),(0,0)}"},
                converted(new Column("b", Types.ARRAY, 1020, "boxes"), "{(1,1),(0,0)}"));
        assertArrayEquals(new Object[] {"TEXT", "0/1"}, converted(new Column("l", Types.OTHER, 3220, "place"), "0/1"));
        assertNull(converted(new Column("l", Types.OTHER, 3220, "pg_lsn"), "0/1")[0]);
        assertArrayEquals(new Object[] {"MONEY", "1.50"},
                converted(new Column("m", Types.DOUBLE, 790, "cash"), new BigDecimal("1.50")));
        assertNull(converted(new Column("m", Types.DOUBLE, 790, "money"), new BigDecimal("1.50"))[0]);
        assertArrayEquals(new Object[] {"INTERVAL", "infinity"},
                converted(new Column("i", Types.OTHER, 1186, "pause"), new PGInterval("infinity")));
    }

    @Test
    void refusesWhatIsNoArray() {
        assertThrows(IllegalArgumentException.class, () -> PostgresArray.elements("[I@8e21f9e"));
    }
}
