package lake.connect;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;

/** The content of a row as a hash, by which a row without a key is found again. */
final class Contents {

    private static final int KEPT = 16;  // bytes of the hash: no two of 2^60 rows have the same by chance
    private static final String NULL = "-";  // every other text begins with its length

    private Contents() {}

    /**
     * Over the names and values of the columns that are not NULL, in the order of the names. So a column that is added, and
     * is NULL in the rows that are there already, changes no hash.
     */
    static String of(Struct row) {
        byte[] text = text(row).getBytes(StandardCharsets.UTF_8);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text), 0, KEPT);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** With its length before each part, so that no other parts make the same text. */
    private static String text(Object value) {
        if (value == null) {
            return NULL;
        }
        String text = plain(value);
        return text.length() + ":" + text;
    }

    private static String plain(Object value) {
        if (value instanceof Struct row) {
            return row.schema().fields().stream().map(Field::name).sorted()
                    .filter(name -> row.getWithoutDefault(name) != null)
                    .map(name -> text(name) + text(row.getWithoutDefault(name))).collect(Collectors.joining());
        }
        if (value instanceof List<?> items) {
            return items.stream().map(Contents::text).collect(Collectors.joining());
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().sorted(Comparator.comparing(one -> text(one.getKey())))
                    .map(one -> text(one.getKey()) + text(one.getValue())).collect(Collectors.joining());
        }
        if (value instanceof ByteBuffer bytes) {
            return bytes(bytes.duplicate());
        }
        return value instanceof byte[] bytes ? bytes(ByteBuffer.wrap(bytes)) : value.toString();
    }

    private static String bytes(ByteBuffer given) {
        byte[] bytes = new byte[given.remaining()];
        given.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
