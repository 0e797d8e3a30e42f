package lake.hudi;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import lake.NotPlain;
import org.apache.hudi.common.config.HoodieCommonConfig;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.model.HoodieTableType;
import org.apache.hudi.common.table.HoodieTableConfig;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.index.HoodieIndex;
import org.apache.hudi.index.bucket.BucketIdentifier;
import org.apache.hudi.internal.schema.utils.SerDeHelper;

/** What a table must be like so that an {@link Appender} can write to it. Each check throws {@link NotPlain}. */
final class PlainTable {

  /** Services that a commit need not wait for: they change no file that a commit writes to. */
  private static final Set<String> BESIDE =
      new HashSet<>(Arrays.asList(HoodieTimeline.COMPACTION_ACTION, HoodieTimeline.CLEAN_ACTION));

  private PlainTable() {}

  static void refuseOptions(HoodieWriteConfig config) throws NotPlain {
    refuse(config.getIndexType() != HoodieIndex.IndexType.BUCKET, "it has no bucket index");
    refuse(!"SIMPLE".equals(config.getBucketIndexEngineType().name()), "the number of its buckets changes");
    refuse(config.isMetadataTableEnabled(), "its writer keeps a metadata table");
    refuse(config.getFailedWritesCleanPolicy().isLazy(), "its writer rolls back failed commits later (LAZY)");
    refuse(config.getWriteConcurrencyMode().supportsOptimisticConcurrencyControl(), "it has several writers");
    refuse(config.getBoolean(HoodieCommonConfig.SCHEMA_EVOLUTION_ENABLE), "it has schema-on-read");
  }

  static void refuseProperties(HoodieTableConfig table) throws NotPlain {
    refuse(table.getTableType() != HoodieTableType.MERGE_ON_READ, "it is not merge-on-read");
    refuse(table.isTablePartitioned(), "it is partitioned");
    refuse(!table.getMetadataPartitions().isEmpty(), "it has a metadata table");
    refuse(!table.populateMetaFields(), "it has no columns of Hudi's own");
    refuse(table.isCDCEnabled(), "it keeps a log of changes");
  }

  static void refuseSchemaOnRead(HoodieCommitMetadata last) throws NotPlain {
    String internal = last.getMetadata(SerDeHelper.LATEST_SCHEMA);
    refuse(internal != null && !internal.isEmpty(), "it has schema-on-read");
  }

  /** Another commit, or a rollback, that has begun: it has to be rolled back, or finished, before the next one. */
  static void refusePending(Collection<HoodieInstant> instants) throws NotPlain {
    for (HoodieInstant one : instants) {
      refuse(!one.isCompleted() && !BESIDE.contains(one.getAction()), "it has an unfinished instant, " + one);
    }
  }

  static void refuseNewBucket(Set<Integer> stored, Set<Integer> batch) throws NotPlain {
    for (Integer bucket : batch) {
      refuse(!stored.contains(bucket), "bucket " + BucketIdentifier.bucketIdStr(bucket) + " has no file yet");
    }
  }

  static void refuse(boolean unfit, String reason) throws NotPlain {
    if (unfit) {
      throw new NotPlain("left to Hudi's own writer: " + reason);
    }
  }
}
