package lake.iam;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.security.Provider;
import java.security.Security;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.security.auth.Subject;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.spi.LoginModule;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;

/**
 * The broker's half of aws-msk-iam-auth, mechanism AWS_MSK_IAM. A listener names this class in sasl.jaas.config; loading
 * it makes the mechanism known.
 */
public final class MskIamLogin implements LoginModule {
    static final String MECHANISM = "AWS_MSK_IAM";
    private static final ObjectMapper JSON = new ObjectMapper();
    // The client sends one message of JSON: host, user-agent, version, and the signed query with its names in lower case.
    private static final Map<String, String> NAMES = Map.of(
            "action", "Action",
            "x-amz-algorithm", "X-Amz-Algorithm",
            "x-amz-credential", "X-Amz-Credential",
            "x-amz-date", "X-Amz-Date",
            "x-amz-expires", "X-Amz-Expires",
            "x-amz-security-token", "X-Amz-Security-Token",
            "x-amz-signature", SignedRequest.SIGNATURE,
            "x-amz-signedheaders", "X-Amz-SignedHeaders");

    static {
        Security.addProvider(new Mechanism());
    }

    static SignedRequest request(byte[] message) throws IOException {
        return new SignedRequest(fields(message).get("host"), query(message));
    }

    static Map<String, String> query(byte[] message) throws IOException {
        Map<String, String> fields = fields(message);
        return NAMES.keySet().stream().filter(fields::containsKey).collect(Collectors.toMap(NAMES::get, fields::get));
    }

    private static Map<String, String> fields(byte[] message) throws IOException {
        return JSON.readValue(message, new TypeReference<Map<String, String>>() {});
    }

    /** One login; Java makes the servers of a mechanism by an instance of the same class. */
    public static final class Server implements SaslServer, SaslServerFactory {
        private String role;

        @Override
        public byte[] evaluateResponse(byte[] message) throws SaslException {
            try {
                role = Iam.get().login(MECHANISM, request(message));
                String id = UUID.randomUUID().toString();
                return JSON.writeValueAsBytes(Map.of("version", "2020_10_22", "request-id", id));
            } catch (IOException problem) {
                throw new SaslException("the message is not what aws-msk-iam-auth sends", problem);
            }
        }

        @Override
        public String getMechanismName() {
            return MECHANISM;
        }

        @Override
        public boolean isComplete() {
            return role != null;
        }

        @Override
        public String getAuthorizationID() {
            return role;
        }

        @Override
        public byte[] unwrap(byte[] bytes, int start, int length) {
            return Arrays.copyOfRange(bytes, start, start + length);
        }

        @Override
        public byte[] wrap(byte[] bytes, int start, int length) {
            return Arrays.copyOfRange(bytes, start, start + length);
        }

        @Override
        public Object getNegotiatedProperty(String name) {
            return null; // a session lasts as long as connections.max.reauth.ms says
        }

        @Override
        public void dispose() {}

        @Override
        public SaslServer createSaslServer(
                String mechanism, String protocol, String name, Map<String, ?> settings, CallbackHandler handler) {
            return new Server();
        }

        @Override
        public String[] getMechanismNames(Map<String, ?> settings) {
            return new String[] {MECHANISM};
        }
    }

    private static final class Mechanism extends Provider {
        private static final long serialVersionUID = 1L;

        Mechanism() {
            super("lake.iam", "1", "the server of " + MECHANISM);
            put("SaslServerFactory." + MECHANISM, Server.class.getName());
        }
    }

    @Override
    public void initialize(Subject subject, CallbackHandler handler, Map<String, ?> shared, Map<String, ?> options) {}

    @Override
    public boolean login() {
        return true;
    }

    @Override
    public boolean commit() {
        return true;
    }

    @Override
    public boolean abort() {
        return false;
    }

    @Override
    public boolean logout() {
        return true;
    }
}
