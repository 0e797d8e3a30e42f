package lake.iam;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.Map;

/** May a role do it? Asks iam/judge.mjs, which runs as a child of the broker, and remembers the answers. */
final class Judge {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path program;
    private final Path account;
    private final Path journal;
    private final Map<Question, Boolean> answers = new HashMap<>();
    private FileTime accountOf;
    private Process process;
    private Writer questions;
    private BufferedReader replies;
    private String cluster;

    Judge(Path program, Path account, Path journal) {
        this.program = program;
        this.account = account;
        this.journal = journal;
    }

    record Question(String role, String action, String resource) {}

    /** The ARN of the cluster that this broker stands for. */
    synchronized String cluster() {
        forgetAfterAChange();
        return cluster;
    }

    /** False, too, if there is no answer. */
    synchronized boolean may(Question question) {
        forgetAfterAChange();
        return answers.computeIfAbsent(question, this::ask);
    }

    private void forgetAfterAChange() {
        try {
            FileTime changed = Files.getLastModifiedTime(account);
            if (!changed.equals(accountOf)) {
                cluster = JSON.readTree(account.toFile()).get("cluster").asText();
                answers.clear();
                accountOf = changed;
            }
        } catch (IOException problem) {
            throw new IllegalStateException("no policies in " + account, problem);
        }
    }

    private boolean ask(Question question) {
        try {
            JsonNode reply = reply(question);
            note(question, reply.get("allowed").asBoolean(), reply.get("reason").asText());
            return reply.get("allowed").asBoolean();
        } catch (IOException problem) {
            throw new IllegalStateException("the judge of policies does not answer", problem);
        }
    }

    private JsonNode reply(Question question) throws IOException {
        if (process == null || !process.isAlive()) {
            start();
        }
        questions.write(JSON.writeValueAsString(question) + "\n");
        questions.flush();
        return JSON.readTree(replies.readLine());
    }

    private void start() throws IOException {
        ProcessBuilder command = new ProcessBuilder("node", program.toString(), account.toString());
        process = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        questions = process.outputWriter();
        replies = process.inputReader();
    }

    private void note(Question question, boolean allowed, String reason) throws IOException {
        Map<String, Object> line = Map.of(
                "role", question.role(), "action", question.action(), "resource", question.resource(),
                "allowed", allowed, "reason", reason);
        Files.writeString(journal, JSON.writeValueAsString(line) + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
