package lake.stream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;

/**
 * Settings of a Kafka client from AWS Secrets Manager, on a node of EMR: <code>${secrets:kafka:password}</code> is the
 * field <code>password</code> of the secret that the settings call <code>kafka</code>. So no option of Spark, no
 * argument and no log has a password. The CLI of the node reads it, with the rights of the node: EMR 6 and EMR 7 have
 * different SDKs.
 *
 * <p>Parameters: <code>region</code>, which the CLI of EMR 6 does not know; <code>secrets</code>, such as
 * <code>kafka=ARN</code>; <code>program</code>, for tests. A secret is one JSON object. A JVM reads it once, so a new
 * password needs a new start of the job. No message shows a value.
 */
public final class SecretsByCli implements ConfigProvider {
  private static final Map<String, Map<String, String>> READ = new ConcurrentHashMap<>();
  private final Map<String, String> arns = new HashMap<>();
  private String region = "";
  private String program = "aws";

  @Override
  public void configure(Map<String, ?> configs) {
    region = String.valueOf(configs.get("region"));
    program = configs.containsKey("program") ? String.valueOf(configs.get("program")) : program;
    for (String pair : String.valueOf(configs.get("secrets")).split(",")) {
      String[] parts = pair.split("=", 2);
      if (parts.length < 2) {
        throw new ConfigException("'secrets' of the provider must be name=ARN,name=ARN");
      }
      arns.put(parts[0], parts[1]);
    }
  }

  @Override
  public ConfigData get(String name) {
    return new ConfigData(fields(name));
  }

  @Override
  public ConfigData get(String name, Set<String> keys) {
    Map<String, String> found = fields(name);
    for (String key : keys) {
      if (!found.containsKey(key)) {
        throw new ConfigException("the secret '" + name + "' has no field '" + key + "'");
      }
    }
    return new ConfigData(keys.stream().collect(Collectors.toMap(key -> key, found::get)));
  }

  @Override
  public void close() {}

  private Map<String, String> fields(String name) {
    if (!arns.containsKey(name)) {
      throw new ConfigException("there is no secret '" + name + "'; there are: " + arns.keySet());
    }
    return READ.computeIfAbsent(arns.get(name), arn -> parsed(name, stored(name, arn)));
  }

  private String stored(String name, String arn) {
    try {
      Process process =
          new ProcessBuilder(
                  program, "secretsmanager", "get-secret-value", "--region", region, "--secret-id", arn, "--query",
                  "SecretString", "--output", "text")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      process.getOutputStream().close();
      String text;
      try (BufferedReader output =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        text = output.lines().collect(Collectors.joining("\n"));
      }
      if (process.waitFor() != 0) {
        throw new ConfigException("the secret '" + name + "' cannot be read: see what the AWS CLI says in this log");
      }
      return text;
    } catch (IOException problem) {
      throw new ConfigException("the AWS CLI cannot be started: " + problem.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ConfigException("interrupted while the secret '" + name + "' was read");
    }
  }

  private static Map<String, String> parsed(String name, String secret) {
    try {
      Map<String, String> found = new HashMap<>();
      ObjectNode fields = new ObjectMapper().readValue(secret, ObjectNode.class);
      fields.fields().forEachRemaining(one -> found.put(one.getKey(), one.getValue().asText()));
      return found;
    } catch (JsonProcessingException | NullPointerException notAnObject) { // their messages would show the text
      throw new ConfigException("the secret '" + name + "' is not one JSON object");
    }
  }
}
