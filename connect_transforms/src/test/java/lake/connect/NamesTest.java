package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.debezium.relational.TableId;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The values are those of tests/unit/test_naming.py: both sides have one rule. */
class NamesTest {

    @Test
    void partsOfTopics() {
        assertEquals("my-shop", Names.topicPart("my-shop"));
        assertEquals("OrderItem", Names.topicPart("OrderItem"));
        assertEquals("my-2dcafe", Names.topicPart("my-cafe"));
        assertEquals("a-2eb", Names.topicPart("a.b"));
        assertEquals("gr-c3-b6-c3-9fe", Names.topicPart("größe"));
        assertEquals("-f0-9f-98-80", Names.topicPart("\uD83D\uDE00"));
        assertEquals("-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc-c3-bc--613110269241216b62", Names.topicPart("ü".repeat(31)));
    }

    @Test
    void columns() {
        List<String> names = List.of("id", "userId", "first name", "größe", "1st", "order", "__deleted",
                "_hoodie_file_name", "userid");
        assertEquals(List.of("id", "userid", "first_name", "gr__e", "_1st", "order", "source__deleted",
                "source_hoodie_file_name", "userid_f132696e"), List.copyOf(Names.storedColumns(names, List.of("id"), Map.of()).values()));
    }

    @Test
    void aColumnOfTheKeyIsNamedFirst() {
        assertEquals("userid", Names.storedColumns(List.of("userId", "userid"), List.of("userid"), Map.of()).get("userid"));
    }

    @Test
    void aNameThatAPersonChoseIsNobodyElses() {
        Map<String, String> chosen = Map.of("userId", "user_id", "mail", "id_2");
        assertEquals(List.of("id", "user_id", "user_id_f8c3fcf8", "id_2"), List.copyOf(
                Names.storedColumns(List.of("id", "userId", "user id", "mail"), List.of("id"), chosen).values()));
    }

    @Test
    void theTopicOfATable() {
        Properties settings = new Properties();
        settings.setProperty("topic.prefix", "my-shop");
        TableTopics topics = new TableTopics(settings);
        assertEquals("my-shop.public.OrderItem", topics.dataChangeTopic(new TableId("my-shop", "public", "OrderItem")));
        assertEquals("my-shop.a-2eb.c", topics.dataChangeTopic(new TableId("my-shop", "a.b", "c")));
        assertEquals("__debezium-heartbeat.my-shop", topics.heartbeatTopic());
    }
}
