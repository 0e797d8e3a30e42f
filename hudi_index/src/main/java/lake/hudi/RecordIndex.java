package lake.hudi;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.data.HoodiePairData;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordGlobalLocation;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaPairRDD;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.HoodieIndexUtils;
import org.apache.hudi.index.SparkMetadataTableRecordIndex;
import org.apache.hudi.metadata.HoodieTableMetadataUtil;
import org.apache.hudi.metadata.MetadataPartitionType;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/**
 * Hudi's record index, changed so that a file group is read once when rows move from it to another partition.
 *
 * <p>The index stores for each key its file group and the instant of its commit. When rows leave a file group, Hudi 0.14
 * reads it once for each distinct pair of the two (HoodieIndexUtils.getExistingRecords): with rows of two commits it
 * finds each row twice, deletes it twice, and the commit fails: "Both version of records do not have location
 * set". 0.15 ignores the instant. So does this class: all locations that it returns have the same instant, that of
 * the last commit, which Hudi also gives to the rows that it has read.
 */
public final class RecordIndex extends SparkMetadataTableRecordIndex {

  public RecordIndex(HoodieWriteConfig config) {
    super(config);
  }

  @Override
  public <R> HoodieData<HoodieRecord<R>> tagLocation(
      HoodieData<HoodieRecord<R>> records, HoodieEngineContext context, HoodieTable table) {
    Option<HoodieInstant> last =
        table.getMetaClient().getCommitsTimeline().filterCompletedInstants().lastInstant();
    if (!last.isPresent() || !isInitialized(table)) {
      return super.tagLocation(records, context, table);
    }
    return HoodieIndexUtils.tagGlobalLocationBackToRecords(
        records,
        locations(HoodieJavaRDD.getJavaRDD(records).map(HoodieRecord::getRecordKey), table, last.get().getTimestamp()),
        false,
        config.getRecordIndexUpdatePartitionPath() && table.isPartitioned(),
        config,
        table);
  }

  private static boolean isInitialized(HoodieTable<?, ?, ?, ?> table) {
    return table.getMetaClient().getTableConfig().isMetadataPartitionAvailable(MetadataPartitionType.RECORD_INDEX);
  }

  /** Each task looks up its keys in one file group of the index, in one read. */
  private static HoodiePairData<String, HoodieRecordGlobalLocation> locations(
      JavaRDD<String> keys, HoodieTable<?, ?, ?, ?> table, String instant) {
    int groups = table.getMetadataTable().getNumFileGroupsForPartition(MetadataPartitionType.RECORD_INDEX);
    return HoodieJavaPairRDD.of(keys
        .mapToPair(key -> new Tuple2<>(HoodieTableMetadataUtil.mapRecordKeyToFileGroupIndex(key, groups), key))
        .groupByKey(groups)
        .values()
        .flatMapToPair(group -> found(group, table, instant)));
  }

  private static Iterator<Tuple2<String, HoodieRecordGlobalLocation>> found(
      Iterable<String> keys, HoodieTable<?, ?, ?, ?> table, String instant) {
    List<String> asked = new ArrayList<>();
    keys.forEach(asked::add);
    Map<String, HoodieRecordGlobalLocation> locations = table.getMetadataTable().readRecordIndex(asked);
    return locations.entrySet().stream()
        .map(entry -> new Tuple2<>(entry.getKey(), at(entry.getValue(), instant)))
        .iterator();
  }

  private static HoodieRecordGlobalLocation at(HoodieRecordGlobalLocation found, String instant) {
    return new HoodieRecordGlobalLocation(found.getPartitionPath(), instant, found.getFileId());
  }
}
