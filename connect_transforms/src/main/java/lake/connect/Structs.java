package lake.connect;

import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Rows that get fields of ours behind their own. */
final class Structs {

    private Structs() {}

    /** A schema of the same name with the same fields, open for more. */
    static SchemaBuilder like(Schema schema) {
        SchemaBuilder target = SchemaBuilder.struct().name(schema.name()).version(schema.version()).doc(schema.doc());
        schema.fields().forEach(field -> target.field(field.name(), field.schema()));
        return target;
    }

    /** The values under a wider schema. Unset stays unset: put refuses NULL in a required field, which the row of a
     * delete may hold. */
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
