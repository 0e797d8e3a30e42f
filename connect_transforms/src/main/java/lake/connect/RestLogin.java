package lake.connect;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;

/**
 * Refuses every call of Connect's REST interface without a login (HTTP basic authentication), but for those in
 * {@link Logins#admits}. The worker's setting {@code lake.rest.login.file} names the file of the logins.
 *
 * <p>Kafka's own extension (org.apache.kafka.connect.rest.basic.auth.extension) refuses {@code /health} too, so that a
 * probe of Kubernetes would need the password in its manifest.
 */
public class RestLogin implements ConnectRestExtension {

    static final String FILE = "lake.rest.login.file";

    private Logins logins;

    @Override
    public void configure(Map<String, ?> configs) {
        if (!(configs.get(FILE) instanceof String file)) {
            throw new ConnectException("the worker has no setting " + FILE + "; name the file of the logins there");
        }
        logins = new Logins(Path.of(file));
    }

    @Override
    public void register(ConnectRestExtensionContext context) {
        context.configurable().register(new Gate(logins));
    }

    /** Of the worker: it refuses an extension without a version. */
    @Override
    public String version() {
        return AppInfoParser.getVersion();
    }

    @Override
    public void close() {}

    /** Jersey wants a filter of a class of its own. */
    record Gate(Logins logins) implements ContainerRequestFilter {

        private static final String REFUSED = "{\"error_code\": 401, \"message\": \"log in with a user and a password\"}";

        @Override
        public void filter(ContainerRequestContext request) {
            String path = request.getUriInfo().getPath();
            if (logins.admits(request.getMethod(), path, request.getHeaderString(HttpHeaders.AUTHORIZATION))) {
                return;
            }
            request.abortWith(Response.status(Response.Status.UNAUTHORIZED)
                    .header(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"Kafka Connect\"")
                    .type("application/json")
                    .entity(REFUSED)
                    .build());
        }
    }
}
