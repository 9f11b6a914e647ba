package walk.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.KafkaHeaders;

/** What a walk has only with Spring: listeners that are called again, and dead-letter topics. */
final class Retries {
    private static final Set<String> DEAD = Set.of("poison-1", "poison-2");

    private final KafkaAdmin admin;
    private final KafkaTemplate<byte[], byte[]> template;
    private final KafkaListenerEndpointRegistry listeners;
    private final Attempts orders;
    private final Attempts payments;

    @SuppressWarnings("unchecked")
    Retries(ApplicationContext context) {
        admin = context.getBean(KafkaAdmin.class);
        template = context.getBean(KafkaTemplate.class);
        listeners = context.getBean(KafkaListenerEndpointRegistry.class);
        orders = context.getBean(Orders.class).attempts;
        payments = context.getBean(Payments.class).attempts;
    }

    void tell() throws Exception {
        inPlace();
        throughTopics();
    }

    private void inPlace() throws Exception {
        admin.createOrModifyTopics(new NewTopic(Orders.TOPIC, 2, (short) 1), new NewTopic(Orders.TOPIC + "-dlt", 2, (short) 1));
        List.of("orders", "orders-dead").forEach(id -> listeners.getListenerContainer(id).start());
        send(Orders.TOPIC);
        settled(orders);
        tried(orders, "fine-1", Orders.TOPIC);
        tried(orders, "flaky-1", Orders.TOPIC, Orders.TOPIC);
        tried(orders, "poison-1", Orders.TOPIC, Orders.TOPIC, Orders.TOPIC);
        letter(orders.dead().get("poison-1"), Orders.TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC);
        pass("retries: a record that failed once came again, one that failed three times is in %s-dlt, the others went on", Orders.TOPIC);
    }

    private void throughTopics() throws Exception {
        Set<String> made = SpringKafka.call(admin, a -> a.listTopics().names().get());
        Stream.of("", "-retry-50", "-retry-100", "-dlt").map(Payments.TOPIC::concat)
                .forEach(t -> check(made.contains(t), "topic %s is not among %s", t, made));
        send(Payments.TOPIC);
        settled(payments);
        tried(payments, "fine-1", Payments.TOPIC);
        tried(payments, "flaky-1", Payments.TOPIC, Payments.TOPIC + "-retry-50");
        tried(payments, "poison-1", Payments.TOPIC, Payments.TOPIC + "-retry-50", Payments.TOPIC + "-retry-100");
        letter(payments.dead().get("poison-1"), Payments.TOPIC, KafkaHeaders.ORIGINAL_TOPIC);
        pass("retry topics: a record that failed went through %1$s-retry-50 and %1$s-retry-100 to %1$s-dlt", Payments.TOPIC);
    }

    private void send(String topic) throws Exception {
        for (String id : List.of("fine-1", "flaky-1", "poison-1", "fine-2", "poison-2", "fine-3")) {
            template.send(new ProducerRecord<>(topic, 0, id.getBytes(UTF_8), ("value of " + id).getBytes(UTF_8),
                    List.of(new RecordHeader("id", id.getBytes(UTF_8))))).get();
        }
    }

    private static void settled(Attempts attempts) throws Exception {
        until("records to be processed or dead", () -> attempts.dead().keySet().equals(DEAD) && attempts.tried().size() == 6
                && attempts.tried().get("flaky-1").size() == 2, () -> attempts.tried() + ", dead " + attempts.dead().keySet());
    }

    private static void tried(Attempts attempts, String id, String... topics) {
        List<String> at = attempts.tried().get(id);
        check(at.equals(List.of(topics)), "%s was tried at %s instead of %s", id, at, Arrays.asList(topics));
    }

    /** A dead letter is the record that failed, with a header that says from which topic; its first value is the oldest. */
    private static void letter(ConsumerRecord<byte[], byte[]> dead, String from, String header) {
        check(dead.topic().equals(from + "-dlt") && Arrays.equals(dead.value(), "value of poison-1".getBytes(UTF_8)), "the dead letter is %s", dead);
        Iterator<Header> origins = dead.headers().headers(header).iterator();
        check(origins.hasNext() && new String(origins.next().value(), UTF_8).equals(from), "dead letter from %s with %s", from, dead.headers());
    }
}
