package lake.iam;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;
import lake.iam.Judge.Question;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.authorizer.AuthorizerServerInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allows what the policies of the caller's role allow. Whoever did not log in came through a plain listener on loopback:
 * the broker itself, and the lake's own tools, which stand for the operator.
 */
public final class PolicyAuthorizer implements Authorizer {
    private static final Logger LOG = LoggerFactory.getLogger(PolicyAuthorizer.class);

    @Override
    public void configure(Map<String, ?> settings) {
        Iam.get();
    }

    @Override
    public Map<Endpoint, ? extends CompletionStage<Void>> start(AuthorizerServerInfo server) {
        return server.endpoints().stream()
                .collect(Collectors.toMap(Function.identity(), endpoint -> CompletableFuture.completedFuture(null)));
    }

    @Override
    public List<AuthorizationResult> authorize(AuthorizableRequestContext request, List<Action> actions) {
        return actions.stream().map(action -> authorize(request.principal(), action)).toList();
    }

    private AuthorizationResult authorize(KafkaPrincipal principal, Action action) {
        if (principal.equals(KafkaPrincipal.ANONYMOUS)) {
            return AuthorizationResult.ALLOWED;
        }
        Judge judge = Iam.get().judge;
        List<Question> needed =
                Rights.of(principal.getName(), action.operation(), action.resourcePattern(), judge.cluster());
        if (!needed.isEmpty() && needed.stream().allMatch(judge::may)) {
            return AuthorizationResult.ALLOWED;
        }
        if (action.logIfDenied()) {
            LOG.warn("{} may not {} {}", principal.getName(), action.operation(), action.resourcePattern());
        }
        return AuthorizationResult.DENIED;
    }

    /** "On any topic?" has no meaning in IAM. */
    @Override
    public AuthorizationResult authorizeByResourceType(
            AuthorizableRequestContext request, AclOperation operation, ResourceType type) {
        boolean known = !request.principal().equals(KafkaPrincipal.ANONYMOUS);
        return known ? AuthorizationResult.DENIED : AuthorizationResult.ALLOWED;
    }

    @Override
    public List<? extends CompletionStage<AclCreateResult>> createAcls(
            AuthorizableRequestContext request, List<AclBinding> acls) {
        throw new UnsupportedOperationException("rights are policies of IAM");
    }

    @Override
    public List<? extends CompletionStage<AclDeleteResult>> deleteAcls(
            AuthorizableRequestContext request, List<AclBindingFilter> filters) {
        throw new UnsupportedOperationException("rights are policies of IAM");
    }

    @Override
    public Iterable<AclBinding> acls(AclBindingFilter filter) {
        return List.of();
    }

    @Override
    public void close() {}
}
