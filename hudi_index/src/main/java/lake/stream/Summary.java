package lake.stream;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The messages of one partition in a batch; the names are those of spark_jobs/events/batch.py. */
final class Summary {
  private static final int QUANTILES = 20;
  private final Set<String> generations = new TreeSet<>();
  private final Set<String> streaming = new TreeSet<>();
  private long[] committed = new long[64];
  private int changes;
  private int messages;
  private long bytes;
  private long offset;
  private Long lsn;

  void add(ConsumerRecord<byte[], byte[]> message, Facts facts) {
    messages++;
    bytes += message.value().length;
    offset = message.offset();
    Long found = facts.lsn();
    lsn = found == null ? lsn : lsn == null ? found : Long.valueOf(Math.max(lsn, found));
    String run = facts.run();
    if (run != null) {
      generations.add(run);
    }
    if (facts.isChange()) {
      change(facts.sourceMs(), run);
    }
  }

  Map<String, Object> facts(int partition) {
    Map<String, Object> found = new HashMap<>();
    found.put("partition", partition);
    found.put("offset", offset);
    found.put("messages", messages);
    found.put("bytes", bytes);
    found.put("lsn", lsn);
    found.put("changes", changes);
    found.put("committed_ms", quantiles());
    found.put("generations", generations);
    found.put("streaming", streaming);
    return found;
  }

  private void change(Long at, String run) {
    if (run != null) {
      streaming.add(run);
    }
    if (at != null) {
      committed = changes < committed.length ? committed : Arrays.copyOf(committed, 2 * changes);
      committed[changes++] = at;
    }
  }

  /** Null without changes. */
  private long[] quantiles() {
    if (changes == 0) {
      return null;
    }
    Arrays.sort(committed, 0, changes);
    long[] found = new long[QUANTILES + 1];
    for (int index = 0; index <= QUANTILES; index++) {
      found[index] = committed[(int) Math.min(changes - 1, (long) changes * index / QUANTILES)];
    }
    return found;
  }
}
