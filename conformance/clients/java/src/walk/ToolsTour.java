package walk;

import static walk.Runner.check;
import static walk.Runner.pass;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What Kafka's tools do beside the walk: each with what it changed read back. */
final class ToolsTour {
    private static final String CONFIGS = "kafka.admin.ConfigCommand";
    private static final String OFFSETS = "org.apache.kafka.tools.GetOffsetShell";
    private static final String PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance";

    private final String topic;
    private final String group;
    private final long records;

    ToolsTour(String topic, String group, long records) {
        this.topic = topic;
        this.group = group;
        this.records = records;
    }

    void tell() throws Exception {
        offsets();
        resets();
        configs();
        performance();
        partitions();
    }

    /** GetOffsetShell's answer for a time: offsets by partition; a partition without one is left out. */
    private Map<Integer, Long> at(String time) throws Exception {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (String line : Tool.run(OFFSETS, "--topic", topic, "--time", time).split("\n")) {
            String[] cells = line.split(":");
            if (cells.length == 3 && !cells[2].isEmpty()) {
                offsets.put(Integer.valueOf(cells[1]), Long.valueOf(cells[2]));
            }
        }
        return offsets;
    }

    private static long sum(Map<Integer, Long> offsets) {
        return offsets.values().stream().mapToLong(o -> o).sum();
    }

    private void offsets() throws Exception {
        check(sum(at("latest")) == records, "latest: %s of %d records", at("latest"), records);
        check(at("earliest").size() == 4 && sum(at("earliest")) == 0, "earliest: %s", at("earliest"));
        check(at("1").equals(at("earliest")), "at time 1: %s", at("1"));
        check(at("max-timestamp").size() == 4, "max-timestamp: %s", at("max-timestamp"));
        pass("GetOffsetShell printed the offsets: latest, earliest, by time, of the largest timestamp");
    }

    /** The group's committed offsets as ConsumerGroupCommand describes them. */
    private Map<Integer, Long> committed() throws Exception {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (Map<String, String> row : Tool.table(Tool.run(KafkaTools.GROUP_COMMAND, "--describe", "--group", group), "GROUP")) {
            if (!row.get("CURRENT-OFFSET").equals("-")) {
                offsets.put(Integer.valueOf(row.get("PARTITION")), Long.valueOf(row.get("CURRENT-OFFSET")));
            }
        }
        return offsets;
    }

    private String reset(String... args) throws Exception {
        List<String> all = new ArrayList<>(List.of("--reset-offsets", "--group", group, "--topic", topic));
        all.addAll(List.of(args));
        return Tool.run(KafkaTools.GROUP_COMMAND, all.toArray(String[]::new));
    }

    private void resets() throws Exception {
        Map<Integer, Long> ends = committed();
        check(sum(ends) == records, "committed: %s", ends);
        reset("--to-earliest", "--dry-run");
        check(committed().equals(ends), "a dry run changed the offsets");
        reset("--shift-by", "-1", "--execute");
        check(sum(committed()) == records - 4, "after a shift by -1: %s", committed());
        String file = Files.createTempFile("offsets", ".csv").toString();
        Files.writeString(Path.of(file), reset("--to-current", "--export", "--dry-run"));
        reset("--to-datetime", "1970-01-02T00:00:00.000Z", "--execute");
        check(sum(committed()) == 0, "at 1970: %s", committed());
        reset("--from-file", file, "--execute");
        check(sum(committed()) == records - 4, "from the file: %s", committed());
        reset("--to-earliest", "--execute");
        ConsoleMember again = new ConsoleMember(group, topic, "--max-messages", "" + records);
        again.ended();
        check(again.lines().stream().distinct().count() == records, "read again: %d lines", again.lines().size());
        pass("ConsumerGroupCommand reset offsets: dry run, shift, datetime, export and file, earliest; all %d records came again", records);
        Tool.run(KafkaTools.GROUP_COMMAND, "--delete-offsets", "--group", group, "--topic", topic + ":0");
        check(!committed().containsKey(0) && committed().size() == 3, "after a delete: %s", committed());
        pass("ConsumerGroupCommand deleted the offset of a partition");
    }

    private String config(String... args) throws Exception {
        List<String> all = new ArrayList<>(List.of("--entity-type", "topics", "--entity-name", topic));
        all.addAll(List.of(args));
        return Tool.run(CONFIGS, all.toArray(String[]::new));
    }

    private void configs() throws Exception {
        config("--alter", "--add-config", "retention.ms=3600000,cleanup.policy=[compact,delete]");
        String described = config("--describe");
        check(described.contains("retention.ms=3600000") && described.contains("cleanup.policy=compact,delete"), "configs: %s", described);
        config("--alter", "--delete-config", "retention.ms,cleanup.policy");
        check(!config("--describe").contains("retention.ms"), "retention.ms is still there");
        check(config("--describe", "--all").contains("min.insync.replicas=1"), "no min.insync.replicas among all");
        String broker = Tool.run(CONFIGS, "--entity-type", "brokers", "--entity-name", "1", "--describe", "--all");
        check(broker.contains("num.partitions=4"), "the broker's configs: %s", broker);
        pass("ConfigCommand set, described and deleted a topic's configs, and described the broker's");
    }

    private void performance() throws Exception {
        String summary = Tool.run(PERFORMANCE, "--topic", topic, "--num-records", "5000", "--record-size", "200", "--throughput", "-1");
        check(summary.contains("5000 records sent"), "ProducerPerformance said %s", summary);
        check(sum(at("latest")) == records + 5000, "after ProducerPerformance: %s", at("latest"));
        pass("ProducerPerformance sent 5000 records");
    }

    private void partitions() throws Exception {
        Tool.run(KafkaTools.TOPIC_COMMAND, "--alter", "--topic", topic, "--partitions", "6");
        String described = Tool.run(KafkaTools.TOPIC_COMMAND, "--describe", "--topic", topic);
        check(described.contains("PartitionCount: 6"), "described as %s", described);
        pass("TopicCommand added partitions");
    }
}
