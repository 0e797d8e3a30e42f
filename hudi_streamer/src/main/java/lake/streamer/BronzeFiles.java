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
 * <p>Hudi's own selector takes what is younger than the youngest file it has read, and so never reads a file that
 * comes later with an earlier time: S3 dates an upload in parts by its beginning. Here a new name is a new file
 * whatever its time; a time only tells that a known file was written anew.
 */
public class BronzeFiles extends DFSPathSelector {
  private static final String ROOT = "hoodie.streamer.source.dfs.root";

  private final transient Configuration hadoop;

  public BronzeFiles(TypedProperties props, Configuration hadoop) {
    super(props, hadoop);
    this.hadoop = hadoop;
  }

  /** The files that the position lacks, comma separated, and the position behind them; there is no limit of bytes. */
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
   * All files below which none can appear any more.
   *
   * <p>Files appear in the order of their offsets, but a listing of many is no moment: it may show a file and not the
   * one before. So the first listing says how far, and a second one, begun after it, shows all up to there.
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
