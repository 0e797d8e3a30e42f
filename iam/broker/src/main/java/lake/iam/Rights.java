package lake.iam;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lake.iam.Judge.Question;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Kafka's operations as IAM's actions on MSK, each with those that it requires: the table under "Semantics of IAM
 * authorization policy actions and resources" of MSK's guide. What it does not list is not allowed.
 *
 * <p>Two requirements are left out, because no request names both resources: AlterGroup of ReadData, and WriteData of
 * WriteDataIdempotently. Whoever reads with a group, or writes, needs them for the next request.
 */
final class Rights {
    static final String CONNECT = "kafka-cluster:Connect";
    private static final Map<String, String> ACTIONS = Map.ofEntries(
            entry("CLUSTER DESCRIBE", "DescribeCluster"),
            entry("CLUSTER ALTER", "AlterCluster DescribeCluster"),
            entry("CLUSTER DESCRIBE_CONFIGS", "DescribeClusterDynamicConfiguration"),
            entry("CLUSTER ALTER_CONFIGS", "AlterClusterDynamicConfiguration DescribeClusterDynamicConfiguration"),
            entry("CLUSTER IDEMPOTENT_WRITE", "WriteDataIdempotently"),
            entry("TOPIC CREATE", "CreateTopic"),
            entry("TOPIC DESCRIBE", "DescribeTopic"),
            entry("TOPIC ALTER", "AlterTopic DescribeTopic"),
            entry("TOPIC DELETE", "DeleteTopic DescribeTopic"),
            entry("TOPIC DESCRIBE_CONFIGS", "DescribeTopicDynamicConfiguration"),
            entry("TOPIC ALTER_CONFIGS", "AlterTopicDynamicConfiguration DescribeTopicDynamicConfiguration"),
            entry("TOPIC READ", "ReadData DescribeTopic"),
            entry("TOPIC WRITE", "WriteData DescribeTopic"),
            entry("GROUP DESCRIBE", "DescribeGroup"),
            entry("GROUP READ", "AlterGroup DescribeGroup"),
            entry("GROUP DELETE", "DeleteGroup DescribeGroup"),
            entry("TRANSACTIONAL_ID DESCRIBE", "DescribeTransactionalId"),
            entry("TRANSACTIONAL_ID WRITE", "AlterTransactionalId DescribeTransactionalId"));

    private Rights() {}

    /** All that must be allowed for the operation; empty for one that IAM does not know. */
    static List<Question> of(String role, AclOperation operation, ResourcePattern resource, String cluster) {
        String actions = ACTIONS.get(resource.resourceType() + " " + operation);
        List<Question> found = new ArrayList<>();
        if (actions != null) {
            for (String action : actions.split(" ")) {
                found.add(new Question(role, "kafka-cluster:" + action, arn(resource, cluster)));
            }
            found.add(new Question(role, CONNECT, cluster));
        }
        return found;
    }

    /** arn:aws:kafka:<region>:<account>:cluster/<name>/<uuid>; of its parts topic/<name>/<uuid>/<topic> and so on. */
    private static String arn(ResourcePattern resource, String cluster) {
        if (resource.resourceType() == ResourceType.CLUSTER) {
            return cluster;
        }
        String kind = resource.resourceType().name().toLowerCase(Locale.ROOT).replace('_', '-');
        return cluster.replace(":cluster/", ":" + kind + "/") + "/" + resource.name();
    }
}
