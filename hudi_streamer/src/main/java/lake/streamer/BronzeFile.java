package lake.streamer;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;

/** A file of the archive, named {@code <topic>+<partition>+<first offset>.avro}. */
final class BronzeFile {
  private static final Pattern NAME = Pattern.compile(".*[+](\\d+)[+](\\d+)[.]avro");

  final String path;
  final int partition;
  final long start;
  final long modified;

  private BronzeFile(String path, int partition, long start, long modified) {
    this.path = path;
    this.partition = partition;
    this.start = start;
    this.modified = modified;
  }

  /** Empty for a file of another kind. */
  static Optional<BronzeFile> of(FileStatus status) {
    Matcher name = NAME.matcher(status.getPath().getName());
    if (!name.matches()) {
      return Optional.empty();
    }
    int partition = Integer.parseInt(name.group(1));
    long start = Long.parseLong(name.group(2));
    return Optional.of(new BronzeFile(status.getPath().toString(), partition, start, status.getModificationTime()));
  }
}
