package walk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Exit;

/** Kafka's command line tools by their main classes. */
public final class Tool {
    private static final String JAVA = System.getProperty("java.home") + "/bin/java";
    private static final String CLASSES = System.getProperty("java.class.path");
    private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private Tool() {}

    /** Starts a tool in a JVM of its own; its stderr is ours. The server's address is given to it. */
    static Process start(String main, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(JAVA, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-D" + LEVEL + "=" + System.getProperty(LEVEL), "-cp", CLASSES, main));
        command.addAll(List.of(withServer(args)));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Runs a tool to its end and returns what it printed; one that does not exit with 0 is a failure. */
    public static String run(String main, String... args) throws Exception {
        return feed("", main, args);
    }

    /** As run, with lines on its stdin. It runs in this JVM, as starting one for each takes most of the time. */
    static String feed(String input, String main, String... args) throws Exception {
        Said said = said(input, System.err, main, withServer(args));
        Runner.check(said.status == 0, "%s %s exited with %d: %s", main, String.join(" ", args), said.status, said.output);
        return said.output;
    }

    /** All that a tool says, on both its outputs, and its exit status when that is not 0; what to say is left to the arguments. */
    static String saidAll(String input, String main, String... args) throws Exception {
        Said said = said(input, null, main, args);
        return said.status == 0 ? said.output : said.output.stripTrailing() + "\nexit " + said.status + "\n";
    }

    private record Said(String output, int status) {}

    /** Its stderr goes to what is given, or where its stdout goes. */
    private static Said said(String input, PrintStream errors, String main, String... args) throws Exception {
        PrintStream ours = System.out;
        PrintStream oursToo = System.err;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        List<Runnable> hooks = new ArrayList<>();
        List<Integer> statuses = new ArrayList<>(); // a tool that catches Exited as a failure of its own exits again: the first counts
        Exit.setExitProcedure((status, message) -> {
            statuses.add(status);
            throw new Exited();
        });
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        System.setIn(new ByteArrayInputStream(input.getBytes(UTF_8)));
        System.setOut(new PrintStream(output, true, UTF_8));
        System.setErr(errors == null ? System.out : errors);
        try {
            call(main, args);
            hooks.forEach(Runnable::run);
        } finally {
            System.setOut(ours);
            System.setErr(oursToo);
        }
        return new Said(output.toString(UTF_8), statuses.isEmpty() ? 0 : statuses.get(0));
    }

    /** What a tool's exit becomes. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1;

        Exited() {
            super("exit", null, false, false);
        }
    }

    private static void call(String main, String[] args) throws Exception {
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Exited)) {
                throw e;
            }
        }
    }

    static String[] withServer(String[] args) {
        return Stream.concat(Stream.of("--bootstrap-server", Runner.bootstrap()), Stream.of(args)).toArray(String[]::new);
    }

    /** Waits for a process to exit with 0. */
    static void ended(Process process, String what) throws InterruptedException {
        boolean ended = process.waitFor(Runner.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        Runner.check(ended, "did not end: %s", what);
        Runner.check(process.exitValue() == 0, "exited with %d: %s", process.exitValue(), what);
    }

    /** Reads the tables of a tool's output: a row for each line under a header that has the given first column. */
    public static List<Map<String, String>> table(String output, String first) {
        List<Map<String, String>> rows = new ArrayList<>();
        String[] header = null;
        for (String line : output.replaceAll(" +\\(\\w+\\)", "").split("\n")) {
            String[] cells = line.trim().split("\\s+");
            if (cells[0].equals(first)) {
                header = cells;
            } else if (header != null && cells.length >= header.length) {
                Map<String, String> row = new HashMap<>();
                for (int i = 0; i < header.length; i++) {
                    row.put(header[i], cells[i]);
                }
                rows.add(row);
            }
        }
        return rows;
    }
}
