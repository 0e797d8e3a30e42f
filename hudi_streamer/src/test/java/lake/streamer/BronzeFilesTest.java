package lake.streamer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.Pair;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BronzeFilesTest {
  @TempDir Path root;

  private String checkpoint;

  @Test
  void readsAllPartitionsOnce() throws IOException {
    write(0, 0, 1000);
    write(1, 0, 1000);
    write(0, 40, 1000);
    assertEquals(Arrays.asList("0+0", "0+40", "1+0"), next());
    assertEquals("modified=1000;0=40;1=0", checkpoint);
    assertEquals(Arrays.asList(), next());
    assertEquals("modified=1000;0=40;1=0", checkpoint);
  }

  @Test
  void readsNewFileThatIsOlderThanWhatWasRead() throws IOException {
    write(0, 0, 9000);
    next();
    write(0, 40, 1000);
    write(2, 0, 1000);
    assertEquals(Arrays.asList("0+40", "2+0"), next());
    assertEquals(Arrays.asList(), next());
  }

  @Test
  void readsFileThatWasWrittenAnew() throws IOException {
    write(0, 0, 1000);
    write(0, 40, 2000);
    next();
    write(0, 0, 3000);
    assertEquals(Arrays.asList("0+0"), next());
    assertEquals("modified=3000;0=40", checkpoint);
  }

  @Test
  void readsAllAgainFromTheBeginning() throws IOException {
    write(0, 0, 1000);
    next();
    checkpoint = "beginning of 2026-11-21";
    assertEquals(Arrays.asList("0+0"), next());
  }

  @Test
  void sortsByNumberAndIgnoresOtherFiles() throws IOException {
    write(0, 12345678901L, 1000);
    write(0, 9999999999L, 1000);
    Files.write(root.resolve("partition=0").resolve("_SUCCESS"), new byte[1]);
    assertEquals(Arrays.asList("0+9999999999", "0+12345678901"), next());
  }

  @Test
  void topicWithoutArchiveHasNothing() throws IOException {
    root = root.resolve("missing");
    assertEquals(Arrays.asList(), next());
    assertEquals(null, checkpoint);
  }

  @Test
  void refusesCheckpointOfAnotherSelector() {
    checkpoint = "1700000000000";
    assertThrows(IllegalArgumentException.class, this::next);
  }

  private void write(int partition, long start, long modified) throws IOException {
    Path folder = Files.createDirectories(root.resolve("partition=" + partition));
    Path file = folder.resolve(String.format("shop.public.sale+%d+%010d.avro", partition, start));
    Files.write(file, new byte[1]);
    Files.setLastModifiedTime(file, FileTime.fromMillis(modified));
  }

  /** partition+start of what is selected next. */
  private List<String> next() {
    TypedProperties props = new TypedProperties();
    props.setProperty("hoodie.streamer.source.dfs.root", root.toUri().toString());
    Pair<Option<String>, String> found =
        new BronzeFiles(props, new Configuration())
            .getNextFilePathsAndMaxModificationTime(Option.ofNullable(checkpoint), 1);
    checkpoint = found.getRight();
    List<String> paths = Arrays.asList(found.getLeft().orElse("").split(","));
    return paths.stream().filter(path -> !path.isEmpty()).map(BronzeFilesTest::named).collect(Collectors.toList());
  }

  private static String named(String path) {
    String[] parts = path.substring(path.lastIndexOf('/') + 1, path.length() - ".avro".length()).split("[+]");
    return parts[1] + "+" + Long.parseLong(parts[2]);
  }
}
