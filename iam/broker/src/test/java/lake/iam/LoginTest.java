package lake.iam;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.msk.auth.iam.IAMClientCallbackHandler;
import software.amazon.msk.auth.iam.IAMLoginModule;

/** What AWS's own client sends is believed, and nothing that differs from it. */
class LoginTest {
    private static final String REGION = "eu-central-1"; // of the client, see pom.xml
    private static final String HOST = "127.0.0.1";

    @TempDir
    private Path folder;

    @BeforeEach
    void credentials() {
        System.setProperty("aws.accessKeyId", "AKIA");
        System.setProperty("aws.secretAccessKey", "secret");
        System.setProperty("aws.sessionToken", "token+/=");
    }

    private String login(byte[] message, String secret, String token) throws Exception {
        return login(MskIamLogin.request(message), secret, token, REGION);
    }

    private String login(SignedRequest request, String secret, String token, String region) throws Exception {
        String table = "{\"AKIA\": {\"secret\": \"%s\", \"token\": \"%s\", \"role\": \"Nodes\"}}";
        Path keys = Files.writeString(folder.resolve("keys.json"), table.formatted(secret, token));
        return request.verify(new Identities(keys), region);
    }

    private static byte[] sent() throws IOException {
        AppConfigurationEntry entry =
                new AppConfigurationEntry(IAMLoginModule.class.getName(), LoginModuleControlFlag.REQUIRED, Map.of());
        new IAMLoginModule(); // makes the client's mechanism known
        IAMClientCallbackHandler handler = new IAMClientCallbackHandler();
        handler.configure(Map.of(), MskIamLogin.MECHANISM, List.of(entry));
        String[] mechanisms = {MskIamLogin.MECHANISM};
        SaslClient client = Sasl.createSaslClient(mechanisms, null, "kafka", HOST, Map.of(), handler);
        return client.evaluateChallenge(new byte[0]);
    }

    private static byte[] changed(UnaryOperator<String> change) throws IOException {
        return change.apply(new String(sent(), StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aClientOfAwsIsKnownByItsRole() throws Exception {
        assertEquals("Nodes", login(sent(), "secret", "token+/="));
    }

    @Test
    void aClientWithoutASessionIsKnownToo() throws Exception {
        System.clearProperty("aws.sessionToken");
        assertEquals("Nodes", login(sent(), "secret", ""));
    }

    @ParameterizedTest
    @CsvSource({
        "other, token+/=, the signature does not match",
        "secret, stale, the session token is wrong",
        "secret, '', the session token is wrong",
    })
    void anotherKeyIsRefused(String secret, String token, String why) throws Exception {
        byte[] message = sent();
        assertEquals(why, assertThrows(SecurityException.class, () -> login(message, secret, token)).getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "\"host\":\"127.0.0.1\", \"host\":\"broker.example\", the signature does not match",
        "kafka-cluster:Connect, kafka-cluster:ReadData, its action is not kafka-cluster:Connect",
        "\"x-amz-expires\":\"900\", \"x-amz-expires\":\"0\", the signature has expired",
        "\"x-amz-expires\":\"900\", \"x-amz-expires\":\"901\", the signature does not match",
        "/kafka-cluster/aws4_request, /s3/aws4_request, it is not signed for kafka-cluster",
        "AKIA/, ASIA/, the access key is unknown",
    })
    void whatWasChangedOnTheWayIsRefused(String before, String after, String why) throws Exception {
        byte[] message = changed(text -> text.replace(before, after));
        assertEquals(
                why,
                assertThrows(SecurityException.class, () -> login(message, "secret", "token+/=")).getMessage());
    }

    @Test
    void aSignatureIsGoodInOneRegion() throws Exception {
        SignedRequest request = MskIamLogin.request(sent());
        assertThrows(SecurityException.class, () -> login(request, "secret", "token+/=", "eu-west-1"));
    }

    /** As aws-msk-iam-sasl-signer makes it: a signed URL with its own name added, in base64 without padding. */
    @Test
    void aTokenIsTheSameRequestAsAnUrl() throws Exception {
        StringBuilder url = new StringBuilder("https://" + HOST + "/?User-Agent=signer");
        MskIamLogin.query(sent()).forEach((name, value) -> url.append('&').append(name).append('=').append(encoded(value)));
        byte[] bytes = URI.create(url.toString()).toString().getBytes(StandardCharsets.UTF_8);
        String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        assertEquals("Nodes", login(TokenLogin.request(token), "secret", "token+/=", REGION));
    }

    private static String encoded(String text) {
        return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
