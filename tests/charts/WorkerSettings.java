package software.amazon.msk.auth.iam;

import java.io.FileReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.runtime.distributed.DistributedConfig;

/**
 * Reads every *.properties of a folder with the class that the worker reads its settings with, and prints
 * scenario, key and resolved value. Starts nothing. Lies in this package for the class below.
 */
public class WorkerSettings {

  public static void main(String[] arguments) throws Exception {
    // Kafka looks for classes where the thread does: the class below must be found.
    Thread.currentThread().setContextClassLoader(WorkerSettings.class.getClassLoader());
    try (var files = Files.newDirectoryStream(Path.of(arguments[0]), "*.properties")) {
      for (Path file : files) {
        print(file.getFileName().toString().replace(".properties", ""), read(file));
      }
    }
  }

  private static Map<String, String> read(Path file) throws Exception {
    Properties properties = new Properties();
    try (FileReader reader = new FileReader(file.toFile())) {
      properties.load(reader);
    }
    Map<String, String> settings = new HashMap<>();
    properties.forEach((key, value) -> settings.put(key.toString(), value.toString()));
    return settings;
  }

  /** The worker opens its own topics with clients that are handed all of its settings, providers included. */
  private static void asProducer(Map<String, Object> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    new ProducerConfig(all);
  }

  private static void print(String scenario, Map<String, String> settings) {
    DistributedConfig config = new DistributedConfig(settings);
    asProducer(config.originals());
    Map<String, Object> all = new HashMap<>(config.originals());
    config.values().forEach((key, value) -> all.merge(key, value == null ? "" : value, (original, parsed) -> parsed));
    for (String key : List.of("rest.advertised.host.name", "connector.client.config.override.policy",
        "plugin.discovery", "config.providers", "config.storage.replication.factor", "producer.sasl.jaas.config")) {
      System.out.println(scenario + "\t" + key + "\t" + all.get(key));
    }
  }
}

/** Stands for the class of the same name in MSK's own jar, which the bundle brings and the local lake has not. */
class IAMClientCallbackHandler {}
