package lake.hudi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hudi.client.transaction.TransactionManager;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.model.HoodieWriteStat;
import org.apache.hudi.common.model.WriteOperationType;
import org.apache.hudi.common.table.timeline.HoodieActiveTimeline;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.common.util.CommitUtils;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.exception.HoodieIOException;

/** One commit of blocks in file slices: the steps of Hudi's write client, in their order. */
final class DeltaCommit<T> {

  private final HeldTable<T> table;
  private final HoodieActiveTimeline line;
  private final HoodieInstant requested;
  private final HoodieInstant inflight;

  DeltaCommit(HeldTable<T> table, String instant) {
    this.table = table;
    this.line = table.meta.getActiveTimeline();
    this.requested = instant(HoodieInstant.State.REQUESTED, instant);
    this.inflight = instant(HoodieInstant.State.INFLIGHT, instant);
  }

  /**
   * Where it fails, it stays unfinished: invisible, and rolled back before the next commit.
   *
   * @param slices that may get a block, with their number of rows
   * @param append writes the blocks
   */
  void write(Map<FileSlice, Integer> slices, Supplier<List<HoodieWriteStat>> append, Map<String, String> entries) {
    line.createNewInstant(requested);
    line.transitionRequestedToInflight(requested, Option.of(json(plan(slices))));
    List<HoodieWriteStat> written = append.get();
    complete(metadata(written, entries));
    written.forEach(table.slices::add);
    table.know(HoodieTimeline.getCompletedInstant(inflight));
  }

  /** What Hudi writes into the inflight file: its rollback by listing reads there which files may have a block. */
  private HoodieCommitMetadata plan(Map<FileSlice, Integer> slices) {
    HoodieCommitMetadata planned = new HoodieCommitMetadata();
    planned.setOperationType(WriteOperationType.UPSERT);
    slices.forEach((slice, rows) -> planned.addWriteStat("", planned(slice, rows)));
    return planned;
  }

  private static HoodieWriteStat planned(FileSlice slice, int rows) {
    HoodieWriteStat stat = new HoodieWriteStat();
    stat.setFileId(slice.getFileId());
    stat.setPrevCommit(slice.getBaseInstantTime());
    stat.setNumUpdateWrites(rows);
    return stat;
  }

  private HoodieCommitMetadata metadata(List<HoodieWriteStat> written, Map<String, String> entries) {
    Map<String, String> extra = new HashMap<>(table.checkpoints);
    extra.putAll(entries);
    return CommitUtils.buildMetadata(written, Collections.emptyMap(), Option.of(extra), WriteOperationType.UPSERT,
        table.config.getWriteSchema(), HoodieTimeline.DELTA_COMMIT_ACTION);
  }

  /** Under the table's lock, as Hudi's clients complete their commits: here the table services of the same job. */
  private void complete(HoodieCommitMetadata metadata) {
    TransactionManager transactions = new TransactionManager(table.config, table.meta.getFs());
    transactions.beginTransaction(Option.of(inflight), Option.empty());
    try {
      line.saveAsComplete(inflight, Option.of(json(metadata)));
    } finally {
      transactions.endTransaction(Option.of(inflight));
      transactions.close();
    }
  }

  private static HoodieInstant instant(HoodieInstant.State state, String time) {
    return new HoodieInstant(state, HoodieTimeline.DELTA_COMMIT_ACTION, time);
  }

  private static byte[] json(HoodieCommitMetadata metadata) {
    try {
      return metadata.toJsonString().getBytes(StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new HoodieIOException("commit metadata can't be written as JSON", failed);
    }
  }
}
