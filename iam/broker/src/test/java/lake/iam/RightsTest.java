package lake.iam;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Collectors;
import lake.iam.Judge.Question;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** MSK's table, a line per operation. */
class RightsTest {
    private static final String CLUSTER = "arn:aws:kafka:eu-central-1:123456789012:cluster/lake-dev/0-1";

    private static List<Question> needed(String operation, String type, String name) {
        ResourcePattern resource = new ResourcePattern(ResourceType.valueOf(type), name, PatternType.LITERAL);
        return Rights.of("r", AclOperation.valueOf(operation), resource, CLUSTER);
    }

    private static String actions(List<Question> needed) {
        return needed.stream().map(one -> one.action().substring("kafka-cluster:".length())).collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "READ, TOPIC, ReadData DescribeTopic Connect",
        "WRITE, TOPIC, WriteData DescribeTopic Connect",
        "CREATE, TOPIC, CreateTopic Connect",
        "DELETE, TOPIC, DeleteTopic DescribeTopic Connect",
        "DESCRIBE_CONFIGS, TOPIC, DescribeTopicDynamicConfiguration Connect",
        "READ, GROUP, AlterGroup DescribeGroup Connect",
        "DESCRIBE, GROUP, DescribeGroup Connect",
        "IDEMPOTENT_WRITE, CLUSTER, WriteDataIdempotently Connect",
        "WRITE, TRANSACTIONAL_ID, AlterTransactionalId DescribeTransactionalId Connect",
    })
    void anOperationNeedsItsActionAndWhatThatRequires(String operation, String type, String expected) {
        assertEquals(expected, actions(needed(operation, type, "name")));
    }

    @Test
    void aPartOfTheClusterHasAnArnOfItsKind() {
        String topic = "arn:aws:kafka:eu-central-1:123456789012:topic/lake-dev/0-1/moma.public.artists";
        assertEquals(topic, needed("READ", "TOPIC", "moma.public.artists").get(0).resource());
        String id = "arn:aws:kafka:eu-central-1:123456789012:transactional-id/lake-dev/0-1/t";
        assertEquals(id, needed("DESCRIBE", "TRANSACTIONAL_ID", "t").get(0).resource());
        assertEquals(CLUSTER, needed("DESCRIBE", "CLUSTER", "kafka-cluster").get(0).resource());
    }

    @ParameterizedTest
    @CsvSource({"CLUSTER_ACTION, CLUSTER", "CREATE, CLUSTER", "DESCRIBE, DELEGATION_TOKEN", "ALTER, GROUP"})
    void whatIamDoesNotKnowNeedsWhatNobodyHas(String operation, String type) {
        assertEquals(List.of(), needed(operation, type, "name"));
    }
}
