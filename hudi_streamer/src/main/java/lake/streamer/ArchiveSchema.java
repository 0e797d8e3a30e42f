package lake.streamer;

import java.util.ArrayList;
import java.util.List;
import org.apache.avro.JsonProperties;
import org.apache.avro.Schema;
import org.apache.hudi.utilities.schema.SchemaRegistryProvider;

/**
 * Turns the registry's newest schema of a topic into a schema that can read all files of its archive.
 *
 * <p>The archive adds the offset, and a column may be missing in its older files.
 */
public class ArchiveSchema implements SchemaRegistryProvider.SchemaConverter {
  private static final String OFFSET = "__offset";

  @Override
  public String convert(String registered) {
    Schema schema = new Schema.Parser().parse(registered);
    List<Schema.Field> fields = new ArrayList<>();
    schema.getFields().forEach(field -> fields.add(optional(field.name(), field.schema())));
    fields.add(new Schema.Field(OFFSET, Schema.create(Schema.Type.LONG), null, (Object) null));
    return Schema.createRecord(schema.getName(), null, schema.getNamespace(), false, fields).toString();
  }

  private static Schema.Field optional(String name, Schema schema) {
    List<Schema> branches = new ArrayList<>();
    branches.add(Schema.create(Schema.Type.NULL));
    if (!schema.isUnion()) {
      branches.add(schema);
    } else {
      schema.getTypes().stream().filter(branch -> branch.getType() != Schema.Type.NULL).forEach(branches::add);
    }
    return new Schema.Field(name, Schema.createUnion(branches), null, JsonProperties.NULL_VALUE);
  }
}
