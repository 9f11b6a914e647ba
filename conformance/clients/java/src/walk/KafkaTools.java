package walk;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Walks Kafka's own tools: a record is a line of ConsoleProducer, which ConsoleConsumer prints as it was. A header that is not text
 * cannot be typed, so the records lack the last one.
 */
public final class KafkaTools {
    static final String NULL = "NULL";
    static final String TOPIC_COMMAND = "org.apache.kafka.tools.TopicCommand";
    static final String GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand";
    private static final String PRODUCER = "org.apache.kafka.tools.ConsoleProducer";
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final int PARTITIONS = 4;
    private static final int STREAMED = 20; // records before and after what is done to the broker

    private final String topic = "walk-kafka-tools";
    private final String group = "group-kafka-tools";
    private final List<String> sent = new ArrayList<>();
    private final List<ConsoleMember> members = new ArrayList<>();
    private Set<String> settled = Set.of();

    public static void main(String[] args) {
        Runner.main(() -> new KafkaTools().walk());
    }

    private void walk() throws Exception {
        create();
        produce();
        join();
        interrupt("restart");
        interrupt("kill");
        resume();
        new ToolsTour(topic, group, sent.size()).tell();
        new TransactionsTour(topic + "-transactions").tell();
        new QuotasTour().tell();
        delete();
    }

    private void create() throws Exception {
        Tool.run(TOPIC_COMMAND, "--create", "--topic", topic, "--partitions", "" + PARTITIONS, "--replication-factor", "1");
        String described = Tool.run(TOPIC_COMMAND, "--describe", "--topic", topic);
        check(described.contains("PartitionCount: " + PARTITIONS), "described as %s", described);
        pass("TopicCommand created topic %s with %d partitions and described it", topic, PARTITIONS);
    }

    private void produce() throws Exception {
        for (String codec : CODECS) {
            send("first", codec);
        }
        pass("ConsoleProducer sent %d records with each of %s: keys, headers, nulls", Records.PER_CODEC, CODECS);
    }

    private static String[] producing(String topic, String codec) {
        return new String[] {"--topic", topic, "--compression-codec", codec, "--reader-property", "parse.key=true",
            "--reader-property", "parse.headers=true", "--reader-property", "null.marker=" + NULL};
    }

