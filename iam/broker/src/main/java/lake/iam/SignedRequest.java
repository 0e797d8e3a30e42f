package lake.iam;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A request for kafka-cluster:Connect, signed by Signature Version 4 in its query: what every client of MSK's IAM login
 * sends, in one wrapping or another. AWS documents the calculation under "Create a signed AWS API request".
 */
final class SignedRequest {
    static final String SIGNATURE = "X-Amz-Signature";
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final Duration SKEW = Duration.ofMinutes(5);
    private final String host;
    private final SortedMap<String, String> query;
    private final String[] scope; // access key, day, region, service, "aws4_request"

    /** query: as it was signed, and the signature. */
    SignedRequest(String host, Map<String, String> query) {
        this.host = host;
        this.query = new TreeMap<>(query);
        this.scope = query.getOrDefault("X-Amz-Credential", "").split("/");
        require(scope.length == 5 && "kafka-cluster".equals(scope[3]), "it is not signed for kafka-cluster");
        require("kafka-cluster:Connect".equals(query.get("Action")), "its action is not kafka-cluster:Connect");
    }

    /** When the signature ends. */
    Instant expires() {
        return signed().plusSeconds(Long.parseLong(query.get("X-Amz-Expires")));
    }

    private Instant signed() {
        return Instant.from(STAMP.parse(query.get("X-Amz-Date")));
    }

    /** The role of the signer; SecurityException with the reason if the request proves nothing. */
    String verify(Identities identities, String region) throws IOException, GeneralSecurityException {
        Instant now = Instant.now();
        require(now.isBefore(expires()), "the signature has expired");
        require(signed().isBefore(now.plus(SKEW)), "the signature is of the future");
        require(region.equals(scope[2]), "it is signed for region " + scope[2]);
        Identities.Identity who = identities.of(scope[0]);
        require(who.token().equals(query.getOrDefault("X-Amz-Security-Token", "")), "the session token is wrong");
        byte[] given = query.getOrDefault(SIGNATURE, "").getBytes(StandardCharsets.UTF_8);
        byte[] right = signature(who.secret()).getBytes(StandardCharsets.UTF_8);
        require(MessageDigest.isEqual(right, given), "the signature does not match");
        return who.role();
    }

    private String signature(String secret) throws GeneralSecurityException {
        String day = String.join("/", scope[1], scope[2], scope[3], scope[4]);
        String toSign = String.join("\n", "AWS4-HMAC-SHA256", query.get("X-Amz-Date"), day, hash(canonical()));
        byte[] key = ("AWS4" + secret).getBytes(StandardCharsets.UTF_8);
        for (int part = 1; part < scope.length; part++) {
            key = hmac(key, scope[part]);
        }
        return HexFormat.of().formatHex(hmac(key, toSign));
    }

    private String canonical() throws GeneralSecurityException {
        String parameters = query.entrySet().stream()
                .filter(one -> !one.getKey().equals(SIGNATURE))
                .map(one -> encoded(one.getKey()) + "=" + encoded(one.getValue()))
                .collect(Collectors.joining("&"));
        return String.join("\n", "GET", "/", parameters, "host:" + host, "", "host", hash(""));
    }

    private static String encoded(String text) {
        String form = URLEncoder.encode(text, StandardCharsets.UTF_8);
        return form.replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static String hash(String text) throws GeneralSecurityException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new SecurityException(otherwise);
        }
    }
}
