package lake.connect;

import io.debezium.spi.converter.RelationalColumn;
import java.sql.Types;
import java.util.OptionalInt;

/** A column as a converter meets it. */
record Column(String dataCollection, String name, int jdbcType, int nativeType, String typeName, boolean isOptional)
        implements RelationalColumn {

    /** A column of the table t. */
    Column(String name, int jdbcType, int nativeType, String typeName) {
        this("public.t", name, jdbcType, nativeType, typeName, true);
    }

    static Column text(String table, String name, boolean isOptional) {
        return new Column(table, name, Types.VARCHAR, 25, "text", isOptional);
    }

    @Override
    public String typeExpression() {
        return typeName;
    }

    @Override
    public OptionalInt length() {
        return OptionalInt.empty();
    }

    @Override
    public OptionalInt scale() {
        return OptionalInt.empty();
    }

    @Override
    public Object defaultValue() {
        return null;
    }

    @Override
    public boolean hasDefaultValue() {
        return false;
    }

    @Override
    public String charsetName() {
        return null;
    }
}
