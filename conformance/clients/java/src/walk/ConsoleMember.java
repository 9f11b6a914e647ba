package walk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A ConsoleConsumer in a group, whose lines are gathered. It commits on its own every 100 ms. */
final class ConsoleMember {
    private static final String MAIN = "org.apache.kafka.tools.consumer.ConsoleConsumer";

    private final Process process;
    private final Thread thread;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    ConsoleMember(String group, String topic, String... more) throws IOException {
        String[] args = {"--topic", topic, "--group", group, "--from-beginning",
            "--formatter-property", "print.partition=true", "--formatter-property", "print.offset=true",
            "--formatter-property", "print.headers=true", "--formatter-property", "print.key=true",
            "--formatter-property", "null.literal=" + KafkaTools.NULL,
            "--command-property", "auto.commit.interval.ms=100", "--command-property", "session.timeout.ms=10000",
            "--command-property", "heartbeat.interval.ms=300"};
        String[] all = java.util.Arrays.copyOf(args, args.length + more.length);
        System.arraycopy(more, 0, all, args.length, more.length);
        process = Tool.start(MAIN, all);
        thread = new Thread(this::read, "console member");
        thread.start();
    }

    private void read() {
        try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }

    /** What it got so far, a record a line: partition, offset, headers, key and value between tabs. */
    List<String> lines() {
        return lines;
    }

    /** Ends it as Ctrl-C does: it leaves the group. */
    void leave() throws InterruptedException {
        process.destroy();
        process.waitFor();
        thread.join();
    }

    /** Waits until it ends by itself. */
    void ended() throws InterruptedException {
        Tool.ended(process, "ConsoleConsumer");
        thread.join();
    }
}
