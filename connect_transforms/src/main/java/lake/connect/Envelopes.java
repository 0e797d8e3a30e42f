package lake.connect;

import org.apache.kafka.connect.data.Struct;

/** The row inside of a value: the value itself, or that of Debezium's envelope, if nothing has unwrapped it. */
final class Envelopes {

    static final String BEFORE = "before";
    static final String AFTER = "after";

    private static final String NAME = ".Envelope";  // io.debezium.data.Envelope.SCHEMA_NAME_SUFFIX
    static final String OPERATION = "op";
    private static final String DELETE = "d";
    private static final String TRUNCATE = "t";
    private static final String DELETED = "__deleted";

    private Envelopes() {}

    static boolean isEnvelope(Struct value) {
        return value.schema().name() != null && value.schema().name().endsWith(NAME);
    }

    /** The row after the change, or before a delete; null if the value has neither. */
    static Struct row(Struct value) {
        if (!isEnvelope(value)) {
            return value;
        }
        Struct after = value.getStruct(AFTER);
        return after == null ? value.getStruct(BEFORE) : after;
    }

    static boolean isTruncate(Struct value) {
        return isEnvelope(value) && TRUNCATE.equals(value.getString(OPERATION));
    }

    static boolean isDelete(Struct value) {
        if (isEnvelope(value)) {
            return DELETE.equals(value.getString(OPERATION));
        }
        return value.schema().field(DELETED) != null && "true".equals(value.get(DELETED));
    }
}
