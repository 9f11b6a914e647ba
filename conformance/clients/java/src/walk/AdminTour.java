package walk;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** What Admin can do beside the walk: each call once, with what it changed read back. */
final class AdminTour {
    private final Admin admin;
    private final String topic;
    private final String group;

    AdminTour(Admin admin, String topic, String group) {
        this.admin = admin;
        this.topic = topic;
        this.group = group;
    }

    void tell() throws Exception {
        cluster();
        refusals();
        configs();
        partitions();
        offsetsByTime();
        deleteRecords();
        logDirs();
        producers();
        groupOffsets();
    }

    private void cluster() throws Exception {
        check(admin.describeCluster().nodes().get().size() == 1, "not one node");
        check(!admin.describeCluster().clusterId().get().isEmpty(), "no cluster id");
        check(admin.describeFeatures().featureMetadata().get().finalizedFeatures().containsKey("metadata.version"), "no metadata.version");
        pass("admin: cluster and features described");
    }

    private void refusals() throws Exception {
        fails(TopicExistsException.class, () -> admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get());
        fails(UnknownTopicOrPartitionException.class, () -> admin.describeTopics(List.of("no-such-topic")).allTopicNames().get());
        pass("admin: a topic is not created twice, an unknown one not described");
    }

    private static void fails(Class<?> why, Runner.Story call) throws Exception {
        try {
            call.tell();
        } catch (ExecutionException e) {
            check(why.isInstance(e.getCause()), "failed with %s instead of %s", e.getCause(), why.getSimpleName());
            return;
        }
        check(false, "no %s", why.getSimpleName());
    }

    private void configs() throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        set(resource, AlterConfigOp.OpType.SET, "3600000");
        ConfigEntry entry = read(resource);
        check(entry.value().equals("3600000") && entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, "retention.ms is %s", entry);
        set(resource, AlterConfigOp.OpType.DELETE, null);
        until("default to be back", () -> read(resource).source() != ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, () -> "");
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, admin.describeCluster().nodes().get().iterator().next().idString());
        check(admin.describeConfigs(List.of(broker)).all().get().get(broker).get("num.partitions").value().equals("4"), "num.partitions is not 4");
        pass("admin: a topic's config set, read back and deleted; the broker's configs described");
    }

    private void set(ConfigResource resource, AlterConfigOp.OpType op, String value) throws Exception {
        admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry("retention.ms", value), op)))).all().get();
    }

    private ConfigEntry read(ConfigResource resource) throws Exception {
        return admin.describeConfigs(List.of(resource)).all().get().get(resource).get("retention.ms");
    }

    private void partitions() throws Exception {
        String grown = topic + "-grown";
        admin.createTopics(List.of(new NewTopic(grown, 1, (short) 1).configs(Map.of("cleanup.policy", "compact")))).all().get();
        admin.createPartitions(Map.of(grown, NewPartitions.increaseTo(3))).all().get();
        until("topic to grow", () -> admin.describeTopics(List.of(grown)).allTopicNames().get().get(grown).partitions().size() == 3, () -> "");
        admin.deleteTopics(List.of(grown)).all().get();
        pass("admin: a topic grew from 1 partition to 3");
    }

    private TopicPartition first() {
        return new TopicPartition(topic, 0);
    }

    private long offset(OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(first(), spec)).all().get().get(first()).offset();
    }

    private void offsetsByTime() throws Exception {
        check(offset(OffsetSpec.earliest()) == 0, "earliest is not 0");
        check(offset(OffsetSpec.forTimestamp(0)) == 0, "the offset at time 0 is not 0");
        check(offset(OffsetSpec.forTimestamp(Long.MAX_VALUE)) == -1, "there is an offset at the end of time");
        check(offset(OffsetSpec.maxTimestamp()) < offset(OffsetSpec.latest()), "the max timestamp is past the end");
        pass("admin: offsets listed by time");
    }

    private void deleteRecords() throws Exception {
        long low = admin.deleteRecords(Map.of(first(), RecordsToDelete.beforeOffset(10))).lowWatermarks().get(first()).get().lowWatermark();
        check(low == 10 && offset(OffsetSpec.earliest()) == 10, "the low watermark is %d", low);
        pass("admin: records before an offset deleted");
    }

    private void logDirs() throws Exception {
        int node = admin.describeCluster().nodes().get().iterator().next().id();
        long size = admin.describeLogDirs(Set.of(node)).allDescriptions().get().get(node).values().stream()
                .flatMap(d -> d.replicaInfos().entrySet().stream()).filter(e -> e.getKey().topic().equals(topic))
                .mapToLong(e -> e.getValue().size()).sum();
        check(size > 0, "the topic has no size on disk");
        pass("admin: log directories described");
    }

    private void producers() throws Exception {
        int n = admin.describeProducers(List.of(first())).all().get().get(first()).activeProducers().size();
        check(n > 0, "no active producer");
        pass("admin: active producers described");
    }

    private void groupOffsets() throws Exception {
        admin.alterConsumerGroupOffsets(group, Map.of(first(), new OffsetAndMetadata(11, "set by hand"))).all().get();
        OffsetAndMetadata got = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(first());
        check(got.offset() == 11 && got.metadata().equals("set by hand"), "offset is %s", got);
        admin.deleteConsumerGroupOffsets(group, Set.of(first())).all().get();
        check(!admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().containsKey(first()), "the offset is still there");
        pass("admin: a group's offset altered, read back with its metadata, deleted");
    }
}
