package lake.connect;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/** The names of topics and of columns in the lake. The same rules are in lake/config/naming.py, which explains them. */
final class Names {

    private static final int PART_LIMIT = 80;
    private static final String OWN = "source";  // begins the name of a column that has one of the lake's own names
    private static final Set<String> ADDED = Set.of("__op", "__db", "__table", "__schema", "__lsn", "__source_ts_ms",
            "__deleted", "_order", "_key", "__unavailable", "__moved_from", "__run", "__row", "__content",
            "__was", "__ended_by");
    private static final Pattern AMBIGUOUS_DASH = Pattern.compile("-(?=[0-9a-f]{2})");
    private static final Pattern UPPER = Pattern.compile("[A-Z]");

    private Names() {}

    /** A part of a topic: each name has another one. -xx stands for a byte of UTF-8 that is no letter, digit or _. */
    static String topicPart(String name) {
        String kept = AMBIGUOUS_DASH.matcher(name).replaceAll("\0");
        String found = kept.codePoints().mapToObj(Names::inTopic).collect(Collectors.joining());
        return found.length() <= PART_LIMIT ? found : found.substring(0, PART_LIMIT - 19) + "-61" + digest(name);
    }

    private static String inTopic(int character) {
        if (isPlain(character) || character == '-' || character >= 'A' && character <= 'Z') {
            return Character.toString(character);
        }
        byte[] bytes = (character == 0 ? "-" : Character.toString(character)).getBytes(StandardCharsets.UTF_8);
        return "-" + HexFormat.ofDelimiter("-").formatHex(bytes);
    }

    private static String digest(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The name in the lake of each column of a row. key: those of the key, which are named first. chosen: by a person. */
    static Map<String, String> storedColumns(List<String> names, List<String> key, Map<String, String> chosen) {
        Map<String, String> found = new LinkedHashMap<>();
        Set<String> taken = new HashSet<>(chosen.values());
        Set<String> inOrder = new LinkedHashSet<>(key);
        inOrder.addAll(names);
        for (String name : inOrder) {
            String stored = chosen.containsKey(name) ? chosen.get(name) : free(name, taken);
            taken.add(stored);
            found.put(name, stored);
        }
        return found;
    }

    private static String free(String name, Set<String> taken) {
        String stored = storedColumn(name);
        if (taken.contains(stored)) {
            stored += "_" + checksum(name);
        }
        while (taken.contains(stored)) {
            stored += "_";
        }
        return stored;
    }

    private static String storedColumn(String name) {
        String folded = folded(name);
        boolean isOwn = folded.startsWith("_hoodie") || folded.startsWith("_toast_") || ADDED.contains(folded);
        return isOwn ? OWN + folded : folded;
    }

    private static String folded(String name) {
        String lower = UPPER.matcher(name).replaceAll(upper -> String.valueOf((char) (upper.group().charAt(0) + 32)));
        String found = lower.codePoints().mapToObj(one -> isPlain(one) ? Character.toString(one) : "_")
                .collect(Collectors.joining());
        return found.charAt(0) >= '0' && found.charAt(0) <= '9' ? "_" + found : found;
    }

    private static boolean isPlain(int character) {
        return character >= 'a' && character <= 'z' || character >= '0' && character <= '9' || character == '_';
    }

    private static String checksum(String name) {
        CRC32 sum = new CRC32();
        sum.update(name.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", sum.getValue());
    }
}
