package lake.connect;

import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Helpers that append our fields to rows. */
final class Structs {

    private Structs() {}

    /** A builder with the same name and fields, to which fields can be added. */
    static SchemaBuilder like(Schema schema) {
        SchemaBuilder target = SchemaBuilder.struct().name(schema.name()).version(schema.version()).doc(schema.doc());
        schema.fields().forEach(field -> target.field(field.name(), field.schema()));
        return target;
    }

    /** The values under a wider schema. Unset stays unset: put refuses NULL in a required field, and the row of a
     * delete may contain that. */
    static Struct copy(Struct source, Schema schema) {
        Struct target = new Struct(schema);
        for (Field field : source.schema().fields()) {
            Object value = source.getWithoutDefault(field.name());
            if (value != null) {
                target.put(field.name(), value);
            }
        }
        return target;
    }
}
