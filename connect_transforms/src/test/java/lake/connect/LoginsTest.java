package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoginsTest {

    @TempDir
    Path folder;

    private Logins logins(String text) throws IOException {
        return new Logins(Files.writeString(folder.resolve("login"), text));
    }

    private static String basic(String login) {
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aKnownUserIsAdmitted() throws IOException {
        Logins logins = logins("operator:pass:word\nother:second\n");
        assertTrue(logins.admits("PUT", "connectors/a/config", basic("operator:pass:word")));
        assertTrue(logins.admits("DELETE", "connectors/a", basic("other:second").replace("Basic", "basic")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"operator:wrong", "operator:", ":", "", "operator", "intruder:word", "operator:word\n"})
    void nobodyElseIs(String login) throws IOException {
        assertFalse(logins("operator:word\n\n").admits("GET", "connectors", basic(login)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Basic", "Basic %%", "Bearer b3BlcmF0b3I6d29yZA==", "b3BlcmF0b3I6d29yZA=="})
    void anotherHeaderIsNoLogin(String header) throws IOException {
        assertFalse(logins("operator:word").admits("GET", "connectors", header));
    }

    @ParameterizedTest
    @CsvSource({
        "GET, health, true",
        "POST, connectors/a/tasks, true",
        "PUT, connectors/a/fence, true",
        "GET, '', false",
        "GET, connectors, false",
        "GET, connectors/a/tasks, false",
        "POST, connectors, false",
        "PUT, health, false",
        "GET, connectors/health, false",
        "POST, connectors/a/b/tasks, false",
        "GET, admin/loggers, false",
    })
    void withoutALoginOnlyProbesAndWorkersAre(String method, String path, boolean admitted) throws IOException {
        assertEquals(admitted, logins("operator:word").admits(method, path, null));
    }

    @Test
    void aNewPasswordIsKnownAtOnce() throws IOException {
        Logins logins = logins("operator:old");
        Files.writeString(folder.resolve("login"), "operator:new");
        assertTrue(logins.admits("GET", "connectors", basic("operator:new")));
        assertFalse(logins.admits("GET", "connectors", basic("operator:old")));
    }

    @Test
    void theExtensionHasTheVersionThatAWorkerDemands() {
        assertFalse(new RestLogin().version().isEmpty());
    }

    @Test
    void aWorkerWithoutLoginsDoesNotStart() {
        assertThrows(ConnectException.class, () -> new Logins(folder.resolve("none")));
        assertThrows(ConnectException.class, () -> new RestLogin().configure(Map.of()));
    }
}
