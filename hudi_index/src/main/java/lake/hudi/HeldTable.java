package lake.hudi;

import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import lake.NotPlain;
import org.apache.avro.Schema;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.avro.HoodieAvroUtils;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.engine.HoodieLocalEngineContext;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieActiveTimeline;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.spark.sql.types.StructType;

/** A plain table as of its newest instant: options, schema, file slices. Held as long as nobody else writes to it. */
final class HeldTable<T> {

  final HoodieTableMetaClient meta;
  final HoodieWriteConfig config;
  final HoodieEngineContext context;
  final FileSlices<T> slices;
  final RowRecords records;
  /** Entries of the last commit that the next ones repeat, as HoodieStreamer looks for them in the active timeline. */
  final Map<String, String> checkpoints;

  private Set<HoodieInstant> known;

  /** Reads the table. Throws NotPlain. */
  HeldTable(HoodieWriteConfig options, Configuration hadoop, StructType columns) throws NotPlain {
    this.meta = HoodieTableMetaClient.builder().setConf(hadoop).setBasePath(options.getBasePath()).build();
    KnownFiles.use(meta);
    HoodieInstantTimeGenerator.setCommitTimeZone(meta.getTableConfig().getTimelineTimezone());
    PlainTable.refuseProperties(meta.getTableConfig());
    this.known = instants();
    PlainTable.refusePending(known);
    HoodieCommitMetadata last = Checkpoints.lastWithSchema(meta);
    PlainTable.refuseSchemaOnRead(last);
    Schema schema = HoodieAvroUtils.removeMetadataFields(schema(last));
    this.config = withSchema(options, schema);
    this.records = new RowRecords(config, columns, schema);
    this.context = new HoodieLocalEngineContext(hadoop);
    this.slices = new FileSlices<>(config, context, meta);
    this.checkpoints = Checkpoints.of(meta);
  }

  /** True if there is no instant but the known ones. One request: it lists the timeline. Throws NotPlain. */
  boolean isCurrent() throws NotPlain {
    meta.reloadActiveTimeline();
    Set<HoodieInstant> now = instants();
    PlainTable.refusePending(now);
    Set<HoodieInstant> gone = new HashSet<>(known);
    gone.removeAll(now);
    // Completed instants leave the timeline when it is archived.
    boolean same = known.containsAll(now) && gone.stream().allMatch(HoodieInstant::isCompleted);
    known = now;
    return same;
  }

  /** An instant after all others. Throws NotPlain if the clock is behind. */
  String nextInstant() throws NotPlain {
    String next = HoodieActiveTimeline.createNewInstantTime();
    boolean late = known.stream().anyMatch(one -> one.getTimestamp().compareTo(next) >= 0);
    PlainTable.refuse(late, "the clock is behind its last instant");
    return next;
  }

  void know(HoodieInstant own) {
    known.add(own);
  }

  /** True if no service is at work: as of the last look at the timeline. */
  boolean isQuiet() {
    return known.stream().allMatch(HoodieInstant::isCompleted);
  }

  private Set<HoodieInstant> instants() {
    return new HashSet<>(meta.getActiveTimeline().getInstants());
  }

  private static Schema schema(HoodieCommitMetadata last) {
    return new Schema.Parser().parse(last.getMetadata(HoodieCommitMetadata.SCHEMA_KEY));
  }

  private static HoodieWriteConfig withSchema(HoodieWriteConfig options, Schema schema) {
    Properties properties = new Properties();
    properties.putAll(options.getProps());
    return HoodieWriteConfig.newBuilder().withProperties(properties).withSchema(schema.toString())
        .withMarkersType("DIRECT").build();
  }
}
