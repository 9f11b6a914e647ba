package walk;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Walks kafka-clients: Producer, Consumer and Admin. */
public final class KafkaClients {
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final int PARTITIONS = 4;

    private final String topic = "walk-java";
    private final String group = "group-java";
    private final Ledger ledger = new Ledger();
    private final Admin admin = Admin.create(Map.of("bootstrap.servers", Runner.bootstrap()));
    private final Map<String, Producer<byte[], byte[]>> producers = new HashMap<>();
    private Member a;
    private Member b;

    public static void main(String[] args) {
        Runner.main(() -> new KafkaClients().walk());
    }

    private void walk() throws Exception {
        create();
        produce();
        join();
        read();
        interrupt("restart");
        interrupt("kill");
        leave();
        resume();
        admin.createTopics(List.of(new NewTopic(topic + "-transactions", 1, (short) 1))).all().get();
        new Transactions(topic + "-transactions").tell();
        describe();
        new AdminTour(admin, topic, group).tell();
        if (Member.newProtocol()) {
            new ConsumerGroupTour(admin, topic).tell();
        }
        delete();
        admin.close();
    }

    private void create() throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
        until("topic to have its partitions", () -> partitions() == PARTITIONS, () -> "");
        pass("created topic %s with %d partitions", topic, PARTITIONS);
    }

    private int partitions() throws Exception {
        return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
    }

    private void produce() throws Exception {
        for (String codec : CODECS) {
            producers.put(codec, new KafkaProducer<>(
                    Map.of("bootstrap.servers", Runner.bootstrap(), "compression.type", codec, "linger.ms", 5),
                    new ByteArraySerializer(), new ByteArraySerializer()));
            send("first", codec);
        }
        pass("produced %d records with each of %s: keys, headers, nulls", Records.PER_CODEC, CODECS);
    }

    private void send(String phase, String codec) throws Exception {
        List<Future<?>> acks = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record : Records.of(topic, phase, codec)) {
            ledger.send(record);
            acks.add(producers.get(codec).send(record));
        }
        for (Future<?> ack : acks) {
            ack.get();
        }
    }

    private Member member() {
        return new Member(group, topic, Map.of(), ledger::arrive);
    }

    private void join() throws Exception {
        a = member();
        until("member to have all partitions", () -> a.assigned() == PARTITIONS, () -> a.assigned());
        pass("one member has all %d partitions", PARTITIONS);
        b = member();
        shared();
        pass("a second member joined: they have %d each", PARTITIONS / 2);
    }

    private void shared() throws Exception {
        until("two members to share", () -> a.assigned() == PARTITIONS / 2 && b.assigned() == PARTITIONS / 2,
                () -> a.assigned() + " and " + b.assigned());
    }

    private void arrivals() throws Exception {
        try {
            until("records to arrive", () -> ledger.missing() == 0, () -> ledger.missing() + " missing");
        } finally {
            ledger.check();
        }
    }

    /**
     * Has the members commit until the group's offsets are the ends of what arrived. Once may be too little: a member that was
     * just given a partition is not there yet, and commits where it is.
     */
    private void commit(Member... members) throws Exception {
        until("the group's offsets to be what arrived", () -> {
            Member.commit(List.of(members));
            return ledger.commit(committed());
        }, () -> ledger.ends());
    }

    private Map<Integer, Long> committed() throws Exception {
        return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset()));
    }

    private void read() throws Exception {
        arrivals();
        pass("all %d records arrived as they were sent", ledger.count());
        commit(a, b);
        pass("both members committed");
    }

    private void interrupt(String how) throws Exception {
        Stream stream = new Stream(producers.get("none"), topic, how, ledger);
        stream.more(5);
        Runner.signal(how);
        stream.more(5);
        int acked = stream.stop();
        for (String codec : CODECS) {
            send(how, codec);
        }
        arrivals();
        pass("%s: %d records acknowledged across it and %d after it arrived, nothing committed came again (%d sends failed)",
                how, acked, Records.PER_CODEC * CODECS.size(), stream.failed());
        shared();
        commit(a, b);
        pass("%s: both members committed again", how);
    }

    private void leave() throws Exception {
        b.close();
        until("first member to have all partitions", () -> a.assigned() == PARTITIONS, () -> a.assigned());
        pass("the second member left: the first has all %d partitions", PARTITIONS);
        commit(a);
        a.close();
    }

    private void resume() throws Exception {
        send("last", "zstd");
        a = member();
        arrivals();
        pass("a new member got the %d new records and nothing else", Records.PER_CODEC);
        commit(a);
    }

    private void describe() throws Exception {
        check(admin.listTopics().names().get().contains(topic), "topic %s is not listed", topic);
        check(ends().equals(ledger.ends()), "ends %s, seen %s", ends(), ledger.ends());
        pass("topic listed and described; its ends are those seen: %s", ends());
        Set<String> groups = admin.listGroups().all().get().stream().map(g -> g.groupId()).collect(Collectors.toSet());
        check(groups.contains(group), "group %s is not among %s", group, groups);
        groupIs("Stable", 1);
        check(committed().equals(ends()), "committed %s, ends %s", committed(), ends());
        a.close();
        groupIs("Empty", 0);
        pass("group listed and described, Stable then Empty; its offsets are the ends");
    }

    private Map<Integer, Long> ends() throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (int p = 0; p < PARTITIONS; p++) {
            asked.put(new TopicPartition(topic, p), OffsetSpec.latest());
        }
        Map<TopicPartition, ListOffsetsResultInfo> ends = admin.listOffsets(asked).all().get();
        return ends.entrySet().stream().collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset()));
    }

    private void groupIs(String state, int members) throws Exception {
        until("group to be " + state, () -> {
            if (Member.newProtocol()) {
                ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
                return d.type() == GroupType.CONSUMER && d.groupState().toString().equals(state) && d.members().size() == members;
            }
            ClassicGroupDescription d = admin.describeClassicGroups(List.of(group)).all().get().get(group);
            return d.state().toString().equals(state) && d.members().size() == members;
        }, () -> "");
    }

    private void delete() throws Exception {
        producers.values().forEach(Producer::close);
        admin.deleteConsumerGroups(List.of(group)).all().get();
        until("group to be gone", () -> admin.listGroups().all().get().stream().noneMatch(g -> g.groupId().equals(group)), () -> "");
        pass("group %s deleted and no longer listed", group);
        admin.deleteTopics(List.of(topic)).all().get();
        until("topic to be gone", () -> !admin.listTopics().names().get().contains(topic), () -> "");
        pass("topic %s deleted and no longer listed", topic);
    }
}
