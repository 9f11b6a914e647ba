package walk;

import static java.util.Map.entry;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The commands of a transcript: Kafka's tools by the names of their scripts, each given the broker's address, and five of ours:
 * "write FILE" keeps its input as a file that {FILE} names from then on, "produce TOPIC" sends each line of its input,
 * "commit GROUP TOPIC" commits the topic's ends, "begin ID TOPIC" sends a record within a transaction that stays open, "abort ID" ends it.
 */
final class ToolShell {
    private static final Map<String, String> TOOLS = Map.ofEntries(
            entry("kafka-acls", "org.apache.kafka.tools.AclCommand"),
            entry("kafka-broker-api-versions", "org.apache.kafka.tools.BrokerApiVersionsCommand"),
            entry("kafka-client-metrics", "org.apache.kafka.tools.ClientMetricsCommand"),
            entry("kafka-cluster", "org.apache.kafka.tools.ClusterTool"),
            entry("kafka-configs", "kafka.admin.ConfigCommand"),
            entry("kafka-consumer-groups", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
            entry("kafka-delete-records", "org.apache.kafka.tools.DeleteRecordsCommand"),
            entry("kafka-features", "org.apache.kafka.tools.FeatureCommand"),
            entry("kafka-get-offsets", "org.apache.kafka.tools.GetOffsetShell"),
            entry("kafka-groups", "org.apache.kafka.tools.GroupsCommand"),
            entry("kafka-leader-election", "org.apache.kafka.tools.LeaderElectionCommand"),
            entry("kafka-log-dirs", "org.apache.kafka.tools.LogDirsCommand"),
            entry("kafka-metadata-quorum", "org.apache.kafka.tools.MetadataQuorumCommand"),
            entry("kafka-reassign-partitions", "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"),
            entry("kafka-share-groups", "org.apache.kafka.tools.consumer.group.ShareGroupCommand"),
            entry("kafka-streams-groups", "org.apache.kafka.tools.streams.StreamsGroupCommand"),
            entry("kafka-topics", "org.apache.kafka.tools.TopicCommand"),
            entry("kafka-transactions", "org.apache.kafka.tools.TransactionsCommand"));

    private static final long DAY_ONE = 1_700_000_000_000L; // sizes of batches do not depend on the day, offsets by time do

    private final Map<String, String> files = new HashMap<>();
    private final Map<String, KafkaProducer<String, String>> open = new HashMap<>();

    /** Runs a command and returns all that it said, and its exit status when that is not 0. */
    String run(List<String> words, List<String> input) throws Exception {
        switch (words.get(0)) {
            case "write": return write(words.get(1), input);
            case "produce": return produce(words.get(1), input);
            case "commit": return commit(words.get(1), words.get(2));
            case "begin": return begin(words.get(1), words.get(2));
            case "abort": return abort(words.get(1));
            default: return tool(words, input);
        }
    }

    private String tool(List<String> words, List<String> input) throws Exception {
        String main = TOOLS.get(words.get(0));
        Runner.check(main != null, "no tool %s", words.get(0));
        List<String> args = new ArrayList<>(words.stream().skip(1).map(w -> files.getOrDefault(w, w)).toList());
        // Of all of them only kafka-cluster wants its action first.
        args.addAll(words.get(0).equals("kafka-cluster") ? Math.min(1, args.size()) : 0, List.of("--bootstrap-server", Runner.bootstrap()));
        return Tool.saidAll(String.join("\n", input) + "\n", main, args.toArray(String[]::new));
    }

    private String write(String name, List<String> lines) throws Exception {
        Path file = Files.createTempFile("tool", ".json");
        file.toFile().deleteOnExit();
        Files.write(file, lines);
        files.put("{" + name + "}", file.toString());
        return "";
    }

    private String produce(String topic, List<String> lines) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(Map.of("bootstrap.servers", Runner.bootstrap(),
                "enable.idempotence", "false", "batch.size", "0"), new StringSerializer(), new StringSerializer())) {
            for (String line : lines) {
                String[] cells = line.split("\\|", 2); // partition|value
                producer.send(new ProducerRecord<>(topic, Integer.valueOf(cells[0]), DAY_ONE, null, cells[1])).get();
            }
        }
        return "";
    }

    /** Commits the ends of a topic for a group that has no members. */
    private String commit(String group, String topic) throws Exception {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", Runner.bootstrap(), "group.id", group),
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                    .map(p -> new TopicPartition(topic, p.partition())).toList();
            consumer.endOffsets(all).forEach((p, end) -> ends.put(p, new OffsetAndMetadata(end)));
            consumer.commitSync(ends);
        }
        return "";
    }

    private String begin(String id, String topic) throws Exception {
        KafkaProducer<String, String> producer = Transactions.producer(id);
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(topic, 0, null, "left open")).get();
        open.put(id, producer);
        return "";
    }

    /** Ends a transaction; what its producer says when somebody else ended it. */
    private String abort(String id) {
        try (KafkaProducer<String, String> producer = open.remove(id)) {
            producer.abortTransaction();
            return "";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }
}
