package lake.connect;

import io.debezium.spi.converter.CustomConverter;
import io.debezium.spi.converter.RelationalColumn;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * Replaces the values of columns by their HMAC-SHA-256, 64 hexadecimal digits: equal values stay equal, and nobody who
 * lacks the secret can try values out. As a converter it comes before every record: no transform, log, topic or bad
 * message ever has the value.
 *
 * <ul>
 *   <li>{@code columns}: patterns of {@code schema.table.column}, separated by commas.</li>
 *   <li>{@code secret}: the key. Debezium masks settings of this name in its log.</li>
 * </ul>
 *
 * NULL stays NULL, and a large value that did not change and was not sent becomes the placeholder of
 * {@link NameUnavailable}. Must come before {@link ExactColumns} in the list of converters.
 */
public class HashedColumns implements CustomConverter<SchemaBuilder, RelationalColumn> {

    private static final String ALGORITHM = "HmacSHA256";
    private static final String SOURCE = "__debezium.source.column.";

    private List<Pattern> columns = List.of();
    private SecretKeySpec key;

    @Override
    public void configure(Properties properties) {
        columns = Arrays.stream(properties.getProperty("columns").split(",")).map(Pattern::compile).toList();
        String secret = properties.getProperty("secret", "");
        if (secret.isBlank()) {
            throw new IllegalArgumentException("there is no secret to hash columns with");
        }
        key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    }

    @Override
    public void converterFor(RelationalColumn column, ConverterRegistration<SchemaBuilder> registration) {
        String name = column.dataCollection() + "." + column.name();
        if (columns.stream().noneMatch(pattern -> pattern.matcher(name).matches())) {
            return;
        }
        SchemaBuilder text = SchemaBuilder.string().parameters(Map.of("lake.type", "TEXT", SOURCE + "type", "TEXT"));
        if (column.isOptional()) {
            text.optional();
        }
        // A delete under REPLICA IDENTITY DEFAULT has no value even for a column that is NOT NULL.
        Object absent = column.isOptional() ? null : "";
        registration.register(text, value -> value == null ? absent
                : ExactColumns.isUnchangedLargeValue(value) ? NameUnavailable.PLACEHOLDER : hashed(value.toString()));
    }

    /** The text as PostgreSQL writes it. */
    String hashed(String text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException impossible) {  // without the value
            throw new IllegalStateException(ALGORITHM + " is not there");
        }
    }
}
