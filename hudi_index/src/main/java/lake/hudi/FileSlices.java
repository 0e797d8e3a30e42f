package lake.hudi;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.fs.FSUtils;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieFileGroup;
import org.apache.hudi.common.model.HoodieFileGroupId;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.common.model.HoodieWriteStat;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.view.HoodieTableFileSystemView;
import org.apache.hudi.common.table.view.TableFileSystemView.SliceView;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.exception.HoodieIOException;
import org.apache.hudi.index.bucket.BucketIdentifier;
import org.apache.hudi.table.HoodieSparkCopyOnWriteTable;

/**
 * The latest file slice of each bucket, as Hudi's append handle asks its table for it. Listed once; log files that are
 * written are added.
 *
 * <p>Hudi's class of merge-on-read tables can't be extended outside its package; the handle asks for nothing in which the
 * two differ.
 */
@SuppressWarnings("unchecked") // Hudi's own classes override with raw types
final class FileSlices<T> extends HoodieSparkCopyOnWriteTable<T> {

  private static final long serialVersionUID = 1L;
  private static final String NO_PARTITION = "";

  private final transient HoodieTableFileSystemView view;

  FileSlices(HoodieWriteConfig config, HoodieEngineContext context, HoodieTableMetaClient meta) {
    super(config, context, meta);
    // With the instants of pending compactions: the log files that they do not read follow their base files.
    this.view =
        new HoodieTableFileSystemView(meta, meta.getActiveTimeline().filterCompletedAndCompactionInstants());
  }

  @Override
  public SliceView getSliceView() {
    return view;
  }

  /** By number of the bucket. Two file groups of one bucket are an error, as they are in Hudi's bucket index. */
  Map<Integer, FileSlice> byBucket() {
    return view.getAllFileGroups(NO_PARTITION)
        .map(group -> view.getLatestFileSlice(NO_PARTITION, group.getFileGroupId().getFileId()))
        .filter(slice -> slice.isPresent())
        .collect(Collectors.toMap(slice -> bucket(slice.get()), slice -> slice.get(), FileSlices::twice, TreeMap::new));
  }

  /** Adds a log file that a commit has written. */
  void add(HoodieWriteStat written) {
    Path path = new Path(metaClient.getBasePathV2(), written.getPath());
    FileStatus status = new FileStatus(written.getFileSizeInBytes(), false, 1, 0, 0, path);
    HoodieFileGroupId id = new HoodieFileGroupId(NO_PARTITION, written.getFileId());
    view.getAllFileGroups(NO_PARTITION)
        .filter(group -> group.getFileGroupId().equals(id))
        .forEach((HoodieFileGroup group) -> group.addLogFile(new HoodieLogFile(status)));
  }

  /** These statistics, after all other log files that appeared since the listing were deleted.
   *
   * <p>They are of attempts of tasks that failed, or lost a race. Their blocks bear the instant of the commit, so a reader
   * would take them.
   */
  List<HoodieWriteStat> only(List<HoodieWriteStat> written) {
    Collection<FileSlice> latest = byBucket().values();
    Set<String> known = Stream.concat(
        latest.stream().flatMap(FileSlice::getLogFiles).map(HoodieLogFile::getFileName),
        written.stream().map(one -> new Path(one.getPath()).getName())).collect(Collectors.toSet());
    Set<String> slices = latest.stream().map(FileSlices::slice).collect(Collectors.toSet());
    try {
      Path folder = metaClient.getBasePathV2();
      FileSystem files = folder.getFileSystem(metaClient.getHadoopConf()); // not KnownFiles
      for (FileStatus one : files.listStatus(folder)) {
        Path path = one.getPath();
        if (FSUtils.isLogFile(path) && slices.contains(slice(path)) && !known.contains(path.getName())) {
          files.delete(path, false);
        }
      }
      return written;
    } catch (IOException failed) {
      throw new HoodieIOException("left files can't be deleted", failed);
    }
  }

  private static String slice(FileSlice one) {
    return one.getFileId() + one.getBaseInstantTime();
  }

  /** The file slice of a log file: its file group, and the instant of its base file. */
  static String slice(Path log) {
    return FSUtils.getFileIdFromLogPath(log) + FSUtils.getBaseCommitTimeFromLogPath(log);
  }

  private static int bucket(FileSlice slice) {
    return BucketIdentifier.bucketIdFromFileId(slice.getFileId());
  }

  private static FileSlice twice(FileSlice one, FileSlice other) {
    throw new IllegalStateException("two files of one bucket: " + one.getFileId() + ", " + other.getFileId());
  }
}
