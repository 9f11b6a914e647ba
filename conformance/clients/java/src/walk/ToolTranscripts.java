package walk;

import static walk.Runner.check;
import static walk.Runner.pass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Kafka's administration tools by transcripts: every file of tools/ holds command lines and what each said to Kafka 4.3.1. Here they
 * are run again, and what they say is compared line by line. Lines that differ on purpose are listed in tools/differences.txt, each
 * under the section of docs/differences.md that it belongs to. With RECORD=1 the transcripts are written anew: only against a Kafka.
 */
public final class ToolTranscripts {
    private static final Path DIR = Path.of(System.getProperty("tools"));
    private static final boolean RECORD = "1".equals(System.getenv("RECORD"));

    private final Map<String, ToolDifference> expected = ToolDifference.read(DIR.resolve("differences.txt"));
    private final TreeSet<String> unseen = new TreeSet<>(expected.keySet());
    private final ToolShell shell = new ToolShell();
    private int faults;

    private ToolTranscripts() throws IOException {}

    public static void main(String[] args) {
        Runner.main(() -> new ToolTranscripts().walk());
    }

    private void walk() throws Exception {
        String only = System.getenv().getOrDefault("TRANSCRIPTS", "");
        List<Path> files;
        try (Stream<Path> all = Files.list(DIR)) {
            files = all.filter(f -> f.toString().endsWith(".transcript") && f.getFileName().toString().startsWith(only)).sorted().toList();
        }
        for (Path file : files) {
            play(new Transcript(file));
        }
        check(faults == 0, "%d commands say something else than against Kafka 4.3.1", faults);
        if (only.isEmpty() && !RECORD) {
            // Against a Kafka none of them occurs.
            boolean kafka = unseen.size() == expected.size() && !expected.isEmpty();
            check(kafka || unseen.isEmpty(), "listed in differences.txt, and not seen: %s", unseen);
        }
    }

    /** Whether a command only tells; a Kafka's brokers hear of a change a little after it was answered. */
    private static boolean reads(Transcript.Step step) {
        return step.command.matches(".*( --describe| --list| describe| list).*");
    }

    /** Runs a command that only tells until it says what is wanted; one that changes something once. */
    private List<String> run(Transcript transcript, Transcript.Step step) throws Exception {
        long deadline = System.nanoTime() + (reads(step) && !RECORD ? 3_000_000_000L : 0);
        while (true) {
            List<String> said = transcript.shown(step, shell.run(step.words(), step.input));
            if (wrong(transcript.name, step, said).isEmpty() || System.nanoTime() > deadline) {
                return said;
            }
            Thread.sleep(100);
        }
    }

    private void play(Transcript transcript) throws Exception {
        int before = faults;
        for (Transcript.Step step : transcript.steps) {
            List<String> said = run(transcript, step);
            if (RECORD) {
                step.output = said;
                Thread.sleep(reads(step) ? 0 : 500); // what is recorded next is what the change left
            } else {
                compare(transcript.name, step, said);
            }
        }
        if (RECORD) {
            transcript.write();
        }
        if (faults == before) {
            pass("%s: %d commands say what they say against Kafka 4.3.1", transcript.name, transcript.steps.size());
        }
    }

    private void compare(String transcript, Transcript.Step step, List<String> said) {
        LineDiff.of(step.output, said).forEach(line -> unseen.remove(transcript + ": " + line));
        List<String> wrong = wrong(transcript, step, said);
        if (!wrong.isEmpty()) {
            faults++;
            System.out.println("FAIL " + transcript + ": " + step.command);
            wrong.forEach(line -> System.out.println("  " + line));
        }
    }

    /** Where it differs from the transcript and is not meant to. */
    private List<String> wrong(String transcript, Transcript.Step step, List<String> said) {
        return LineDiff.of(step.output, said).stream().filter(line -> !expected.containsKey(transcript + ": " + line)).toList();
    }

    /** A transcript: notes, masks, commands with their input and what they say. */
    private static final class Transcript {
        // Stack traces, and what a tool says when it catches the exit that Tool makes of its own.
        private static final Pattern NOISE = Pattern.compile("\\s*(at \\S+\\(.*\\)|\\.\\.\\. \\d+ more|exit|\\S*Exited: exit)");
        private static final Pattern LIST = Pattern.compile("(.* configs for .* are )(.+)");
        private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

