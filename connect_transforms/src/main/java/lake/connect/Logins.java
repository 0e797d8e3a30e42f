package lake.connect;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.connect.errors.ConnectException;

/** Who may call Connect's REST interface: the lines {@code user:password} of a file, which is read at each call. */
class Logins {

    private static final String SCHEME = "Basic ";
    // Connect itself verifies the signature of these calls between workers (KIP-507, KIP-618).
    private static final List<Pattern> SIGNED = List.of(
            Pattern.compile("POST /?connectors/[^/]+/tasks/?"), Pattern.compile("PUT /?connectors/[^/]+/fence/?"));
    // Probes ask it: it says whether the worker has started.
    private static final Pattern HEALTH = Pattern.compile("GET /?health/?");

    private final Path file;

    Logins(Path file) {
        this.file = file;
        lines(); // a worker whose logins nobody can read must not start
    }

    /** True for a call that logs in, and for one that needs no login. */
    boolean admits(String method, String path, String authorization) {
        String call = method + " " + path;
        boolean open = HEALTH.matcher(call).matches() || SIGNED.stream().anyMatch(one -> one.matcher(call).matches());
        return open || isKnown(authorization);
    }

    private boolean isKnown(String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return false;
        }
        try {
            byte[] given = Base64.getDecoder().decode(authorization.substring(SCHEME.length()).strip());
            return lines().stream().anyMatch(line -> MessageDigest.isEqual(bytes(line), given));
        } catch (IllegalArgumentException notBase64) {
            return false;
        }
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(file).stream().filter(line -> line.contains(":")).toList();
        } catch (IOException problem) {
            throw new ConnectException("the logins of the REST interface cannot be read: " + file, problem);
        }
    }

    private static byte[] bytes(String line) {
        return line.getBytes(StandardCharsets.UTF_8);
    }
}
