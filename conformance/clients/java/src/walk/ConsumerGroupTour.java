package walk;

import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** What groups of the consumer protocol do beside the walk: four members, static ones, other protocols, expressions. */
final class ConsumerGroupTour {
    private final Admin admin;
    private final String topic;

    ConsumerGroupTour(Admin admin, String topic) {
        this.admin = admin;
        this.topic = topic + "-tour";
    }

    void tell() throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, 8, (short) 1))).all().get();
        four();
        statics();
        migrates();
        expressions();
        admin.deleteTopics(List.of(topic)).all().get();
    }

    private Member member(String group, Map<String, Object> more) {
        return new Member(group, topic, more, r -> { });
    }

    private static boolean even(List<Member> members, int partitions) {
        Set<Integer> all = new HashSet<>();
        for (Member m : members) {
            Set<Integer> has = m.partitions();
            if (has.size() != partitions / members.size()) {
                return false;
            }
            all.addAll(has);
        }
        return all.size() == partitions;
    }

    private static void untilEven(List<Member> members, int partitions) throws Exception {
        until(members.size() + " members to share " + partitions, () -> even(members, partitions),
                () -> members.stream().map(Member::partitions).toList());
    }

    private void four() throws Exception {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            members.add(member("tour-four", Map.of("group.remote.assignor", i % 2 == 0 ? "uniform" : "range")));
        }
        untilEven(members, 8);
        admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(12))).all().get();
        untilEven(members, 12);
        Runner.signal("restart");
        untilEven(members, 12);
        members.remove(3).close();
        untilEven(members, 12);
        for (Member m : members) {
            m.close();
        }
        pass("four members share eight partitions, then twelve, after a restart too; then three");
    }

    private void statics() throws Exception {
        List<Member> members = new ArrayList<>();
        for (String id : List.of("one", "two")) {
            members.add(member("tour-static", Map.of("group.instance.id", id)));
        }
        untilEven(members, 12);
        Set<Integer> first = members.get(0).partitions();
        Set<Integer> second = members.get(1).partitions();
        members.get(0).close();
        Member again = member("tour-static", Map.of("group.instance.id", "one"));
        until("the static member to have its partitions again", () -> again.partitions().equals(first), again::partitions);
        Runner.check(members.get(1).partitions().equals(second), "the other member has %s, it had %s", members.get(1).partitions(), second);
        again.close();
        members.get(1).close();
        pass("a static member comes back and has its partitions again: nothing moves");
    }

    private void migrates() throws Exception {
        List<Member> members = new ArrayList<>();
        members.add(member("tour-migrates", Map.of("group.protocol", "classic")));
        untilEven(members, 12);
        members.add(member("tour-migrates", Map.of()));
        untilEven(members, 12);
        members.remove(1).close();
        untilEven(members, 12);
        members.add(member("tour-migrates", Map.of()));
        untilEven(members, 12);
        members.remove(0).close();
        untilEven(members, 12);
        members.remove(0).close();
        pass("a group goes from the classic to the consumer protocol, back, and over again, member by member");
    }

    private void expressions() throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", Runner.bootstrap(), "group.id", "tour-regex", "group.protocol", "consumer");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(new SubscriptionPattern(Pattern.quote(topic).replace("\\Q", "").replace("\\E", "") + ".*"));
            assigned(consumer, 12);
            admin.createTopics(List.of(new NewTopic(topic + "-2", 3, (short) 1))).all().get();
            assigned(consumer, 15);
            admin.deleteTopics(List.of(topic + "-2")).all().get();
            assigned(consumer, 12);
        }
        pass("a regular expression that the broker resolves: a topic comes and goes");
    }

    private static void assigned(KafkaConsumer<byte[], byte[]> consumer, int partitions) throws Exception {
        until("to have " + partitions + " partitions", () -> {
            consumer.poll(java.time.Duration.ofMillis(50));
            return consumer.assignment().size() == partitions;
        }, consumer::assignment);
    }
}
