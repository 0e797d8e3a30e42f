package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.sql.Date;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.GregorianCalendar;
import java.util.List;
import org.junit.jupiter.api.Test;

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

    @Test
    void refusesWhatIsNoArray() {
        assertThrows(IllegalArgumentException.class, () -> PostgresArray.elements("[I@8e21f9e"));
    }
}
