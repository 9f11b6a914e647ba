package walk.spring;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.MessageListenerContainer;
import walk.Ledger;
import walk.Records;
import walk.Runner;

/**
 * Walks Spring Kafka: listener containers as members, templates as producers. A container commits by itself after each batch, so
 * the members are not told to: the story waits until they have.
 */
public final class SpringKafka {
    static final String TOPIC = "walk-spring-kafka";
    static final String GROUP = "group-spring-kafka";
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final int PARTITIONS = 4;

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class);
    private final KafkaAdmin admin = context.getBean(KafkaAdmin.class);
    private final Ledger ledger = context.getBean(Ledger.class);
    private final Map<String, KafkaTemplate<byte[], byte[]>> templates = new LinkedHashMap<>();
    private final MessageListenerContainer a = container("a");
    private final MessageListenerContainer b = container("b");

    public static void main(String[] args) {
        Runner.main(() -> new SpringKafka().walk());
    }

    private MessageListenerContainer container(String id) {
        return context.getBean(KafkaListenerEndpointRegistry.class).getListenerContainer(id);
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
        describe();
        new Retries(context).tell();
        delete();
        context.close();
        pass("the application closed");
    }

    private void create() throws Exception {
        admin.createOrModifyTopics(new NewTopic(TOPIC, PARTITIONS, (short) 1));
        until("topic to have its partitions", () -> admin.describeTopics(TOPIC).get(TOPIC).partitions().size() == PARTITIONS, () -> "");
        pass("created topic %s with %d partitions", TOPIC, PARTITIONS);
    }

    private void produce() throws Exception {
        for (String codec : CODECS) {
            templates.put(codec, Config.template(codec));
            send("first", codec);
        }
        pass("produced %d records with each of %s: keys, headers, nulls", Records.PER_CODEC, CODECS);
    }

    private void send(String phase, String codec) throws Exception {
        List<Future<?>> acks = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record : Records.of(TOPIC, phase, codec)) {
            ledger.send(record);
            acks.add(templates.get(codec).send(record));
        }
        for (Future<?> ack : acks) {
            ack.get();
        }
    }

    private static int assigned(MessageListenerContainer member) {
        return member.getAssignedPartitions() == null ? 0 : member.getAssignedPartitions().size();
    }

    private void has(int want, MessageListenerContainer... members) throws Exception {
        until("members to have " + want + " partitions", () -> Stream.of(members).allMatch(m -> assigned(m) == want),
                () -> Stream.of(members).map(SpringKafka::assigned).toList());
    }

    private void join() throws Exception {
        a.start();
        has(PARTITIONS, a);
        pass("one listener has all %d partitions", PARTITIONS);
        b.start();
        has(PARTITIONS / 2, a, b);
        pass("a second listener joined: they have %d each", PARTITIONS / 2);
    }

    private void arrivals() throws Exception {
        try {
            until("records to arrive", () -> ledger.missing() == 0, () -> ledger.missing() + " missing");
        } finally {
            ledger.check();
        }
    }

    private void committed() throws Exception {
        until("the group's offsets to be what arrived", () -> ledger.commit(offsets()), () -> ledger.ends());
    }

    /** Spring has no call for most of what Admin does; it is asked with the application's settings. */
    static <T> T call(KafkaAdmin settings, Call<T> call) throws Exception {
        try (Admin admin = Admin.create(settings.getConfigurationProperties())) {
            return call.of(admin);
        }
    }

    interface Call<T> {
        T of(Admin admin) throws Exception;
    }

    private Map<Integer, Long> offsets() throws Exception {
        return call(admin, a -> a.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset())));
    }

    private void read() throws Exception {
        arrivals();
        pass("all %d records arrived as they were sent", ledger.count());
        committed();
        pass("both listeners committed");
    }

    private void interrupt(String how) throws Exception {
        Sending sending = new Sending(templates.get("none"), TOPIC, how, ledger);
        sending.more(5);
        Runner.signal(how);
        sending.more(5);
        sending.stop();
        for (String codec : CODECS) {
            send(how, codec);
        }
        arrivals();
        pass("%s: %d records acknowledged across it and %d after it arrived, nothing committed came again (%d sends failed)",
                how, sending.acked(), Records.PER_CODEC * CODECS.size(), sending.failed());
        has(PARTITIONS / 2, a, b);
        committed();
        pass("%s: both listeners committed again", how);
    }

    private void leave() throws Exception {
        b.stop();
        has(PARTITIONS, a);
        pass("the second listener stopped: the first has all %d partitions", PARTITIONS);
        a.stop();
    }

    private void resume() throws Exception {
        send("last", "zstd");
        a.start();
        arrivals();
        pass("the listener started again and got the %d new records and nothing else", Records.PER_CODEC);
        committed();
    }

    private void describe() throws Exception {
        check(call(admin, a -> a.listTopics().names().get()).contains(TOPIC), "topic %s is not listed", TOPIC);
        Map<Integer, Long> ends = ends();
        check(ends.equals(ledger.ends()), "ends %s, seen %s", ends, ledger.ends());
        pass("topic listed and described; its ends are those seen: %s", ends);
        check(listsGroup(), "group %s is not listed", GROUP);
        groupIs("Stable", 1);
        check(offsets().equals(ends), "committed %s, ends %s", offsets(), ends);
        a.stop();
        groupIs("Empty", 0);
        pass("group listed and described, Stable then Empty; its offsets are the ends");
    }

    private Map<Integer, Long> ends() throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        IntStream.range(0, PARTITIONS).forEach(p -> asked.put(new TopicPartition(TOPIC, p), OffsetSpec.latest()));
        return call(admin, a -> a.listOffsets(asked).all().get().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset())));
    }

    private boolean listsGroup() throws Exception {
        return call(admin, a -> a.listGroups().all().get()).stream().anyMatch(g -> g.groupId().equals(GROUP));
    }

    private void groupIs(String state, int members) throws Exception {
        until("group to be " + state, () -> {
            ClassicGroupDescription d = call(admin, a -> a.describeClassicGroups(List.of(GROUP)).all().get().get(GROUP));
            return d.state().toString().equals(state) && d.members().size() == members;
        }, () -> "");
    }

    private void delete() throws Exception {
        call(admin, a -> a.deleteConsumerGroups(List.of(GROUP)).all().get());
        until("group to be gone", () -> !listsGroup(), () -> "");
        pass("group %s deleted and no longer listed", GROUP);
        admin.deleteTopics(TOPIC);
        until("topic to be gone", () -> !call(admin, a -> a.listTopics().names().get()).contains(TOPIC), () -> "");
        pass("topic %s deleted and no longer listed", TOPIC);
    }
}
