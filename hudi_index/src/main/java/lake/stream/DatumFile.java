package lake.stream;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import lake.NotPlain;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A file of the archive that is being made: consecutive messages of one partition and one writer.
 *
 * <p>In Avro the bytes of a record are those of its fields, one after the other. So the bytes of a message, followed by
 * its offset, are a record of the writer's schema with one more field, and nothing is decoded and encoded again.
 */
public final class DatumFile {

  private final int partition;
  private final int writer;
  private final Schema schema;
  private final long first;
  private final long end;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataFileWriter<Object> file = new DataFileWriter<>(new GenericDatumWriter<>());
  private long next;
  private BinaryDecoder decoder;
  private byte[] datum = new byte[1024];

  /**
   * @param first the message that it begins with
   * @param schema of the messages
   * @param archived the same, with the field of the offset at its end
   * @param most offsets that it covers
   */
  public DatumFile(ConsumerRecord<byte[], byte[]> first, String schema, String archived, long most)
      throws IOException {
    this.partition = first.partition();
    this.writer = Frame.writer(first.value());
    this.schema = new Schema.Parser().parse(schema);
    this.first = first.offset();
    this.end = first.offset() + most;
    this.next = first.offset();
    file.setCodec(CodecFactory.snappyCodec()); // as Spark's writer of Avro does
    file.create(new Schema.Parser().parse(archived), bytes);
  }

  /**
   * Adds the messages from a place in the list on, as long as they belong to this file. Returns the place of the first
   * one that does not. Throws NotPlain at one that can't be decoded: those before it were added.
   */
  public int add(List<ConsumerRecord<byte[], byte[]>> messages, int place) throws IOException {
    int after = place;
    while (after < messages.size() && belongs(messages.get(after))) {
      append(messages.get(after));
      after++;
    }
    return after;
  }

  /** Its first offset. */
  public long first() {
    return first;
  }

  /** The offset after its last message. */
  public long next() {
    return next;
  }

  /** Writes it. On object stores it is there when it is whole. Throws FileAlreadyExistsException if it is there already. */
  public void save(String path, Configuration hadoop) throws IOException {
    file.close();
    Path target = new Path(path);
    try (FSDataOutputStream out = target.getFileSystem(hadoop).create(target, false)) {
      bytes.writeTo(out);
    }
  }

  private boolean belongs(ConsumerRecord<byte[], byte[]> message) {
    return message.partition() == partition && message.offset() < end && Frame.writer(message.value()) == writer;
  }

  private void append(ConsumerRecord<byte[], byte[]> message) throws IOException {
    int length = message.value().length - Frame.LENGTH;
    datum = datum.length < length + 10 ? new byte[2 * length + 10] : datum;
    System.arraycopy(message.value(), Frame.LENGTH, datum, 0, length);
    check(length, message);
    int size = length + writeLong(message.offset(), length);
    file.appendEncoded(ByteBuffer.wrap(datum, 0, size));
    next = message.offset() + 1;
  }

  /** Steps over the fields: the bytes have to end with the last one. */
  private void check(int length, ConsumerRecord<byte[], byte[]> message) {
    boolean fits;
    try {
      decoder = DecoderFactory.get().binaryDecoder(datum, 0, length, decoder);
      GenericDatumReader.skip(schema, decoder);
      fits = decoder.isEnd();
    } catch (IOException | RuntimeException broken) {
      fits = false;
    }
    if (!fits) {
      throw new NotPlain("partition " + message.partition() + " offset " + message.offset() + " can't be decoded");
    }
  }

  /** Avro's long: zigzag, seven bits a byte. Returns the number of bytes. */
  private int writeLong(long value, int at) {
    long rest = value << 1 ^ value >> 63;
    int place = at;
    for (; (rest & ~0x7F) != 0; rest >>>= 7) {
      datum[place++] = (byte) (rest | 0x80);
    }
    datum[place++] = (byte) rest;
    return place - at;
  }
}
