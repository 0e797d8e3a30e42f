package lake.hudi;

import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import lake.trial.Faults;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A process of its own that halts in the midst of a commit.
 *
 * <p>Arguments: file with the options of the writer, columns (id int, name string, __deleted string, _order bigint) as
 * JSON, the order of the rows, the number of the request, the kind of fault. The rows are those of the ids 0 to 9.
 */
public final class HaltedAppend {

  private static final int ROWS = 10;

  private HaltedAppend() {}

  public static void main(String[] args) throws Exception {
    Properties options = new Properties();
    options.load(Files.newInputStream(Paths.get(args[0])));
    HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withProperties(options).build();
    Configuration hadoop = new Configuration();
    hadoop.set("fs.s3a.impl", "lake.trial.FaultyStore");
    StructType columns = (StructType) DataType.fromJson(args[1]);
    Appender appender = new Appender(config, hadoop, columns);
    Faults.plan(Integer.parseInt(args[3]), args[4]);
    appender.commit(rows(Long.parseLong(args[2])).iterator(), Collections.emptyMap());
    System.err.println(String.join("\n", Faults.heal()));
  }

  private static List<InternalRow> rows(long order) {
    List<InternalRow> rows = new ArrayList<>();
    for (int id = 0; id < ROWS; id++) {
      Object[] values = {id, UTF8String.fromString("ghost"), UTF8String.fromString("false"), order};
      rows.add(new GenericInternalRow(values));
    }
    return rows;
  }
}
