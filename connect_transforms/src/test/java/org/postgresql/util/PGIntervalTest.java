package org.postgresql.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PGIntervalTest {

    @ParameterizedTest
    @CsvSource({
        "00:00:00,                              P0Y0M0DT0H0M0S",
        "1 year 2 mons 3 days 04:05:06.7,       P1Y2M3DT4H5M6.7S",
        "10 mons 3 days,                        P0Y10M3DT0H0M0S",
        "-1 years -2 mons +3 days -04:05:06.50, P-1Y-2M3DT-4H-5M-6.5S",
        "1 day -00:00:00.000001,                P0Y0M1DT0H0M-0.000001S",
        "2562047788:00:54.775807,               P0Y0M0DT2562047788H0M54.775807S",
        "178000000 years,                       P178000000Y0M0DT0H0M0S",
        "infinity,                              infinity",
        "-infinity,                             -infinity",
    })
    void saysAllFields(String text, String iso) throws Exception {
        assertEquals(iso, new PGInterval(text).iso());
    }

    @Test
    void keepsTheTextInTheObjectOfTheDriver() throws Exception {
        PGobject interval = new PGInterval("-infinity");
        assertEquals("interval", interval.getType());
        assertEquals("-infinity", interval.getValue());
    }

    @Test
    void givesADefaultItsFields() throws Exception {
        PGInterval pause = new PGInterval("1 mon -01:30:00.5");
        assertEquals(List.of(0, 1, 0, -1, -30, -0.5), List.of(pause.getYears(), pause.getMonths(), pause.getDays(),
                pause.getHours(), pause.getMinutes(), pause.getSeconds()));
        assertEquals(0, new PGInterval("epoch").getYears());  // Debezium's, where a default is a function
    }

    @Test
    void itsJarComesBeforeTheDriver() {
        URL driver = PGobject.class.getProtectionDomain().getCodeSource().getLocation();
        assertTrue("lake-transforms.jar".compareTo(Path.of(driver.getPath()).getFileName().toString()) < 0);
    }
}
