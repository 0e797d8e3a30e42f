package lake.hudi;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import lake.NotPlain;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.exception.HoodieIOException;

/** What the metadata of the last commits say. */
final class Checkpoints {

  /** HoodieStreamer's, in Hudi 0.14: how far it has read, and the value that it was told to start from. */
  private static final String[] KEYS = {"deltastreamer.checkpoint.key", "deltastreamer.checkpoint.reset_key"};

  private Checkpoints() {}

  /** The newest metadata with a schema. Throws NotPlain for a table without commits. */
  static HoodieCommitMetadata lastWithSchema(HoodieTableMetaClient meta) throws NotPlain {
    Option<Pair<HoodieInstant, HoodieCommitMetadata>> last =
        meta.getActiveTimeline().getLastCommitMetadataWithValidSchema();
    PlainTable.refuse(!last.isPresent(), "it has no commit with a schema");
    return last.get().getRight();
  }

  /** HoodieStreamer's entries in the last write, if there are any. Compactions carry none. */
  static Map<String, String> of(HoodieTableMetaClient meta) {
    HoodieTimeline writes = meta.getActiveTimeline().getDeltaCommitTimeline().filterCompletedInstants();
    Map<String, String> found = new HashMap<>();
    if (!writes.empty()) {
      HoodieCommitMetadata last = metadata(writes, writes.lastInstant().get());
      for (String key : KEYS) {
        if (last.getMetadata(key) != null) {
          found.put(key, last.getMetadata(key));
        }
      }
    }
    return found;
  }

  private static HoodieCommitMetadata metadata(HoodieTimeline line, HoodieInstant instant) {
    try {
      return HoodieCommitMetadata.fromBytes(line.getInstantDetails(instant).get(), HoodieCommitMetadata.class);
    } catch (IOException failed) {
      throw new HoodieIOException("metadata of " + instant + " can't be read", failed);
    }
  }
}
