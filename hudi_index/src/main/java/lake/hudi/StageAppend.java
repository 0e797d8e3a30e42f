package lake.hudi;

import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.SparkTaskContextSupplier;
import org.apache.hudi.common.config.SerializableConfiguration;
import org.apache.hudi.common.engine.HoodieLocalEngineContext;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieWriteStat;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.spark.HashPartitioner;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.types.StructType;

/** One commit's rows, appended by the executors: a task writes all rows of a bucket. */
final class StageAppend<T> implements Serializable {

  private static final long serialVersionUID = 1L;

  private final HoodieWriteConfig config;
  private final SerializableConfiguration hadoop;
  private final StructType columns;
  private final String instant;

  /** config: with the schema of the table. */
  StageAppend(HoodieWriteConfig config, Configuration hadoop, StructType columns, String instant) {
    this.config = config;
    this.hadoop = new SerializableConfiguration(hadoop);
    this.columns = columns;
    this.instant = instant;
  }

  /** Writes all rows, of which each key has one. Attempts of tasks that failed may leave files beside those returned. */
  List<HoodieWriteStat> write(Dataset<Row> rows) {
    // With Spark's settings, also on the executors: they say how days before 1582 are written.
    return SQLExecution.withSQLConfPropagated(rows.sparkSession(), () -> appended(rows.queryExecution().toRdd()));
  }

  private List<HoodieWriteStat> appended(RDD<InternalRow> rows) {
    return rows.toJavaRDD()
        .mapPartitionsToPair(part -> new RowRecords(config, columns).<T>withBuckets(part))
        .partitionBy(new HashPartitioner(config.getBucketIndexNumBuckets())) // so a partition has the number of its bucket
        .values()
        .mapPartitionsWithIndex(this::append, true)
        .collect();
  }

  private Iterator<HoodieWriteStat> append(int bucket, Iterator<HoodieRecord<T>> records) {
    if (!records.hasNext()) {
      return Collections.emptyIterator();
    }
    HoodieTableMetaClient meta =
        HoodieTableMetaClient.builder().setConf(hadoop.get()).setBasePath(config.getBasePath()).build();
    FileSlices<T> slices = new FileSlices<>(config, new HoodieLocalEngineContext(hadoop.get()), meta);
    FileSlice slice = slices.byBucket().get(bucket);
    return new BucketAppend<>(config, slices, new SparkTaskContextSupplier(), instant, slice, records).write().iterator();
  }
}
