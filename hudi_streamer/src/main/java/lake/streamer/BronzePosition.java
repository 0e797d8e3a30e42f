package lake.streamer;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The read position of a topic: per partition the start of its newest file, and the time of the latest file. */
final class BronzePosition {
  private static final String BEGINNING = "beginning";
  private static final String MODIFIED = "modified";

  private final Map<Integer, Long> starts = new TreeMap<>();
  private long modified = Long.MIN_VALUE;

  /** Parses a checkpoint; null, or a text that starts with "beginning", means that nothing was read. */
  static BronzePosition parse(String text) {
    BronzePosition position = new BronzePosition();
    if (text == null || text.startsWith(BEGINNING)) {
      return position;
    }
    for (String part : text.split(";")) {
      position.read(part, text);
    }
    return position;
  }

  private void read(String part, String text) {
    String[] pair = part.split("=");
    try {
      if (pair[0].equals(MODIFIED)) {
        modified = Long.parseLong(pair[1]);
      } else {
        starts.put(Integer.valueOf(pair[0]), Long.valueOf(pair[1]));
      }
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException wrong) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a checkpoint of the archive, such as modified=1700000000000;0=1200", wrong);
    }
  }

  /** True for a file that is new or was rewritten. */
  boolean lacks(BronzeFile file) {
    return !reaches(file) || file.modified > modified;
  }

  boolean reaches(BronzeFile file) {
    return starts.containsKey(file.partition) && file.start <= starts.get(file.partition);
  }

  void pass(BronzeFile file) {
    starts.merge(file.partition, file.start, Math::max);
    modified = Math.max(modified, file.modified);
  }

  @Override
  public String toString() {
    String read = starts.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(";"));
    return MODIFIED + "=" + modified + ";" + read;
  }
}
