package lake.hudi;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.engine.TaskContextSupplier;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordLocation;
import org.apache.hudi.common.model.HoodieWriteStat;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.exception.HoodieUpsertException;
import org.apache.hudi.io.HoodieAppendHandle;

/** Hudi's writer of log blocks, which closes its file also when it fails: its hook would keep it until the JVM ends. */
final class BucketAppend<T>
    extends HoodieAppendHandle<T, HoodieData<HoodieRecord<T>>, HoodieData<HoodieKey>, HoodieData<WriteStatus>> {

  /** records: all of one bucket, read once. */
  BucketAppend(
      HoodieWriteConfig config, FileSlices<T> table, TaskContextSupplier task, String instant, FileSlice slice,
      Iterator<HoodieRecord<T>> records) {
    super(config, instant, table, "", slice.getFileId(), placed(slice, records), task);
  }

  /** Writes all records. Returns the statistics of each file: Hudi begins another one when one is full. */
  List<HoodieWriteStat> write() {
    try {
      doAppend();
      return close().stream().map(BucketAppend::whole).collect(Collectors.toList());
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

  /** Hudi's handle notes rows that it could not write, and goes on. */
  private static HoodieWriteStat whole(WriteStatus status) {
    if (status.hasErrors()) {
      throw new HoodieUpsertException("rows could not be written: " + status, status.getGlobalError());
    }
    return status.getStat();
  }

  /** Rows that belong to a file, so that Hudi appends them to it. */
  private static <T> Iterator<HoodieRecord<T>> placed(FileSlice slice, Iterator<HoodieRecord<T>> records) {
    HoodieRecordLocation place = new HoodieRecordLocation(slice.getBaseInstantTime(), slice.getFileId());
    return new Iterator<HoodieRecord<T>>() {
      @Override
      public boolean hasNext() {
        return records.hasNext();
      }

      @Override
      public HoodieRecord<T> next() {
        HoodieRecord<T> record = records.next();
        record.unseal(); // Hudi seals a record when it is sent to another process
        record.setCurrentLocation(place);
        return record;
      }
    };
  }
}
