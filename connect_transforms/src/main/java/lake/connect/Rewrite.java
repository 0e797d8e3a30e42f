package lake.connect;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Converts values of one schema to values of its normalized schema; computed once per schema. */
sealed interface Rewrite {

    String VARIABLE_SCALE_DECIMAL = "io.debezium.data.VariableScaleDecimal";

    /** The normalized schema; the original object if nothing changes; null for schemaless data. */
    Schema schema();

    /** The value under the normalized schema; null stays null. */
    Object apply(Object value);

    default boolean changes() {
        return true;
    }

    static Rewrite of(Schema schema) {
        if (schema == null) {
            return new Same(null);
        }
        if (VARIABLE_SCALE_DECIMAL.equals(schema.name())) {
            return DecimalText.of(schema);
        }
        return switch (schema.type()) {
            case STRUCT -> StructRewrite.of(schema);
            case ARRAY -> ArrayRewrite.of(schema);
            case MAP -> MapRewrite.of(schema);
            default -> hasLyingDefault(schema)
                    ? new WithoutDefault(copyOf(schema, new SchemaBuilder(schema.type())).build())
                    : new Same(schema);
        };
    }

    private static boolean hasLyingDefault(Schema schema) {
        return schema.isOptional() && schema.defaultValue() != null;
    }

    /** Copies everything except type and default. */
    private static SchemaBuilder copyOf(Schema schema, SchemaBuilder target) {
        target.name(schema.name()).version(schema.version());
        return describe(schema, target);
    }

    private static SchemaBuilder describe(Schema schema, SchemaBuilder target) {
        target.doc(schema.doc());
        if (schema.parameters() != null) {
            target.parameters(schema.parameters());
        }
        return schema.isOptional() ? target.optional() : target;
    }

    /** Keeps the default, except for an optional field. */
    private static Schema finish(Schema schema, SchemaBuilder target, Object normalizedDefault) {
        boolean keep = !schema.isOptional() && schema.defaultValue() != null;
        return keep ? target.defaultValue(normalizedDefault).build() : target.build();
    }

    /** Schema and values stay. */
    record Same(Schema schema) implements Rewrite {
        @Override
        public Object apply(Object value) {
            return value;
        }

        @Override
        public boolean changes() {
            return false;
        }
    }

    /** The schema loses its default, values stay. */
    record WithoutDefault(Schema schema) implements Rewrite {
        @Override
        public Object apply(Object value) {
            return value;
        }
    }

    /** Scale and unscaled bytes become plain digits. */
    record DecimalText(Schema schema) implements Rewrite {
        static DecimalText of(Schema schema) {
            SchemaBuilder text = describe(schema, SchemaBuilder.string());
            return new DecimalText(finish(schema, text, digits(schema.defaultValue())));
        }

        @Override
        public Object apply(Object value) {
            return digits(value);
        }

        private static String digits(Object value) {
            if (value == null) {
                return null;
            }
            Struct decimal = (Struct) value;
            return new BigDecimal(new BigInteger(decimal.getBytes("value")), decimal.getInt32("scale"))
                    .toPlainString();
        }
    }

    /** Rewrites field by field; fields keep their order, so also their index. */
    record StructRewrite(Schema schema, List<Field> fields, Rewrite[] columns) implements Rewrite {
        static Rewrite of(Schema schema) {
            Rewrite[] columns = schema.fields().stream().map(f -> Rewrite.of(f.schema())).toArray(Rewrite[]::new);
            boolean same = Arrays.stream(columns).noneMatch(Rewrite::changes);
            if (same && !hasLyingDefault(schema)) {
                return new Same(schema);
            }
            SchemaBuilder target = copyOf(schema, SchemaBuilder.struct());
            schema.fields().forEach(field -> target.field(field.name(), columns[field.index()].schema()));
            // Connect accepts a default struct only as an instance of the builder itself.
            Object normalizedDefault = new StructRewrite(target, target.fields(), columns)
                    .apply(schema.defaultValue());
            Schema normalized = finish(schema, target, normalizedDefault);
            return new StructRewrite(normalized, normalized.fields(), columns);
        }

        @Override
        public Object apply(Object value) {
            if (value == null) {
                return null;
            }
            Struct source = (Struct) value;
            Struct target = new Struct(schema);
            for (Field field : fields) {
                // Not Struct.get: it returns the default if the value is NULL.
                Object column = source.getWithoutDefault(field.name());
                // Unset stays unset: put refuses NULL in a required field, and the row of a delete may contain that.
                if (column != null) {
                    target.put(field, columns[field.index()].apply(column));
                }
            }
            return target;
        }
    }

    /** Rewrites element by element. */
    record ArrayRewrite(Schema schema, Rewrite element) implements Rewrite {
        static Rewrite of(Schema schema) {
            Rewrite element = Rewrite.of(schema.valueSchema());
            if (!element.changes() && !hasLyingDefault(schema)) {
                return new Same(schema);
            }
            SchemaBuilder target = copyOf(schema, SchemaBuilder.array(element.schema()));
            Object normalizedDefault = new ArrayRewrite(null, element).apply(schema.defaultValue());
            return new ArrayRewrite(finish(schema, target, normalizedDefault), element);
        }

        @Override
        public Object apply(Object value) {
            if (value == null || !element.changes()) {
                return value;
            }
            List<Object> target = new ArrayList<>(((List<?>) value).size());
            ((List<?>) value).forEach(item -> target.add(element.apply(item)));
            return target;
        }
    }

    /** Rewrites entry by entry. */
    record MapRewrite(Schema schema, Rewrite key, Rewrite entry) implements Rewrite {
        static Rewrite of(Schema schema) {
            Rewrite key = Rewrite.of(schema.keySchema());
            Rewrite entry = Rewrite.of(schema.valueSchema());
            if (!key.changes() && !entry.changes() && !hasLyingDefault(schema)) {
                return new Same(schema);
            }
            SchemaBuilder target = copyOf(schema, SchemaBuilder.map(key.schema(), entry.schema()));
            Object normalizedDefault = new MapRewrite(null, key, entry).apply(schema.defaultValue());
            return new MapRewrite(finish(schema, target, normalizedDefault), key, entry);
        }

        @Override
        public Object apply(Object value) {
            if (value == null || !key.changes() && !entry.changes()) {
                return value;
            }
            Map<Object, Object> target = new HashMap<>();
            ((Map<?, ?>) value).forEach((name, item) -> target.put(key.apply(name), entry.apply(item)));
            return target;
        }
    }
}
