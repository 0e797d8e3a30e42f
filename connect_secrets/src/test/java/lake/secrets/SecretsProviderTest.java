package lake.secrets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsProviderTest {

    private static final String ARN = "arn:aws:secretsmanager:eu-central-1:000000000000:secret:database-AbCdEf";

    private final List<String> asked = new ArrayList<>();
    private HttpServer server;
    private String stored = "{\"username\": \"lake_capture\", \"password\": \"p:${x}\", \"port\": 5432}";
    private int status = 200;

    @BeforeEach
    void answer() throws IOException {
        System.setProperty("aws.accessKeyId", "key");
        System.setProperty("aws.secretAccessKey", "word");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestHeaders().getFirst("X-Amz-Target") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            String escaped = stored.replace("\\", "\\\\").replace("\"", "\\\"");
            String text = status == 200
                    ? "{\"SecretString\": \"" + escaped + "\"}"
                    : "{\"__type\": \"AccessDeniedException\", \"Message\": \"not authorized\"}";
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private SecretsProvider provider() {
        SecretsProvider provider = new SecretsProvider();
        String endpoint = "http://127.0.0.1:" + server.getAddress().getPort();
        provider.configure(Map.of("region", "eu-central-1", "secrets", "database=" + ARN, "endpoint", endpoint));
        return provider;
    }

    @Test
    void aFieldIsReadUnchanged() {
        Map<String, String> found = provider().get("database", Set.of("username", "password")).data();
        assertEquals(Map.of("username", "lake_capture", "password", "p:${x}"), found);
        assertEquals(List.of("secretsmanager.GetSecretValue {\"SecretId\":\"" + ARN + "\"}"), asked);
    }

    @Test
    void aNumberIsText() {
        assertEquals("5432", provider().get("database").data().get("port"));
    }

    @Test
    void aNewPasswordIsReadAtTheNextStart() {
        SecretsProvider provider = provider();
        provider.get("database");
        stored = "{\"password\": \"new\"}";
        assertEquals("new", provider.get("database", Set.of("password")).data().get("password"));
    }

    @Test
    void anotherSecretIsNotReadAtAll() {
        assertThrows(ConfigException.class, () -> provider().get("rest", Set.of("password")));
        assertTrue(asked.isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"hunter2", "[\"hunter2\"]", "{\"hunter2\"", ""})
    void whatIsNotAnObjectIsToldButNotShown(String secret) {
        stored = secret;
        var problem = assertThrows(ConfigException.class, () -> provider().get("database", Set.of("password")));
        assertTrue(problem.getMessage().contains("'database'"), problem.getMessage());
        assertFalse(problem.getMessage().contains("hunter2"), problem.getMessage());
    }

    @Test
    void aMissingFieldAndADeniedCallAreNamed() {
        var missing = assertThrows(ConfigException.class, () -> provider().get("database", Set.of("word")));
        assertTrue(missing.getMessage().contains("has no field 'word'"), missing.getMessage());
        status = 400;
        var denied = assertThrows(ConfigException.class, () -> provider().get("database", Set.of("password")));
        assertTrue(denied.getMessage().contains("not authorized"), denied.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "database", "database="})
    void aWrongParameterStopsTheWorker(String secrets) {
        Map<String, String> configs = Map.of("region", "eu-central-1", "secrets", secrets);
        assertThrows(ConfigException.class, () -> new SecretsProvider().configure(configs));
    }
}
