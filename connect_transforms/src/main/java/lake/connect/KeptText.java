package lake.connect;

import java.sql.SQLException;
import org.postgresql.util.PGobject;

/**
 * A value that keeps PostgreSQL's own text. Heirs stand in the place of classes of the driver that read the text and write
 * another one, or none.
 *
 * <p>Debezium gives the text to such a class before it asks a converter, in the stream ({@code AbstractColumnValue}, 3.7)
 * and for defaults; in a snapshot the driver does. Our jar's name comes before the driver's, and Kafka Connect loads the
 * jars of a plug-in in the order of their names ({@code PluginUtils.pluginUrls}).
 */
public abstract class KeptText extends PGobject {

    protected KeptText(String type) {
        setType(type);
    }

    protected KeptText(String type, String value) throws SQLException {
        this(type);
        setValue(value);
    }
}