    private void send(String phase, String codec) throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < Records.PER_CODEC; i++) {
            lines.add(line(phase, codec, i));
        }
        sent.addAll(lines);
        Tool.feed(String.join("\n", lines) + "\n", PRODUCER, producing(topic, codec));
    }

    /** A record of the README's table: headers, key and value between tabs. */
    private static String line(String phase, String codec, int i) {
        String id = phase + "/" + codec + "/" + i;
        String headers = "id:" + id + ",codec:" + codec + ",empty:,null:" + NULL + ",twice:1,twice:2";
        String key = "key-" + i;
        String value = "value of " + id;
        switch (i % 6) {
            case 0: return String.join("\t", headers, key, value);
            case 1: return String.join("\t", headers, NULL, value);
            case 2: return String.join("\t", headers, key, NULL);
            case 3: return String.join("\t", headers, NULL, NULL);
            case 4: return String.join("\t", headers, "", "");
            default: return String.join("\t", headers, key, value + "x".repeat(3000));
        }
    }

    private void member() throws Exception {
        members.add(new ConsoleMember(group, topic));
    }

    private void join() throws Exception {
        member();
        share("4");
        pass("one ConsoleConsumer has all %d partitions", PARTITIONS);
        member();
        share("2", "2");
        pass("a second one joined: they have %d each", PARTITIONS / 2);
        arrivals();
        pass("all %d records arrived as they were sent, and are committed", sent.size());
    }

    /** Waits until the group's members have so many partitions. */
    private void share(String... want) throws Exception {
        until("members to share", () -> {
            String output = Tool.run(GROUP_COMMAND, "--describe", "--members", "--group", group);
            Stream<String> parts = Tool.table(output, "GROUP").stream().map(row -> row.get("#PARTITIONS"));
            return parts.toList().equals(List.of(want));
        }, () -> "");
    }

    private List<String> lines() {
        return members.stream().flatMap(m -> m.lines().stream()).toList();
    }

    /** Waits until what was sent has arrived and is committed; nothing that was committed before may have come again. */
    private void arrivals() throws Exception {
        until("records to arrive", () -> records(lines()).size() >= new HashSet<>(sent).size(), () -> lines().size() + " lines");
        Set<String> places = new HashSet<>(lines());
        check(places.size() == sent.size() && records(places).equals(new HashSet<>(sent)), "arrived: %d, sent: %d", places.size(), sent.size());
        long again = lines().stream().filter(settled::contains).count();
        check(again == settled.size(), "of %d committed records %d came again", settled.size(), again - settled.size());
        until("offsets to be committed", this::committed, () -> "");
        settled = places;
    }

    /** Strips partition and offset. */
    private static Set<String> records(Iterable<String> lines) {
        Set<String> records = new HashSet<>();
        lines.forEach(line -> records.add(line.split("\t", 3)[2]));
        return records;
    }

    private boolean committed() throws Exception {
        List<Map<String, String>> rows = Tool.table(Tool.run(GROUP_COMMAND, "--describe", "--group", group), "GROUP");
        long sum = rows.stream().filter(row -> row.get("LAG").equals("0")).mapToLong(row -> Long.parseLong(row.get("CURRENT-OFFSET"))).sum();
        return sum == sent.size();
    }

    private void interrupt(String how) throws Exception {
        Process producer = Tool.start(PRODUCER, producing(topic, "lz4"));
        Writer in = producer.outputWriter(StandardCharsets.UTF_8);
        stream(in, how, 0);
        until("records to arrive before " + how, () -> lines().stream().anyMatch(l -> l.contains(how + "/stream")), () -> "");
        Runner.signal(how);
        stream(in, how, STREAMED);
        in.close();
        producer.getInputStream().readAllBytes();
        Tool.ended(producer, "ConsoleProducer across " + how);
        send(how, "zstd");
        arrivals();
        share("2", "2");
        pass("%s: %d records sent across it and %d after it arrived, once in the log, and are committed", how, 2 * STREAMED, Records.PER_CODEC);
    }

    private void stream(Writer in, String how, int from) throws Exception {
        for (int i = from; i < from + STREAMED; i++) {
            String line = "id:" + how + "/stream/" + i + "\t" + NULL + "\t" + i;
            sent.add(line);
            in.write(line + "\n");
        }
        in.flush();
    }

    private void resume() throws Exception {
        members.get(1).leave();
        share("4");
        pass("the second left: the first has all %d partitions", PARTITIONS);
        members.get(0).leave();
        send("last", "gzip");
        member();
        arrivals();
        int got = members.get(2).lines().size();
        check(got == Records.PER_CODEC, "the new member got %d records", got);
        pass("a new member got the %d new records and nothing else", got);
        String state = Tool.run(GROUP_COMMAND, "--describe", "--state", "--group", group);
        check(Tool.table(state, "GROUP").get(0).get("STATE").equals("Stable"), "state: %s", state);
        members.get(2).leave();
        state = Tool.run(GROUP_COMMAND, "--describe", "--state", "--group", group);
        check(Tool.table(state, "GROUP").get(0).get("STATE").equals("Empty"), "state: %s", state);
        pass("ConsumerGroupCommand described the group: offsets, members, Stable then Empty");
    }

    private void delete() throws Exception {
        Tool.run(GROUP_COMMAND, "--delete", "--group", group);
        check(!Tool.run(GROUP_COMMAND, "--list").lines().toList().contains(group), "the group is still listed");
        pass("group %s deleted and no longer listed", group);
        Tool.run(TOPIC_COMMAND, "--delete", "--topic", topic);
        until("topic to be gone", () -> !Tool.run(TOPIC_COMMAND, "--list").lines().toList().contains(topic), () -> "");
        pass("topic %s deleted and no longer listed", topic);
    }
}
