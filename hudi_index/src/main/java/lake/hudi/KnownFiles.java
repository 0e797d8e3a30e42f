package lake.hudi;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.hudi.common.fs.FSUtils;
import org.apache.hudi.common.fs.HoodieWrapperFileSystem;
import org.apache.hudi.common.fs.NoOpConsistencyGuard;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieTimeline;

/**
 * The file system of a table that has one writer: it answers from memory what this writer has already seen or written.
 *
 * <p>Hudi asks for the same facts in each commit: is the requested file there, which log files are there, how long is the
 * one just written. On S3 each question is a request. Only files that never change are remembered. Not remembered are the
 * timeline, which others write to, and whether a commit is still there: another writer may have rolled it back.
 */
final class KnownFiles extends FilterFileSystem {

  private final Path folder;
  private final Path timeline;
  private final Path markers;
  private final Map<Path, FileStatus> known = new HashMap<>();
  private boolean listed;

  KnownFiles(FileSystem files, Path folder) {
    super(files);
    this.folder = files.makeQualified(folder);
    this.timeline = new Path(this.folder, HoodieTableMetaClient.METAFOLDER_NAME);
    this.markers = new Path(this.folder, HoodieTableMetaClient.TEMPFOLDER_NAME);
  }

  /** Puts it between the table's classes and their file system. */
  static void use(HoodieTableMetaClient meta) {
    KnownFiles files = new KnownFiles(meta.getRawFs(), meta.getBasePathV2());
    meta.setFs(new HoodieWrapperFileSystem(files, new NoOpConsistencyGuard()));
  }

  @Override
  public String getScheme() {
    return fs.getScheme();
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    if (!makeQualified(path).equals(folder)) {
      return super.listStatus(path);
    }
    if (!listed) {
      for (FileStatus one : super.listStatus(path)) {
        known.put(makeQualified(one.getPath()), one);
      }
      listed = true;
    }
    return known.values().stream().filter(one -> one.getPath().getParent().equals(folder)).toArray(FileStatus[]::new);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    Path asked = makeQualified(path);
    if (markers.equals(asked.getParent())) {
      return new FileStatus(0, true, 1, 0, 0, asked); // the folder of an instant, which comes with its first marker
    }
    if (asked.getName().endsWith(HoodieTimeline.INFLIGHT_EXTENSION)) {
      return super.getFileStatus(requested(asked));
    }
    FileStatus found = known.get(asked);
    return found != null ? found : super.getFileStatus(path);
  }

  /**
   * Hudi looks for the inflight file before it completes a commit. A rollback deletes the requested file last, and also
   * if it came before there was an inflight file.
   */
  private static Path requested(Path inflight) {
    String name = inflight.getName();
    String stem = name.substring(0, name.length() - HoodieTimeline.INFLIGHT_EXTENSION.length());
    return new Path(inflight.getParent(), stem + HoodieTimeline.REQUESTED_EXTENSION);
  }

  /** Where Hudi appends to a log file that is there: not on S3. */
  @Override
  public FSDataOutputStream append(Path path, int buffer, Progressable progress) throws IOException {
    known.remove(makeQualified(path));
    return super.append(path, buffer, progress);
  }

  /** The requested file claims an instant; other files of the instant can't be there yet, so nobody looks for them. */
  @Override
  public FSDataOutputStream create(
      Path path, FsPermission permission, boolean overwrite, int buffer, short copies, long block, Progressable progress)
      throws IOException {
    Path made = makeQualified(path);
    boolean claimed = isOfClaimedInstant(made);
    FSDataOutputStream out = super.create(path, permission, overwrite || claimed, buffer, copies, block, progress);
    return claimed ? out : remembering(out, made);
  }

  private boolean isOfClaimedInstant(Path made) {
    boolean isMarker = made.toString().startsWith(markers + Path.SEPARATOR);
    boolean isState = timeline.equals(made.getParent());
    return isMarker || isState && !made.getName().endsWith(HoodieTimeline.REQUESTED_EXTENSION);
  }

  private FSDataOutputStream remembering(FSDataOutputStream out, Path made) throws IOException {
    return new FSDataOutputStream(out, null) {
      @Override
      public void close() throws IOException {
        super.close();
        remember(new FileStatus(getPos(), false, 1, 0, 0, made));
      }
    };
  }

  /** Of the log files of a file slice Hudi asks for the newest only: it has the greatest version. */
  private void remember(FileStatus made) {
    Path path = made.getPath();
    if (FSUtils.isLogFile(path)) {
      String slice = FileSlices.slice(path);
      known.keySet().removeIf(one -> FSUtils.isLogFile(one) && FileSlices.slice(one).equals(slice));
    }
    known.put(path, made);
  }
}
