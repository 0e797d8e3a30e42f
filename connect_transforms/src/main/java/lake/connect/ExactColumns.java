package lake.connect;

import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Types;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.postgresql.util.PGInterval;

/**
 * Converts the PostgreSQL columns whose values Debezium's own conversion would change. {@code texts}: patterns of columns,
 * with commas in between, that become PostgreSQL's own text: arrays that are declared with several dimensions.
 *
 * <ul>
 *   <li>{@code date}: Debezium's snapshot drops "BC" and returns the infinities as days inside the finite range. Here
 *       both infinities are the ends of the int32 range, in a snapshot and in the stream.</li>
 *   <li>Arrays of any type: an array of the elements' PostgreSQL texts. Debezium loses NULL elements of enum
 *       arrays, 24:00, numeric specials and whole columns of some types. An array of more than one dimension becomes
 *       one element that starts with U+0000, which no text of PostgreSQL does: a reader must refuse it.</li>
 *   <li>Composite types, ranges that a person has made, types of extensions, and the geometric ones except
 *       {@code point} ({@link KeptText}): PostgreSQL's own text, {@code (1,"a b")}. An array of a type that a person has
 *       made is an array of such texts.</li>
 *   <li>{@code bit varying}: its text; otherwise the length is lost ('001' and '1' are the same bytes).</li>
 *   <li>{@code timetz}: its text with its zone, in which PostgreSQL tells values apart. Debezium drops the zone, and
 *       fails for one with seconds, such as the local mean times of the nineteenth century.</li>
 *   <li>{@code interval}: ISO 8601, or the name of an infinity ({@link PGInterval}).</li>
 *   <li>{@code numeric}, {@code money} and types without a conversion of Debezium's behind a domain: their text under
 *       the name of the type itself, with precision and scale.</li>
 * </ul>
 *
 * A large value that did not change and was not sent becomes the placeholder of {@link NameUnavailable}.
 * The source type goes into the schema's parameters in the form of {@code column.propagate.source.type}.
 */
public class ExactColumns implements CustomConverter<SchemaBuilder, RelationalColumn> {

    private static final String SOURCE = "__debezium.source.column.";
    // Debezium overwrites the source type with the name of a domain; this parameter stays.
    private static final String BASE_TYPE = "lake.type";
    private static final int FIRST_MADE = 16384;  // the oid of the first type that is not PostgreSQL's own
    private static final Set<String> TEXTS_ALREADY = Set.of("citext", "ltree", "hstore");
    // Of PostgreSQL's own types. Semicolons are between the elements of a box[]. The name may be that of a domain, and the
    // oid that of a column before an ALTER TYPE.
    private static final Map<Integer, String> TEXTS = Map.of(603, "box", 1020, "_box", 718, "circle", 628, "line",
            601, "lseg", 602, "path", 604, "polygon", 29, "cid", 27, "tid");
    // Of these Debezium sends the bytes of the text, except behind a domain, whose name says nothing to a reader.
    private static final Map<Integer, String> BYTES = Map.ofEntries(Map.entry(3220, "pg_lsn"), Map.entry(28, "xid"),
            Map.entry(5069, "xid8"), Map.entry(2970, "txid_snapshot"), Map.entry(5038, "pg_snapshot"),
            Map.entry(3615, "tsquery"), Map.entry(4072, "jsonpath"), Map.entry(4451, "int4multirange"),
            Map.entry(4532, "nummultirange"), Map.entry(4533, "tsmultirange"), Map.entry(4534, "tstzmultirange"),
            Map.entry(4535, "datemultirange"), Map.entry(4536, "int8multirange"));
    private static final int DATE = 1082;
    private static final Map<Integer, String> DECIMALS = Map.of(1700, "numeric", 790, "money");
    private static final int VARBIT = 1562;
    private static final int TIMETZ = 1266;
    private static final int INTERVAL = 1186;
    private static final long FINITE_MS = 200_000_000_000_000_000L;  // far beyond the year 5874897
    // PostgreSQL's first and last finite date. The stream sends days beyond them for the infinities.
    private static final long FIRST_DAY = -2_440_550;
    private static final long LAST_DAY = 2_145_042_905;

    private List<Pattern> texts = List.of();

    @Override
    public void configure(Properties properties) {
        String patterns = properties.getProperty("texts", "");
        texts = Arrays.stream(patterns.split(",")).filter(one -> !one.isEmpty()).map(Pattern::compile).toList();
    }

