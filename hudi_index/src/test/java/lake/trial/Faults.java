package lake.trial;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;

/** Which request of all {@link FaultyStore}s of this JVM fails, and how. The requests are noted: "PUT name". */
public final class Faults {

  /** What happens to a request. */
  public enum Kind {
    /** The process ends before it was sent: nothing catches that, and no later request is carried out. */
    KILLED_BEFORE,
    /** The process ends after it was carried out. */
    KILLED_AFTER,
    /** The JVM halts before it, as by kill -9. */
    HALTED_BEFORE,
    HALTED_AFTER,
    /** An error; it was not carried out. */
    REFUSED,
    /** An error, though it was carried out. */
    ANSWER_LOST,
    /** An error for this and all later requests. */
    GONE,
    /** An error; it is carried out when {@link #arrive} is called: another server had it. */
    LATE,
    /** It is carried out when {@link #release} is called: the process was stopped. Other threads go on. */
    HELD
  }

  /** As a process that was killed: no handler of exceptions ends it in order. */
  public static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** A request. */
  interface Request<T> {
    T send() throws IOException;
  }

  private static final List<String> SEEN = new ArrayList<>();
  private static final List<Request<?>> UNDER_WAY = new ArrayList<>();
  private static Kind kind;
  private static int left = -1;
  private static boolean ended;
  private static CountDownLatch holds = new CountDownLatch(1);
  private static CountDownLatch released = new CountDownLatch(1);

  private Faults() {}

  /** From now on, the request of this number (from 1 on) meets the fault. */
  public static synchronized void plan(int number, String fault) {
    heal();
    kind = Kind.valueOf(fault);
    left = number;
    holds = new CountDownLatch(1);
    released = new CountDownLatch(1);
  }

  /** No request fails any more. Returns those since {@link #plan}, or since the last call. */
  public static synchronized List<String> heal() {
    List<String> seen = new ArrayList<>(SEEN);
    SEEN.clear();
    left = -1;
    ended = false;
    return seen;
  }

  /** Carries out what is late. */
  public static synchronized void arrive() throws IOException {
    for (Request<?> one : UNDER_WAY) {
      one.send();
    }
    UNDER_WAY.clear();
  }

  /** Waits until a request is HELD. False if that takes too long. */
  public static boolean awaitHeld(int seconds) throws InterruptedException {
    return holds.await(seconds, TimeUnit.SECONDS);
  }

  public static void release() {
    released.countDown();
  }

  static <T> T request(String what, Path path, Request<T> request) throws IOException {
    if (meets(what + " " + path.getName())) {
      meet(request);
    }
    return request.send();
  }

  private static synchronized boolean meets(String name) throws IOException {
    SEEN.add(name);
    if (ended) {
      fail();
    }
    return left != -1 && --left == 0;
  }

  private static void meet(Request<?> request) throws IOException {
    ended = kind == Kind.KILLED_BEFORE || kind == Kind.KILLED_AFTER || kind == Kind.GONE;
    if (kind == Kind.HELD) {
      hold();
      return;
    }
    if (kind == Kind.HALTED_BEFORE) {
      Runtime.getRuntime().halt(137);
    }
    if (kind == Kind.LATE) {
      UNDER_WAY.add(request);
    }
    if (kind == Kind.KILLED_AFTER || kind == Kind.HALTED_AFTER || kind == Kind.ANSWER_LOST) {
      request.send();
    }
    fail();
  }

  private static void hold() throws IOException {
    holds.countDown();
    try {
      released.await();
    } catch (InterruptedException ended) {
      throw new InterruptedIOException("interrupted while it was held");
    }
  }

  private static void fail() throws IOException {
    if (kind == Kind.HALTED_AFTER) {
      Runtime.getRuntime().halt(137);
    }
    if (kind == Kind.KILLED_BEFORE || kind == Kind.KILLED_AFTER) {
      throw new Killed();
    }
    throw new IOException("no answer: " + kind);
  }
}
