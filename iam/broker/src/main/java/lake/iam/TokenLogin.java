package lake.iam;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/** The broker's half of AWS's signers for Python, Go and JavaScript: an OAUTHBEARER token is a signed URL in base64. */
public final class TokenLogin implements AuthenticateCallbackHandler {
    @Override
    public void configure(Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> entries) {}

    @Override
    public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (!(callback instanceof OAuthBearerValidatorCallback wanted)) {
                throw new UnsupportedCallbackException(callback);
            }
            validate(wanted);
        }
    }

    private static void validate(OAuthBearerValidatorCallback wanted) {
        try {
            SignedRequest request = request(wanted.tokenValue());
            String role = Iam.get().login("OAUTHBEARER", request);
            wanted.token(new Token(wanted.tokenValue(), role, request.expires()));
        } catch (SaslAuthenticationException | IllegalArgumentException | SecurityException problem) {
            wanted.error("invalid_token", null, null);
        }
    }

    static SignedRequest request(String token) {
        URI url = URI.create(new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8));
        Map<String, String> query = new HashMap<>();
        for (String pair : url.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            query.put(decoded(parts[0]), decoded(parts[1]));
        }
        query.remove("User-Agent"); // the signers add it after they signed
        return new SignedRequest(url.getHost(), query);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private record Token(String value, String principalName, Instant expires) implements OAuthBearerToken {
        @Override
        public Set<String> scope() {
            return Set.of();
        }

        @Override
        public long lifetimeMs() {
            return expires.toEpochMilli();
        }

        @Override
        public Long startTimeMs() {
            return null;
        }
    }

    @Override
    public void close() {}
}
