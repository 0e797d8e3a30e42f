package lake.connect;

import java.util.ArrayList;
import java.util.List;

/** PostgreSQL's text of an array: {1,NULL,"a b"}, with bounds in front where they do not start at 1. */
final class PostgresArray {

    /** The prefix of the literal of an array of several dimensions; no text of PostgreSQL contains it. */
    static final String NESTED = "\u0000";

    private final String text;
    private int at;

    private PostgresArray(String text) {
        this.text = text;
    }

    /** The elements' texts, null for NULL; for an array of several dimensions, NESTED and its literal. */
    static List<String> elements(Object value) {
        String literal = value.toString();
        String braces = literal.startsWith("[") ? literal.substring(literal.indexOf('=') + 1) : literal;
        if (!braces.startsWith("{") || !braces.endsWith("}")) {
            throw new IllegalArgumentException("not the text of a PostgreSQL array: "
                    + literal.substring(0, Math.min(40, literal.length())));
        }
        return braces.startsWith("{{") ? List.of(NESTED + literal) : new PostgresArray(braces).read();
    }

    private List<String> read() {
        List<String> elements = new ArrayList<>();
        for (at = 1; at < text.length() - 1; at++) {
            elements.add(text.charAt(at) == '"' ? quoted() : plain());
        }
        return elements;
    }

    private String quoted() {
        StringBuilder element = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                at++;
            }
            element.append(text.charAt(at));
        }
        at++;
        return element.toString();
    }

    private String plain() {
        int start = at;
        while (at < text.length() - 1 && text.charAt(at) != ',') {
            at++;
        }
        String element = text.substring(start, at);
        return element.equals("NULL") ? null : element;
    }
}
