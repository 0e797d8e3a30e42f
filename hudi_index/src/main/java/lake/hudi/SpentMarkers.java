package lake.hudi;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the markers of completed commits, many at a time.
 *
 * <p>Hudi reads the markers of an instant only to roll it back while it is unfinished. Its clients delete them after each
 * commit, which takes five requests on S3; its archiver deletes what is left of them.
 */
final class SpentMarkers {

  private static final Logger LOG = LoggerFactory.getLogger(SpentMarkers.class);
  private static final int MANY = 100;

  private int commits;

  /** To be called after each commit. Nothing is deleted while a service is at work, because it has markers, too. */
  void countCommit(HeldTable<?> table) {
    commits++;
    if (commits >= MANY && table.isQuiet()) {
      commits = 0;
      delete(table);
    }
  }

  private static void delete(HeldTable<?> table) {
    try {
      table.meta.getFs().delete(new Path(table.meta.getTempFolderPath()), true);
    } catch (IOException | RuntimeException failed) {
      LOG.warn("markers of completed commits stay in {}", table.meta.getTempFolderPath(), failed);
    }
  }
}
