package lake.streamer;

import org.apache.avro.Schema;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.utilities.schema.FilebasedSchemaProvider;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Reads the schema of the archive from a file, and gives no schema for the table: its columns are those of the SQL.
 *
 * <p>Without a target file FilebasedSchemaProvider uses the source's schema for the table, and Hudi would rewrite
 * the rows back to it. For a registry Hudi has NullTargetSchemaRegistryProvider.
 */
public class SourceSchemaFile extends FilebasedSchemaProvider {
  public SourceSchemaFile(TypedProperties props, JavaSparkContext context) {
    super(props, context);
  }

  @Override
  public Schema getTargetSchema() {
    return null;
  }
}
