package walk.streams;

import static walk.Runner.check;
import static walk.Runner.until;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import walk.Runner;

/** An application that counts words, seen from outside: its instances, what it is given to count, and what comes out. */
final class App implements AutoCloseable {
    static final int PARTITIONS = 4;
    static final int TASKS = 2 * PARTITIONS; // two subtopologies
    private static final int WORDS = 25;

    final String name;
    private final String guarantee;
    private final boolean classic;
    private final Admin admin;
    private final Map<String, Process> instances = new HashMap<>();
    private final Map<String, Long> sent = new TreeMap<>();
    private final Map<String, List<Long>> counted = new HashMap<>();
    private final KafkaConsumer<String, String> out;
    private final KafkaProducer<String, String> in;

    App(String name, String guarantee, boolean classic, Admin admin) throws Exception {
        this.name = name;
        this.guarantee = guarantee;
        this.classic = classic;
        this.admin = admin;
        admin.createTopics(List.of(new NewTopic(name + "-in", PARTITIONS, (short) 1), new NewTopic(name + "-out", 1, (short) 1))).all().get();
        in = new KafkaProducer<>(Map.of("bootstrap.servers", Runner.bootstrap(), "reconnect.backoff.max.ms", 200), new StringSerializer(), new StringSerializer());
        out = new KafkaConsumer<>(Map.of("bootstrap.servers", Runner.bootstrap(), "isolation.level", "read_committed", "reconnect.backoff.max.ms", 200),
            new StringDeserializer(), new StringDeserializer());
        out.assign(List.of(new TopicPartition(name + "-out", 0)));
        out.seekToBeginning(out.assignment());
    }

    /** Starts an instance in a process of its own. */
    void start(String instance) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx256m", "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=" + System.getProperty("org.slf4j.simpleLogger.defaultLogLevel"),
            "-cp", System.getProperty("java.class.path"), Instance.class.getName(), name, instance, guarantee,
            classic ? "classic" : "streams"));
        instances.put(instance, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** Ends an instance as a person would. */
    void stop(String instance) throws Exception {
        Process p = instances.remove(instance);
        p.getOutputStream().close();
        check(p.waitFor(Runner.PATIENCE.toSeconds(), TimeUnit.SECONDS), "instance %s does not end", instance);
    }

    /** Ends an instance outright. */
    void kill(String instance) throws Exception {
        instances.remove(instance).destroyForcibly().waitFor();
    }

    /** Sends lines of words and waits until they are there. */
    void send(int lines) throws Exception {
        List<java.util.concurrent.Future<?>> acks = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            List<String> words = new ArrayList<>();
            for (int j = 0; j < 4; j++) {
                String word = "word" + (i * 7 + j * 3) % WORDS;
                words.add(word);
                sent.merge(word, 1L, Long::sum);
            }
            acks.add(in.send(new ProducerRecord<>(name + "-in", i % PARTITIONS, null, String.join(" ", words))));
        }
        for (var ack : acks) {
            ack.get();
        }
    }

    /** Waits until every word has been counted to what was sent of it. */
    void awaitCounts() throws Exception {
        until("counts of " + name, () -> {
            out.poll(Duration.ofMillis(100)).forEach(r -> counted.computeIfAbsent(r.key(), k -> new ArrayList<>()).add(Long.valueOf(r.value())));
            return sent.entrySet().stream().allMatch(e -> last(e.getKey()) >= e.getValue());
        }, () -> "sent " + sent + ", counted to " + counted.keySet().stream().map(w -> w + "=" + last(w)).toList());
    }

    private long last(String word) {
        List<Long> all = counted.getOrDefault(word, List.of());
        return all.isEmpty() ? 0 : all.get(all.size() - 1);
    }

    /** Exactly once: each word was counted 1, 2, 3... to what was sent of it. */
    void checkExact() {
        sent.forEach((word, n) -> {
            List<Long> all = counted.get(word);
            check(all.size() == n, "%s came out %d times, %d were sent", word, all.size(), n);
            for (int i = 0; i < n; i++) {
                check(all.get(i) == i + 1, "%s was counted as %s", word, all);
            }
        });
    }

    /** What is known of the group: its state, the active tasks of each process, the standby tasks of all. */
    record Group(String state, Map<String, Integer> active, int standby) {}

    Group describe() throws Exception {
        return classic ? describeClassic() : describeStreams();
    }

    private Group describeStreams() throws Exception {
        StreamsGroupDescription d = admin.describeStreamsGroups(List.of(name)).all().get().get(name);
        Map<String, Integer> active = new TreeMap<>();
        int standby = 0;
        for (StreamsGroupMemberDescription m : d.members()) {
            active.merge(m.processId(), tasks(m.assignment().activeTasks()), Integer::sum);
            standby += tasks(m.assignment().standbyTasks());
        }
        return new Group(d.groupState().toString(), active, standby);
    }

    private static int tasks(List<StreamsGroupMemberAssignment.TaskIds> ids) {
        return ids.stream().mapToInt(t -> t.partitions().size()).sum();
    }

    /** A classic group knows partitions, of which each task reads one; of standby tasks only the instances can tell. */
    private Group describeClassic() throws Exception {
        ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        Map<String, Integer> active = new TreeMap<>();
        d.members().forEach(m -> active.put(m.consumerId(), m.assignment().topicPartitions().size()));
        int standby = 0;
        for (Process p : instances.values()) {
            standby += standbyTasks(p);
        }
        return new Group(d.groupState().toString(), active, standby);
    }

    private static int standbyTasks(Process instance) throws IOException {
        instance.getOutputStream().write('\n');
        instance.getOutputStream().flush();
        String line = instance.inputReader().readLine();
        check(line != null, "an instance ended");
        return Integer.parseInt(line);
    }

    /** Waits until the group is Stable and its processes have so many active and standby tasks, in ascending order. */
    void awaitTasks(List<Integer> active, int standby) throws Exception {
        until("tasks " + active + " and " + standby + " standby tasks", () -> {
            Group g = describe();
            return g.state().equals("Stable") && g.active().values().stream().sorted().toList().equals(active) && g.standby() == standby;
        }, () -> {
            try {
                return describe();
            } catch (Exception e) {
                return e;
            }
        });
    }

    void stopAll() throws Exception {
        for (String instance : List.copyOf(instances.keySet())) {
            stop(instance);
        }
    }

    @Override
    public void close() {
        instances.values().forEach(Process::destroyForcibly);
        in.close(Duration.ZERO);
        out.close();
    }
}
