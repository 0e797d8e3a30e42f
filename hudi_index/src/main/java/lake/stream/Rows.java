package lake.stream;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * The rows of messages, by the SQL of a DataFrame, but without a Spark job: its projections are compiled once, and run
 * in the thread that calls. So the SQL of the general road is the only definition of a row.
 *
 * <p>Not for two threads at once.
 */
public final class Rows {
  private final List<UnsafeProjection> steps = new ArrayList<>();
  private final GenericInternalRow message = new GenericInternalRow(3);
  private final StructType type;

  /**
   * Compiles the columns of a DataFrame over messages: partition int, offset bigint, value binary.
   *
   * @throws IllegalArgumentException if it has more than projections: a filter, or an aggregation
   */
  public Rows(Dataset<Row> rows) {
    SparkSession.setActiveSession(rows.sparkSession()); // whose settings the compiled code has
    type = rows.schema();
    LogicalPlan plan = rows.queryExecution().optimizedPlan();
    for (; plan instanceof Project; plan = ((Project) plan).child()) {
      steps.add(compiled((Project) plan));
    }
    if (!plan.children().isEmpty()) {
      throw new IllegalArgumentException("not only projections: " + plan.nodeName());
    }
    Collections.reverse(steps);
  }

  /** The type of the rows. */
  public StructType type() {
    return type;
  }

  /** The row of one message; valid until the next call. */
  public UnsafeRow of(int partition, long offset, byte[] value) {
    message.update(0, partition);
    message.update(1, offset);
    message.update(2, value);
    InternalRow row = message;
    for (UnsafeProjection step : steps) {
      row = step.apply(row);
    }
    return (UnsafeRow) row;
  }

  /** The values of some columns of such a row, as a row of their own; valid until the next call. */
  public UnsafeProjection columns(List<String> names) {
    List<Expression> wanted = new ArrayList<>();
    for (String name : names) {
      int ordinal = type.fieldIndex(name);
      wanted.add(bound(ordinal));
    }
    return UnsafeProjection$.MODULE$.create(seq(wanted));
  }

  private Expression bound(int ordinal) {
    return new org.apache.spark.sql.catalyst.expressions.BoundReference(
        ordinal, type.fields()[ordinal].dataType(), type.fields()[ordinal].nullable());
  }

  @SuppressWarnings("unchecked")
  private static UnsafeProjection compiled(Project project) {
    Seq<Expression> columns = (Seq<Expression>) (Seq<?>) project.projectList();
    Seq<Attribute> input = project.child().output();
    return UnsafeProjection$.MODULE$.create(columns.toSeq(), input.toSeq());
  }

  private static <T> scala.collection.immutable.Seq<T> seq(List<T> values) {
    return scala.collection.JavaConverters.asScalaBufferConverter(values).asScala().toList();
  }
}
