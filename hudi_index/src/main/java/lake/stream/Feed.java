package lake.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One consumer over the topics of all tables. It reads ahead, within limits, so that an idle topic costs nothing.
 *
 * <p>One thread at a time may call poll() and messages(); the other methods may be called from any thread, and take
 * effect at the next poll().
 */
public final class Feed {
  private static final long LEAST_BYTES = 256 * 1024; // of one partition, however many there are
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Queue<Runnable> requests = new ConcurrentLinkedQueue<>();
  private final Map<TopicPartition, Buffer> buffers = new HashMap<>();
  private final Map<String, Object> fetched = new TreeMap<>();
  private final Map<String, Object> failures = new TreeMap<>();
  private final long bytes;

  /** settings: of a Kafka consumer. bytes: of the messages that may be held for all topics together. */
  public Feed(Map<String, String> settings, long bytes) {
    Properties properties = new Properties();
    properties.putAll(settings);
    properties.put("enable.auto.commit", "false");
    properties.put("auto.offset.reset", "none"); // lost messages are an error, which the table reports
    properties.put("allow.auto.create.topics", "false");
    properties.put("max.poll.records", "5000");
    properties.put("max.partition.fetch.bytes", "524288"); // the consumer keeps as much again of a paused partition
    properties.put("fetch.max.bytes", "16777216");
    // With Spark's 20 ms a consumer without messages would ask fifty times a second.
    properties.put("fetch.max.wait.ms", "500");
    consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    this.bytes = bytes;
  }

  /**
   * Reads a topic from the next offset of each partition (its number as text) on.
   *
   * @param keeps false where only the offsets are of interest, not the messages
   */
  public void follow(String topic, Map<String, ? extends Number> offsets, boolean keeps) {
    Map<String, Number> from = new HashMap<>(offsets);
    requests.add(() -> begin(topic, from, keeps));
  }

  /** Ends follow(). */
  public void leave(String topic) {
    requests.add(() -> end(topic));
  }

  /** Forgets the messages before these offsets: all tables of the topic have them. */
  public void skip(String topic, Map<String, ? extends Number> offsets) {
    Map<String, Number> to = new HashMap<>(offsets);
    requests.add(() -> to.forEach((number, offset) -> skip(partition(topic, number), offset.longValue())));
  }

  /**
   * Waits for messages, for so long at most. Returns JSON: by topic that got some, the next offset of each partition
   * ("ends"), and why a topic is no longer read ("failures").
   */
  public String poll(long milliseconds) {
    fetched.clear();
    failures.clear();
    for (Runnable next = requests.poll(); next != null; next = requests.poll()) {
      next.run();
    }
    if (buffers.isEmpty()) {
      sleep(milliseconds);
    } else {
      fetch(milliseconds);
    }
    Map<String, Object> found = new HashMap<>();
    found.put("ends", fetched);
    found.put("failures", failures);
    return Json.of(found);
  }

  /**
   * The messages of a topic from these offsets on, in the order of each partition, of so many bytes at most. None if one
   * of the first ones is not here: a request to read from there on may still be waiting for poll().
   */
  public List<ConsumerRecord<byte[], byte[]>> messages(
      String topic, Map<String, ? extends Number> from, long most) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    for (Map.Entry<String, ? extends Number> one : from.entrySet()) {
      Buffer buffer = buffers.get(partition(topic, one.getKey()));
      if (buffer == null || !buffer.addTo(found, one.getValue().longValue(), most / from.size())) {
        return Collections.emptyList();
      }
    }
    return found;
  }

  private void begin(String topic, Map<String, Number> offsets, boolean keeps) {
    end(topic);
    offsets.forEach((number, offset) -> buffers.put(partition(topic, number), new Buffer(offset.longValue(), keeps)));
    consumer.assign(buffers.keySet());
    offsets.forEach((number, offset) -> consumer.seek(partition(topic, number), offset.longValue()));
  }

  private void end(String topic) {
    buffers.keySet().removeIf(partition -> partition.topic().equals(topic));
    consumer.assign(buffers.keySet());
  }

  private void skip(TopicPartition partition, long offset) {
    Buffer buffer = buffers.get(partition);
    if (buffer != null && buffer.forget(offset)) {
      consumer.seek(partition, offset);
    }
  }

  private void fetch(long milliseconds) {
    limit();
    try {
      ConsumerRecords<byte[], byte[]> found = consumer.poll(Duration.ofMillis(milliseconds));
      found.partitions().forEach(partition -> add(partition, found.records(partition)));
    } catch (OffsetOutOfRangeException missing) {
      fail(missing.offsetOutOfRangePartitions().keySet(), "messages were deleted before they were read", missing);
    } catch (TopicAuthorizationException refused) {
      fail(of(refused.unauthorizedTopics()), "Kafka refuses to show its messages", refused);
    } catch (KafkaException error) { // a broken batch, for example: the text names the partition
      Set<TopicPartition> named = named(error);
      if (named.isEmpty()) {
        throw error;
      }
      fail(named, "its messages can't be read", error);
    }
  }

  private Set<TopicPartition> of(Set<String> topics) {
    return buffers.keySet().stream().filter(one -> topics.contains(one.topic())).collect(Collectors.toSet());
  }

  private Set<TopicPartition> named(KafkaException error) {
    String text = String.valueOf(error.getMessage());
    return buffers.keySet().stream().filter(one -> text.contains(one.toString())).collect(Collectors.toSet());
  }

  private void fail(Set<TopicPartition> partitions, String reason, RuntimeException cause) {
    for (TopicPartition one : new ArrayList<>(partitions)) {
      end(one.topic());
      failures.put(one.topic(), reason + ": " + cause.getMessage());
    }
  }

  /** A partition that holds its share of the memory waits until its messages are taken. */
  private void limit() {
    long share = Math.max(LEAST_BYTES, bytes / buffers.size());
    buffers.forEach((partition, buffer) -> {
      if (buffer.bytes() < share) {
        consumer.resume(Collections.singletonList(partition));
      } else {
        consumer.pause(Collections.singletonList(partition));
      }
    });
  }

  @SuppressWarnings("unchecked")
  private void add(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> found) {
    Buffer buffer = buffers.get(partition);
    buffer.add(found);
    Object ends = fetched.computeIfAbsent(partition.topic(), topic -> new TreeMap<String, Object>());
    ((Map<String, Object>) ends).put(Integer.toString(partition.partition()), buffer.end());
  }

  private static TopicPartition partition(String topic, String number) {
    return new TopicPartition(topic, Integer.parseInt(number));
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
