package lake.connect;

import io.debezium.relational.TableId;
import io.debezium.schema.AbstractTopicNamingStrategy;
import io.debezium.spi.schema.DataCollectionId;
import java.util.Properties;

/**
 * The topic of a table, {@code <prefix>.<schema>.<table>}: two tables never share one. Debezium's own strategy replaces
 * all that Kafka does not allow by _.
 */
public class TableTopics extends AbstractTopicNamingStrategy<DataCollectionId> {

    public TableTopics(Properties settings) {
        super(settings);
    }

    @Override
    public String dataChangeTopic(DataCollectionId id) {
        return topicNames.computeIfAbsent(id, one -> topic((TableId) one));
    }

    private String topic(TableId table) {
        return String.join(delimiter, prefix, Names.topicPart(table.schema()), Names.topicPart(table.table()));
    }
}
