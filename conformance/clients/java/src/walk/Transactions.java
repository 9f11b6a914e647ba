package walk;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Commits and aborts in a topic of one partition, and takes a transactional id from the one that has it. */
final class Transactions {
    private final String topic;

    Transactions(String topic) {
        this.topic = topic;
    }

    /** A producer that has taken a transactional id. */
    static KafkaProducer<String, String> producer(String id) {
        KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", Runner.bootstrap(), "transactional.id", id), new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    void tell() throws Exception {
        try (KafkaProducer<String, String> first = producer(topic)) {
            transact(first, true, "a1", "a2");
            transact(first, false, "b1", "b2");
            transact(first, true, "c1");
            see(List.of("a1", "a2", "c1"), List.of("a1", "a2", "b1", "b2", "c1"));
            pass("transactions: committed records are read, aborted ones by a read_uncommitted reader only");
            first.beginTransaction();
            first.send(new ProducerRecord<>(topic, "d1")).get();
            try (KafkaProducer<String, String> second = producer(topic)) {
                transact(second, true, "e1");
            }
            check(fenced(first), "the producer whose transactional id was taken could commit");
            see(List.of("a1", "a2", "c1", "e1"), List.of("a1", "a2", "b1", "b2", "c1", "d1", "e1"));
            pass("transactions: the producer whose id was taken cannot commit, and its records are not read");
        }
    }

    private void transact(KafkaProducer<String, String> producer, boolean commit, String... values) throws Exception {
        producer.beginTransaction();
        for (String value : values) {
            producer.send(new ProducerRecord<>(topic, value)).get();
        }
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static boolean fenced(KafkaProducer<String, String> producer) {
        try {
            producer.commitTransaction();
            return false;
        } catch (KafkaException e) {
            return true;
        }
    }

    private void see(List<String> committed, List<String> all) throws Exception {
        check(values("read_committed", committed.size()).equals(committed), "committed: %s", values("read_committed", committed.size()));
        check(values("read_uncommitted", all.size()).equals(all), "uncommitted: %s", values("read_uncommitted", all.size()));
    }

    private List<String> values(String isolation, int atLeast) throws Exception {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", Runner.bootstrap(), "isolation.level", isolation), new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partition = List.of(new TopicPartition(topic, 0));
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            until("values to arrive", () -> {
                consumer.poll(Duration.ofMillis(100)).forEach(r -> values.add(r.value()));
                return values.size() >= atLeast;
            }, () -> values);
        }
        return values;
    }
}
