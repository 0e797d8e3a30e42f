package lake.streamer;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.ImmutablePair;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.exception.HoodieIOException;
import org.apache.hudi.utilities.sources.helpers.DFSPathSelector;

/**
 * Selects the files of one bronze topic, all partitions, by the offsets in their names.
 *
 * <p>Hudi's own selector takes files that are newer than the newest file it has read. So it never reads a file that
 * arrives later with an earlier time: S3 dates a multipart upload by its start. Here a new name is a new file
 * whatever its time; the time only shows that a known file was rewritten.
 */
public class BronzeFiles extends DFSPathSelector {
  private static final String ROOT = "hoodie.streamer.source.dfs.root";

  private final transient Configuration hadoop;

  public BronzeFiles(TypedProperties props, Configuration hadoop) {
    super(props, hadoop);
    this.hadoop = hadoop;
  }

  /** The files not yet read at the position, comma separated, and the position after them; without a byte limit. */
  @Override
  public Pair<Option<String>, String> getNextFilePathsAndMaxModificationTime(Option<String> last, long limit) {
    BronzePosition position = BronzePosition.parse(last.orElse(null));
    List<BronzeFile> files = listed().stream().filter(position::lacks).collect(Collectors.toList());
    if (files.isEmpty()) {
      return new ImmutablePair<>(Option.empty(), last.orElse(null));
    }
    files.forEach(position::pass);
    String paths = files.stream().map(file -> file.path).collect(Collectors.joining(","));
    return new ImmutablePair<>(Option.of(paths), position.toString());
  }

  /**
   * All files up to a point below which no further file can appear.
   *
   * <p>Files appear in the order of their offsets, but a listing of many files is not atomic: it may show a file and miss
   * the one before it. So the first listing sets the point, and a second one, started later, shows all files up to it.
   */
  private List<BronzeFile> listed() {
    BronzePosition shown = new BronzePosition();
    list().forEach(shown::pass);
    return list().stream()
        .filter(file -> shown.reaches(file))
        .sorted(Comparator.comparingInt((BronzeFile file) -> file.partition).thenComparingLong(file -> file.start))
        .collect(Collectors.toList());
  }

  private List<BronzeFile> list() {
    Path root = new Path(props.getString(ROOT));
    List<BronzeFile> files = new ArrayList<>();
    try {
      FileSystem system = root.getFileSystem(hadoop);
      RemoteIterator<LocatedFileStatus> found = system.listFiles(root, true);
      while (found.hasNext()) {
        BronzeFile.of(found.next()).ifPresent(files::add);
      }
    } catch (FileNotFoundException nothingYet) {
      return files;
    } catch (IOException failure) {
      throw new HoodieIOException("cannot list " + root, failure);
    }
    return files;
  }
}