    @Override
    public void converterFor(RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        if (isText(column)) {
            register(column, SchemaBuilder.string(), "TEXT", Object::toString, "", NameUnavailable.PLACEHOLDER,
                    registration);
        } else if (column.jdbcType() == Types.ARRAY) {  // the name of another type may begin with _, too
            SchemaBuilder elements = SchemaBuilder.array(SchemaBuilder.string().optional().build());
            String type = column.nativeType() < FIRST_MADE ? column.typeName() : "_TEXT";
            register(column, elements, type, ExactColumns::elements, List.of(),
                    List.of(NameUnavailable.PLACEHOLDER), registration);
        } else if (column.nativeType() == DATE) {
            SchemaBuilder days = SchemaBuilder.int32().name("io.debezium.time.Date").version(1);
            register(column, days, "DATE", ExactColumns::days, 0, null, registration);
        } else if (column.nativeType() == VARBIT) {
            register(column, SchemaBuilder.string(), "VARBIT", Object::toString, "",
                    NameUnavailable.PLACEHOLDER, registration);
        } else if (column.nativeType() == TIMETZ) {
            register(column, SchemaBuilder.string(), "TIMETZ", Object::toString, "00:00:00+00", null, registration);
        } else if (column.nativeType() == INTERVAL) {
            SchemaBuilder iso = SchemaBuilder.string().name("io.debezium.time.Interval").version(1);
            register(column, iso, "INTERVAL", ExactColumns::iso, "P0Y0M0DT0H0M0S", null, registration);
        } else if (isDomain(column, DECIMALS)) {
            register(column, SchemaBuilder.string(), DECIMALS.get(column.nativeType()), ExactColumns::digits, "0",
                    NameUnavailable.PLACEHOLDER, registration);
        }
    }

    /** In a snapshot the driver has an object for the value, in the stream it is a text: both say PostgreSQL's own. */
    private boolean isText(RelationalColumn column) {
        boolean isMade = column.jdbcType() == Types.OTHER && column.nativeType() >= FIRST_MADE
                && !TEXTS_ALREADY.contains(column.typeName());
        boolean isOwn = TEXTS.containsKey(column.nativeType()) || TEXTS.containsValue(column.typeName());
        String name = column.dataCollection() + "." + column.name();
        return column.jdbcType() == Types.STRUCT || isMade || isOwn || isDomain(column, BYTES)
                || texts.stream().anyMatch(pattern -> pattern.matcher(name).matches());
    }

    /** True of a domain over one of the types: the name of the column's type is that of the domain, the oid is not. */
    private static boolean isDomain(RelationalColumn column, Map<Integer, String> types) {
        String type = types.get(column.nativeType());
        return type != null && !type.equals(column.typeName());
    }

    private static void register(RelationalColumn column, SchemaBuilder schema, String type, Converter converter,
            Object fallback, Object unavailable, ConverterRegistration<SchemaBuilder> registration) {
        schema.parameters(Map.of(
                BASE_TYPE, type.toUpperCase(Locale.ROOT),
                SOURCE + "type", type.toUpperCase(Locale.ROOT),
                SOURCE + "length", String.valueOf(column.length().orElse(0)),
                SOURCE + "scale", String.valueOf(column.scale().orElse(0))));
        if (column.isOptional()) {
            schema.optional();
        }
        // A delete under REPLICA IDENTITY DEFAULT has no value even for a column that is NOT NULL.
        Object absent = column.isOptional() ? null : fallback;
        registration.register(schema, value -> value == null ? absent
                : isUnchangedLargeValue(value) ? unavailable : converter.convert(value));
    }

    /** Debezium's markers, one for each form of its placeholder, are plain objects; no real value is one. */
    static boolean isUnchangedLargeValue(Object value) {
        return value.getClass() == Object.class;
    }

    /** What is no array gets the mark of one that a reader must refuse: an exception would stop all tables. */
    static Object elements(Object value) {
        try {
            return PostgresArray.elements(value);
        } catch (RuntimeException unreadable) {
            return List.of(PostgresArray.NESTED + value);
        }
    }

    /** Debezium converts the default of a column by itself, before it asks the converter. */
    private static Object iso(Object value) {
        return value instanceof PGInterval interval ? interval.iso() : value;
    }

    static Object days(Object value) {
        if (value instanceof Date date) {
            return date.getTime() > FINITE_MS ? Integer.MAX_VALUE
                    : date.getTime() < -FINITE_MS ? Integer.MIN_VALUE
                    : Math.toIntExact(proleptic(date).toEpochDay());
        }
        long day = value instanceof LocalDate date ? date.toEpochDay() : ((Number) value).longValue();
        return day > LAST_DAY ? Integer.MAX_VALUE : day < FIRST_DAY ? Integer.MIN_VALUE : (int) day;
    }

    /** The driver puts the fields of PostgreSQL's date into a calendar that is Julian before 1582; they are right. */
    private static LocalDate proleptic(Date date) {
        Calendar fields = new GregorianCalendar();
        fields.setTime(date);
        int year = fields.get(Calendar.YEAR);
        boolean beforeChrist = fields.get(Calendar.ERA) == GregorianCalendar.BC;
        return LocalDate.of(beforeChrist ? 1 - year : year, fields.get(Calendar.MONTH) + 1,
                fields.get(Calendar.DAY_OF_MONTH));
    }

    /** Debezium passes a decimal in its own class; its toString is the plain number, or NAN. */
    private static Object digits(Object value) {
        return value instanceof BigDecimal decimal ? decimal.toPlainString() : value.toString();
    }
}
