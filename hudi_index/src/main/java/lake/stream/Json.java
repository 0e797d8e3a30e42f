package lake.stream;

import java.util.Map;
import java.util.stream.Collectors;

/** What Python reads: texts, numbers and maps of them. */
final class Json {
  private Json() {}

  static String map(Map<String, ?> values) {
    return values.entrySet().stream()
        .map(one -> text(one.getKey()) + ":" + value(one.getValue()))
        .collect(Collectors.joining(",", "{", "}"));
  }

  static String text(String value) {
    StringBuilder escaped = new StringBuilder("\"");
    for (char letter : value.toCharArray()) {
      if (letter == '"' || letter == '\\' || letter < ' ') {
        escaped.append(String.format("\\u%04x", (int) letter));
      } else {
        escaped.append(letter);
      }
    }
    return escaped.append('"').toString();
  }

  @SuppressWarnings("unchecked")
  private static String value(Object value) {
    if (value instanceof Map) {
      return map((Map<String, ?>) value);
    }
    return value instanceof Number ? value.toString() : text(value.toString());
  }
}
