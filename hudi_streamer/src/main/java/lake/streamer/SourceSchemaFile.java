package lake.streamer;

import org.apache.avro.Schema;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.utilities.schema.FilebasedSchemaProvider;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The schema of the archive from a file, and none for the table: its columns are what the SQL yields.
 *
 * <p>Without a target file FilebasedSchemaProvider takes the source's schema for the table's, and Hudi would rewrite
 * the rows back to it. Hudi has the like for a registry, NullTargetSchemaRegistryProvider.
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
