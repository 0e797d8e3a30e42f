package lake.iam;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Who an access key belongs to. The table is read for each login, so that a new key is known at once. */
final class Identities {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path path;

    Identities(Path path) {
        this.path = path;
    }

    /** token: of the session; "" for a key that is not temporary. */
    record Identity(String secret, String token, String role) {}

    Identity of(String accessKey) throws IOException {
        Identity found = JSON.readValue(path.toFile(), new TypeReference<Map<String, Identity>>() {}).get(accessKey);
        if (found == null) {
            throw new SecurityException("the access key is unknown");
        }
        return found;
    }
}
