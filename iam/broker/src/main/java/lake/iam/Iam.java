package lake.iam;

import java.nio.file.Path;
import lake.iam.Judge.Question;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the two logins and the authorizer of a broker share. The system property lake.iam names a folder: keys.json says who
 * may log in, account.json has the roles and their policies as iam/roles.py writes them, and decisions.jsonl receives each
 * decision once. lake.iam.judge is the path of iam/judge.mjs.
 */
final class Iam {
    private static final Logger LOG = LoggerFactory.getLogger(Iam.class);
    private static Iam instance;
    final Judge judge;
    private final Identities identities;

    Iam(Path folder, Path judge) {
        this.judge = new Judge(judge, folder.resolve("account.json"), folder.resolve("decisions.jsonl"));
        this.identities = new Identities(folder.resolve("keys.json"));
    }

    static synchronized Iam get() {
        if (instance == null) {
            instance = new Iam(Path.of(System.getProperty("lake.iam")), Path.of(System.getProperty("lake.iam.judge")));
        }
        return instance;
    }

    /** The role of a signer who may connect. The client learns no more than that it is denied; the log says why. */
    String login(String mechanism, SignedRequest request) {
        try {
            String cluster = judge.cluster();
            String role = request.verify(identities, cluster.split(":")[3]);
            if (!judge.may(new Question(role, Rights.CONNECT, cluster))) {
                throw new SecurityException(role + " may not connect");
            }
            LOG.info("{} logged in by {}", role, mechanism);
            return role;
        } catch (Exception problem) {
            LOG.warn("a login by {} was refused: {}", mechanism, problem.getMessage());
            throw new SaslAuthenticationException("Access denied");
        }
    }
}
