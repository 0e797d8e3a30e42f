package lake.hudi;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lake.NotPlain;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.common.engine.TaskContextSupplier;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieWriteStat;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Commits small batches of rows to an unpartitioned merge-on-read table with a bucket index, without a Spark job.
 *
 * <p>It uses Hudi's own classes below its write client, and holds between two commits what they read for each: timeline,
 * schema, file slices. One appender writes to a table at a time, and nobody else does while {@link #commit} runs.
 */
public final class Appender {

  private final HoodieWriteConfig config;
  private final Configuration hadoop;
  private final StructType columns;
  private final SpentMarkers markers = new SpentMarkers();
  private HeldTable<Object> held;

  /**
   * @param config that of the table's write client
   * @param hadoop the settings of its file system
   * @param columns of the rows and of the table, in their order, without Hudi's own
   */
  public Appender(HoodieWriteConfig config, Configuration hadoop, StructType columns) {
    this.config = config;
    this.hadoop = hadoop;
    this.columns = columns;
  }

  /**
   * One commit of rows, of which each key has one.
   *
   * @param rows read once; it may reuse its row
   * @param extraMetadata entries of the commit's metadata
   * @return the instant of the commit
   * @throws NotPlain where Hudi's own writer has to commit; nothing was written. Any other exception may leave an
   *     unfinished commit, which has to be rolled back.
   */
  public String commit(Iterator<InternalRow> rows, Map<String, String> extraMetadata) throws NotPlain {
    HeldTable<Object> table = current();
    Map<FileSlice, List<HoodieRecord<Object>>> batch = bySlice(table, rows);
    String instant = table.nextInstant();
    held = null; // until it is certain how this commit ends
    Map<FileSlice, Integer> sizes = new LinkedHashMap<>();
    batch.forEach((slice, records) -> sizes.put(slice, records.size()));
    new DeltaCommit<>(table, instant).write(sizes, () -> append(table, instant, batch), extraMetadata);
    held = table;
    markers.countCommit(table);
    return instant;
  }

  /**
   * The same with all executors, in one stage: a task writes the rows of a bucket.
   *
   * @param rows of which each key has one
   */
  public String commitInStage(Dataset<Row> rows, Map<String, String> extraMetadata) throws NotPlain {
    HeldTable<Object> table = current();
    Map<Integer, FileSlice> slices = table.slices.byBucket();
    PlainTable.refuse(slices.size() < table.config.getBucketIndexNumBuckets(), "a bucket has no file yet");
    String instant = table.nextInstant();
    held = null; // for good: it does not know the files that the executors write
    Map<FileSlice, Integer> sizes = new LinkedHashMap<>();
    slices.values().forEach(slice -> sizes.put(slice, 0)); // nobody has counted their rows
    StageAppend<Object> stage = new StageAppend<>(table.config, hadoop, columns, instant);
    new DeltaCommit<>(table, instant).write(sizes, () -> table.slices.only(stage.write(rows)), extraMetadata);
    return instant;
  }

  private static List<HoodieWriteStat> append(
      HeldTable<Object> table, String instant, Map<FileSlice, List<HoodieRecord<Object>>> batch) {
    TaskContextSupplier task = table.context.getTaskContextSupplier();
    List<HoodieWriteStat> written = new ArrayList<>();
    batch.forEach((slice, records) -> written.addAll(
        new BucketAppend<>(table.config, table.slices, task, instant, slice, records.iterator()).write()));
    return written;
  }

  private HeldTable<Object> current() throws NotPlain {
    PlainTable.refuseOptions(config);
    HeldTable<Object> last = held;
    held = null; // until it is certain that it is current: a look can fail
    held = last != null && last.isCurrent() ? last : new HeldTable<>(config, hadoop, columns);
    return held;
  }

  private static Map<FileSlice, List<HoodieRecord<Object>>> bySlice(
      HeldTable<Object> table, Iterator<InternalRow> rows) throws NotPlain {
    Map<Integer, List<HoodieRecord<Object>>> batch = table.records.byBucket(rows);
    Map<Integer, FileSlice> slices = table.slices.byBucket();
    PlainTable.refuseNewBucket(slices.keySet(), batch.keySet());
    Map<FileSlice, List<HoodieRecord<Object>>> found = new LinkedHashMap<>();
    batch.forEach((bucket, records) -> found.put(slices.get(bucket), records));
    return found;
  }
}
