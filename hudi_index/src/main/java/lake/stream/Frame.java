package lake.stream;

import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** What a value begins with: a zero, and the id of the writer's schema in four bytes. */
public final class Frame {

  static final int LENGTH = 5;
  private static final int NONE = -1;

  private Frame() {}

  /** The id of the writer's schema; -1 for a value without a frame. */
  public static int writer(byte[] value) {
    return value == null || value.length < LENGTH || value[0] != 0 ? NONE : ByteBuffer.wrap(value, 1, 4).getInt();
  }

  /** The same, of a message. */
  public static int writer(ConsumerRecord<byte[], byte[]> message) {
    return writer(message.value());
  }
}
