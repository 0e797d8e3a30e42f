package lake.secrets;

import java.net.URI;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.secretsmanager.SecretsManagerClient;

/**
 * Settings of Kafka Connect from AWS Secrets Manager: <code>${secrets:database:password}</code> is the field
 * <code>password</code> of the secret that the worker calls <code>database</code>. No provider that Maven has does this
 * for Kafka 4.
 *
 * <p>Parameters: <code>region</code>; <code>secrets</code>, such as <code>database=ARN,registry=ARN</code>: a connector
 * may read these secrets and no others; <code>endpoint</code>, for tests. A secret is one JSON object. It is read
 * whenever a connector starts, so a new password needs a restart of the connector only. No message shows a value.
 */
public class SecretsProvider implements ConfigProvider {

    private Map<String, String> arns = Map.of();
    private SecretsManagerClient client;

    @Override
    public void configure(Map<String, ?> configs) {
        arns = Arrays.stream(text(configs, "secrets").split(","))
                .map(pair -> pair.strip().split("=", 2))
                .collect(Collectors.toUnmodifiableMap(pair -> pair[0], SecretsProvider::arn));
        var builder = SecretsManagerClient.builder()
                .region(Region.of(text(configs, "region")))
                .httpClient(UrlConnectionHttpClient.create());
        if (configs.get("endpoint") instanceof String endpoint) {
            builder.endpointOverride(URI.create(endpoint));
        }
        client = builder.build();
    }

    @Override
    public ConfigData get(String name) {
        return new ConfigData(fields(name));
    }

    @Override
    public ConfigData get(String name, Set<String> keys) {
        Map<String, String> fields = fields(name);
        for (String key : keys) {
            if (!fields.containsKey(key)) {
                throw new ConfigException("the secret '" + name + "' has no field '" + key + "'");
            }
        }
        return new ConfigData(keys.stream().collect(Collectors.toMap(key -> key, fields::get)));
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
        }
    }

    private Map<String, String> fields(String name) {
        if (!arns.containsKey(name)) {
            throw new ConfigException("no connector may read the secret '" + name + "'; there are: " + arns.keySet());
        }
        return parsed(name, stored(name)).entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().text()));
    }

    private String stored(String name) {
        try {
            return client.getSecretValue(request -> request.secretId(arns.get(name))).secretString();
        } catch (SdkException problem) {
            throw new ConfigException("the secret '" + name + "' cannot be read: " + problem.getMessage());
        }
    }

    private static Map<String, JsonNode> parsed(String name, String secret) {
        try {
            return JsonNode.parser().parse(secret).asObject();
        } catch (RuntimeException notAnObject) { // its message would show the text
            throw new ConfigException("the secret '" + name + "' is not one JSON object");
        }
    }

    private static String arn(String[] pair) {
        if (pair.length < 2 || pair[1].isBlank()) {
            throw new ConfigException("'secrets' of the provider must be name=ARN,name=ARN");
        }
        return pair[1];
    }

    private static String text(Map<String, ?> configs, String name) {
        if (configs.get(name) instanceof String text && !text.isBlank()) {
            return text;
        }
        throw new ConfigException("the provider of secrets has no '" + name + "'; set config.providers.<name>.param." + name);
    }
}
