package lake.stream;

import java.util.ArrayDeque;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The messages of one partition that were read ahead. */
final class Buffer {
  private final ArrayDeque<ConsumerRecord<byte[], byte[]>> messages = new ArrayDeque<>();
  private final boolean keeps;
  private long begin;
  private long end;
  private long bytes;

  /** begin: the first offset that is wanted. keeps: false where only the offsets are of interest. */
  Buffer(long begin, boolean keeps) {
    this.begin = begin;
    this.end = begin;
    this.keeps = keeps;
  }

  void add(List<ConsumerRecord<byte[], byte[]>> found) {
    for (ConsumerRecord<byte[], byte[]> one : found) {
      end = one.offset() + 1;
      if (keeps && one.offset() >= begin) {
        messages.add(one);
        bytes += size(one);
      }
    }
  }

  /** Forgets the messages before an offset. True if the consumer has not come so far: it may go on from there. */
  boolean forget(long before) {
    begin = Math.max(begin, before);
    while (!messages.isEmpty() && messages.peek().offset() < begin) {
      bytes -= size(messages.poll());
    }
    boolean isAhead = before > end;
    end = Math.max(end, before);
    return isAhead;
  }

  /** Adds the messages from an offset on, of so many bytes at most. False if some of them are no longer here. */
  boolean addTo(List<ConsumerRecord<byte[], byte[]>> found, long from, long most) {
    if (from < begin) {
      return false;
    }
    long taken = 0;
    for (ConsumerRecord<byte[], byte[]> one : messages) {
      if (one.offset() >= from && taken < most) {
        found.add(one);
        taken += size(one);
      }
    }
    return true;
  }

  /** The offset after the last message that was read. */
  long end() {
    return end;
  }

  long bytes() {
    return bytes;
  }

  /** Of the value, and of the objects around it. */
  private static long size(ConsumerRecord<byte[], byte[]> one) {
    return 200 + Math.max(0, one.serializedKeySize()) + Math.max(0, one.serializedValueSize());
  }
}
