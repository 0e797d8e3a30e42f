import java.util.Map;
import java.util.Random;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.util.TaskCompletionListener;

/**
 * One task in five fails once, when its work is done: all that it wrote is there, and its next attempt writes it again.
 */
public final class FailingTasks implements SparkPlugin, ExecutorPlugin {

  private static final double SHARE = 0.2;

  private Random chance;

  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return this;
  }

  @Override
  public void init(PluginContext context, Map<String, String> fromDriver) {
    chance = new Random(context.conf().getLong("spark.failingTasks.seed", 0) + context.executorID().hashCode());
  }

  @Override
  public void onTaskStart() {
    TaskContext task = TaskContext.get();
    if (task.attemptNumber() == 0 && chance.nextDouble() < SHARE) {
      TaskCompletionListener fail = ended -> { throw new IllegalStateException("fails on purpose"); };
      task.addTaskCompletionListener(fail);
    }
  }
}