        final String name;
        final List<Step> steps = new ArrayList<>();
        private final Path file;
        private final Map<Pattern, String> masks = new LinkedHashMap<>();

        Transcript(Path file) throws IOException {
            this.file = file;
            name = file.getFileName().toString().replace(".transcript", "");
            ToolMasks.common(masks);
            List<String> notes = new ArrayList<>();
            Step step = null;
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("## ")) {
                    notes.add(line);
                    mask(line);
                } else if (line.startsWith("$ ") || line.startsWith("$~ ")) {
                    step = new Step(line, notes);
                    steps.add(step);
                    notes = new ArrayList<>();
                } else if (line.startsWith("< ")) {
                    step.input.add(line.substring(2));
                } else if (step != null) {
                    step.output.add(line);
                }
            }
            steps.forEach(s -> trim(s.output));
        }

        private void mask(String note) {
            String[] sides = note.split(" => ", 2);
            if (note.startsWith("## mask ") && sides.length == 2) {
                masks.put(Pattern.compile(sides[0].substring("## mask ".length())), sides[1]);
            }
        }

        private static void trim(List<String> lines) {
            while (!lines.isEmpty() && lines.get(lines.size() - 1).isBlank()) {
                lines.remove(lines.size() - 1);
            }
        }

        /** What a command said with what differs from run to run masked; in order of text when the tool walks hash maps. */
        List<String> shown(Step step, String output) {
            String masked = output;
            for (Map.Entry<Pattern, String> m : masks.entrySet()) {
                masked = m.getKey().matcher(masked).replaceAll(m.getValue());
            }
            List<String> lines = new ArrayList<>(masked.lines().map(String::stripTrailing).toList());
            lines.removeIf(line -> NOISE.matcher(line).matches());
            if (step.unordered) {
                lines.removeIf(String::isBlank);
                lines.replaceAll(line -> listed(line.strip()));
                lines.sort(null);
            }
            trim(lines);
            return lines;
        }

        /** A line that lists settings ("... are a=1, b=2") with them in order of text. */
        private static String listed(String line) {
            Matcher m = LIST.matcher(line);
            return m.matches() ? m.group(1) + Stream.of(m.group(2).split(", ")).sorted().collect(Collectors.joining(", ")) : line;
        }

        void write() throws IOException {
            List<String> lines = new ArrayList<>();
            for (Step step : steps) {
                lines.addAll(step.notes);
                lines.add((step.unordered ? "$~ " : "$ ") + step.command);
                step.input.forEach(line -> lines.add("< " + line));
                lines.addAll(step.output);
                lines.add("");
            }
            trim(lines);
            Files.write(file, lines);
        }

        static final class Step {
            final String command;
            final boolean unordered;
            final List<String> notes;
            final List<String> input = new ArrayList<>();
            List<String> output = new ArrayList<>();

            Step(String line, List<String> notes) {
                unordered = line.startsWith("$~");
                command = line.substring(line.indexOf(' ') + 1);
                this.notes = notes;
            }

            List<String> words() {
                List<String> words = new ArrayList<>();
                Matcher m = WORD.matcher(command);
                while (m.find()) {
                    words.add(m.group(1) != null ? m.group(1) : m.group(2));
                }
                return words;
            }
        }
    }

    /** A line that one side has and the other has not, on purpose. */
    private record ToolDifference(String id) {
        /** The file's lines: "= ID" begins what a section of docs/differences.md explains, "TRANSCRIPT: - LINE" and "+ LINE" follow. */
        static Map<String, ToolDifference> read(Path file) throws IOException {
            Map<String, ToolDifference> all = new HashMap<>();
            ToolDifference under = null;
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("= ")) {
                    under = new ToolDifference(line.substring(2));
                } else if (!line.isBlank() && !line.startsWith("#")) {
                    check(under != null, "differences.txt: %s is under no section", line);
                    all.put(line, under);
                }
            }
            return all;
        }
    }
}
