package lake.streamer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

class ArchiveSchemaTest {
  private static final String REGISTERED =
      "{\"type\":\"record\",\"name\":\"Value\",\"namespace\":\"shop\",\"fields\":["
          + "{\"name\":\"id\",\"type\":{\"type\":\"int\",\"connect.name\":\"io.debezium.time.Date\"}},"
          + "{\"name\":\"note\",\"type\":[\"string\",\"null\"]}]}";

  @Test
  void everyColumnMayBeMissingAndTheOffsetIsLast() {
    Schema schema = new Schema.Parser().parse(new ArchiveSchema().convert(REGISTERED));
    assertEquals("shop.Value", schema.getFullName());
    assertEquals(3, schema.getFields().size());
    assertEquals("[\"null\",\"string\"]", schema.getField("note").schema().toString());
    assertEquals("io.debezium.time.Date", schema.getField("id").schema().getTypes().get(1).getProp("connect.name"));
    assertEquals(2, schema.getFields().get(2).pos());
    assertEquals(Schema.Type.LONG, schema.getField("__offset").schema().getType());
  }
}
