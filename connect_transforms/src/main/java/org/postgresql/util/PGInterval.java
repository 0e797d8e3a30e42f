package org.postgresql.util;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lake.connect.KeptText;

/**
 * The driver's class (42.7.13) makes zero of ±infinity, and fails for more than 2147483647 hours, which stops the connector.
 */
public class PGInterval extends KeptText {

    // IntervalStyle "postgres", which each session of ours has. A field of zero is left out.
    private static final Pattern FIELDS = Pattern.compile("(?:([+-]?\\d+) years? ?)?(?:([+-]?\\d+) mons? ?)?"
            + "(?:([+-]?\\d+) days? ?)?(?:([+-]?)(\\d+):(\\d+):(\\d+(?:\\.\\d+)?))?");
    private static final int SIGN = 4;
    private static final String[] UNITS = {"", "Y", "M", "DT", "", "H", "M", "S"};

    public PGInterval() {
        super("interval");
    }

    public PGInterval(String value) throws SQLException {
        super("interval", value);
    }

    /**
     * ISO 8601 with all fields, as Debezium writes it under {@code interval.handling.mode=string}:
     * {@code 1 year 3 days -04:05:06.50} is {@code P1Y0M3DT-4H-5M-6.5S}. Both infinities keep their names.
     */
    public String iso() {
        Matcher fields = FIELDS.matcher(value);
        if (!fields.matches()) {
            return value;
        }
        StringBuilder text = new StringBuilder("P");
        for (int group = 1; group < UNITS.length; group++) {
            if (group != SIGN) {
                text.append(number(fields, group).stripTrailingZeros().toPlainString()).append(UNITS[group]);
            }
        }
        return text.toString();
    }

    // Debezium asks for these where an interval is the default of a column.
    public int getYears() {
        return field(1).intValue();
    }

    public int getMonths() {
        return field(2).intValue();
    }

    public int getDays() {
        return field(3).intValue();
    }

    public int getHours() {
        return field(5).intValue();
    }

    public int getMinutes() {
        return field(6).intValue();
    }

    public double getSeconds() {
        return field(7).doubleValue();
    }

    /** Zero where the text is no finite interval: an exception would stop all tables. */
    private BigDecimal field(int group) {
        Matcher fields = FIELDS.matcher(value);
        return fields.matches() ? number(fields, group) : BigDecimal.ZERO;
    }

    private static BigDecimal number(Matcher fields, int group) {
        if (fields.group(group) == null) {
            return BigDecimal.ZERO;
        }
        BigDecimal number = new BigDecimal(fields.group(group));
        return group > SIGN && "-".equals(fields.group(SIGN)) ? number.negate() : number;
    }
}
