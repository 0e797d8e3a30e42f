package lake.hudi;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.io.HoodieAppendHandle;

/** Hudi's writer of log blocks, which closes its file also when it fails: its hook would keep it until the JVM ends. */
final class BucketAppend<T>
    extends HoodieAppendHandle<T, HoodieData<HoodieRecord<T>>, HoodieData<HoodieKey>, HoodieData<WriteStatus>> {

  BucketAppend(HeldTable<T> table, String instant, String fileId, Iterator<HoodieRecord<T>> records) {
    super(table.config, instant, table.slices, "", fileId, records, table.context.getTaskContextSupplier());
  }

  /** Writes all records. Returns the statistics of each file: Hudi begins another one when one is full. */
  List<WriteStatus> write() {
    try {
      doAppend();
      return close();
    } catch (RuntimeException failed) {
      abandon(failed);
      throw failed;
    }
  }

  private void abandon(RuntimeException failed) {
    try {
      if (writer != null) {
        writer.close();
      }
    } catch (IOException | RuntimeException again) {
      failed.addSuppressed(again);
    }
  }
}
