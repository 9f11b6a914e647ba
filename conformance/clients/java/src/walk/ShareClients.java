package walk;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringSerializer;

/** Walks KafkaShareConsumer, the Admin client's part in share groups, and ShareGroupCommand. */
public final class ShareClients {
    private static final String TOPIC = "walk-share";
    private static final String GROUP = "group-share";
    private static final int PARTITIONS = 2;

    private final Admin admin = Admin.create(Map.of("bootstrap.servers", Runner.bootstrap()));
    private final Producer<String, String> producer = new KafkaProducer<>(
            Map.of("bootstrap.servers", Runner.bootstrap(), "delivery.timeout.ms", 60_000), new StringSerializer(), new StringSerializer());
    /** What was accepted, with how often; what is delivered again after that is a failure. */
    private final Map<String, AtomicInteger> accepted = new ConcurrentHashMap<>();
    private final List<ShareMember> members = new ArrayList<>();
    private int sent;

    public static void main(String[] args) {
        Runner.main(() -> new ShareClients().walk());
    }

    private void walk() throws Exception {
        admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
        configure("share.auto.offset.reset", "earliest");
        implicit();
        explicit();
        many();
        interrupt("restart");
        interrupt("kill");
        killed();
        describe();
        offsets();
        tool();
        delete();
        producer.close();
        admin.close();
    }

