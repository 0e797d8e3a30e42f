package lake.trial;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Files of this machine that behave like objects of S3, and whose requests fail on purpose ({@link Faults}).
 *
 * <p>As in S3A, a file is there as a whole when its stream is closed, is looked for when it is created, and gets nothing
 * appended. For tests alone: as fs.s3a.impl, it serves /folder as s3a://any/folder.
 */
public final class FaultyStore extends FileSystem {

  private final RawLocalFileSystem files = new RawLocalFileSystem();
  private URI uri;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    files.initialize(URI.create("file:///"), conf);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  public String getScheme() {
    return "s3a";
  }

  @Override
  public FSDataInputStream open(Path path, int buffer) throws IOException {
    return Faults.request("GET", path, () -> files.open(local(path), buffer));
  }

  @Override
  public FSDataOutputStream create(
      Path path, FsPermission permission, boolean overwrite, int buffer, short copies, long block, Progressable progress)
      throws IOException {
    boolean there = Faults.request("LIST", path, () -> files.exists(local(path)));
    if (there && !overwrite) {
      throw new FileAlreadyExistsException(path.toString());
    }
    return new FSDataOutputStream(new Upload(path), null);
  }

  @Override
  public FSDataOutputStream append(Path path, int buffer, Progressable progress) {
    throw new UnsupportedOperationException("an object can't be appended to");
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    return Faults.request("COPY", to, () -> files.rename(local(from), local(to)));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return Faults.request("DELETE", path, () -> files.delete(local(path), recursive));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return Faults.request("LIST", path, () -> here(files.listStatus(local(path))));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return Faults.request("HEAD", path, () -> here(files.getFileStatus(local(path))));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return Faults.request("PUT", path, () -> files.mkdirs(local(path)));
  }

  @Override
  public Path getWorkingDirectory() {
    return new Path(uri + "/");
  }

  @Override
  public void setWorkingDirectory(Path path) {}

  private FileStatus[] here(FileStatus[] found) {
    FileStatus[] same = new FileStatus[found.length];
    for (int place = 0; place < found.length; place++) {
      same[place] = here(found[place]);
    }
    return same;
  }

  private FileStatus here(FileStatus one) {
    Path path = new Path(uri + one.getPath().toUri().getPath());
    return new FileStatus(one.getLen(), one.isDirectory(), 1, one.getBlockSize(), one.getModificationTime(), path);
  }

  private static Path local(Path path) {
    return new Path("file", null, path.toUri().getPath());
  }

  /** What is written before the stream is closed is nowhere else. */
  private final class Upload extends OutputStream {

    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private final Path path;
    private boolean closed;

    Upload(Path path) {
      this.path = path;
    }

    @Override
    public void write(int one) {
      content.write(one);
    }

    @Override
    public void write(byte[] many, int from, int length) {
      content.write(many, from, length);
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        Faults.request("PUT", path, this::put);
      }
    }

    private Void put() throws IOException {
      files.mkdirs(local(path.getParent()));
      try (OutputStream out = files.create(local(path), true)) {
        content.writeTo(out);
      }
      return null;
    }
  }
}