    private void configure(String name, String value) throws Exception {
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, GROUP);
        admin.incrementalAlterConfigs(Map.of(group, List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)))).all().get();
    }

    private void send(int n) throws Exception {
        for (int i = 0; i < n; i++, sent++) {
            producer.send(new ProducerRecord<>(TOPIC, sent % PARTITIONS, null, "record-" + sent)).get();
        }
    }

    private ShareMember join(boolean explicit) {
        ShareMember member = new ShareMember(GROUP, TOPIC, explicit, this::decide);
        members.add(member);
        return member;
    }

    /** Every seventh record is released the first time. */
    private AcknowledgeType decide(String value, int delivery, boolean explicit) {
        int number = Integer.parseInt(value.substring(value.indexOf('-') + 1));
        if (explicit && number % 7 == 0 && delivery == 1) {
            return AcknowledgeType.RELEASE;
        }
        accepted.computeIfAbsent(value, v -> new AtomicInteger()).incrementAndGet();
        return AcknowledgeType.ACCEPT;
    }

    private void all() throws Exception {
        until("every record is accepted", () -> accepted.size() == sent, () -> accepted.size() + " of " + sent);
    }

    private void leave() throws Exception {
        for (ShareMember member : members) {
            member.close();
        }
        members.clear();
    }

    private void once() {
        Map<String, Integer> more = new TreeMap<>();
        accepted.forEach((value, times) -> {
            if (times.get() > 1) {
                more.put(value, times.get());
            }
        });
        check(more.isEmpty(), "accepted more than once: %s", more);
    }

    private void implicit() throws Exception {
        join(false);
        send(40);
        all();
        leave();
        once();
        pass("a member that acknowledges implicitly is given all %d records once", sent);
    }

    private void explicit() throws Exception {
        ShareMember member = join(true);
        send(40);
        all();
        check(member.again() > 0, "no record came again");
        leave();
        once();
        pass("a member that acknowledges explicitly is given again what it releases, and nothing else");
    }

    private void many() throws Exception {
        for (int i = 0; i < 4; i++) {
            join(true);
        }
        until("four members read", () -> members.stream().allMatch(ShareMember::reads), () -> "not all do");
        until("each of four members is given records", () -> {
            send(20);
            return members.stream().allMatch(m -> m.received() > 0);
        }, () -> members.stream().map(ShareMember::received).toList());
        all();
        leave();
        once();
        pass("four members share two partitions: each is given records, no record is accepted twice");
    }

    /** While the broker stops, acknowledgements may be lost: such a record is delivered again. */
    private void interrupt(String how) throws Exception {
        join(true);
        join(true);
        send(20);
        all();
        Runner.signal(how);
        send(40);
        all();
        leave();
        pass("two members go on when the broker is %sed: every record arrives", how);
        accepted.values().forEach(times -> times.set(1));
    }

    /** A member that is gone without a word loses its records to another. */
    private void killed() throws Exception {
        configure("share.record.lock.duration.ms", "15000");
        send(10);
        ShareMember gone = new ShareMember(GROUP, TOPIC, true, (value, delivery, explicit) -> null);
        until("a member has records and does nothing", () -> gone.received() > 0, gone::received);
        gone.abandon();
        join(true);
        all();
        leave();
        pass("what a member held that closed without acknowledging goes to another");
    }

    private void describe() throws Exception {
        ShareMember member = join(false);
        until("the member is described", () -> {
            ShareGroupDescription d = admin.describeShareGroups(List.of(GROUP)).all().get().get(GROUP);
            return d.groupState() == GroupState.STABLE && d.members().size() == 1
                    && d.members().iterator().next().assignment().topicPartitions().size() == PARTITIONS;
        }, () -> member.received());
        boolean listed = admin.listGroups().all().get().stream().map(GroupListing::groupId).anyMatch(GROUP::equals);
        check(listed, "the group is not listed");
        leave();
        until("the group is Empty", () -> admin.describeShareGroups(List.of(GROUP)).all().get().get(GROUP).groupState() == GroupState.EMPTY, () -> "no");
        pass("the group is listed and described, with its member and without");
    }

    private Map<TopicPartition, SharePartitionOffsetInfo> places() throws Exception {
        return admin.listShareGroupOffsets(Map.of(GROUP, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(GROUP).get();
    }

    private void offsets() throws Exception {
        until("nothing is left to read", () -> places().values().stream().allMatch(p -> p.lag().orElse(-1L) == 0), () -> "there is");
        TopicPartition first = new TopicPartition(TOPIC, 0);
        admin.alterShareGroupOffsets(GROUP, Map.of(first, 0L)).all().get();
        check(places().get(first).startOffset() == 0, "start offset %s", places().get(first));
        accepted.clear();
        join(false);
        until("the first partition is read again", () -> accepted.size() == (sent + 1) / 2, accepted::size);
        leave();
        admin.deleteShareGroupOffsets(GROUP, java.util.Set.of(TOPIC)).all().get();
        check(places().isEmpty(), "offsets are left: %s", places());
        pass("offsets are listed, altered and deleted");
    }

    private void tool() throws Exception {
        String tool = "org.apache.kafka.tools.consumer.group.ShareGroupCommand";
        join(false);
        until("the group is read again", () -> accepted.size() == sent, accepted::size);
        String all = Tool.run(tool, "--list");
        check(all.contains(GROUP), "--list: %s", all);
        for (String what : List.of("--state", "--members", "--offsets")) {
            String described = Tool.run(tool, "--describe", what, "--group", GROUP);
            check(described.contains(GROUP), "--describe %s: %s", what, described);
        }
        leave();
        until("the group is Empty", () -> Tool.run(tool, "--describe", "--state", "--group", GROUP).contains("Empty"), () -> "no");
        String reset = Tool.run(tool, "--reset-offsets", "--group", GROUP, "--topic", TOPIC, "--to-earliest", "--execute");
        check(reset.contains(TOPIC), "--reset-offsets: %s", reset);
        String deleted = Tool.run(tool, "--delete-offsets", "--group", GROUP, "--topic", TOPIC);
        check(deleted.contains("Success"), "--delete-offsets: %s", deleted);
        pass("ShareGroupCommand lists, describes, resets and deletes offsets");
    }

    private void delete() throws Exception {
        admin.deleteShareGroups(List.of(GROUP)).all().get();
        until("the group is gone", () -> admin.listGroups().all().get().stream().noneMatch(g -> g.groupId().equals(GROUP)), () -> "no");
        pass("the group is deleted");
    }
}
