package eos;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The copy job of the Java clients: it copies until it is ended, and ends when it cannot go on. */
public final class Copy {
    /** Every so many transactions one is aborted on purpose, so that there is something that must not be seen. */
    private static final int ABORT_EVERY = 10;

    private final KafkaConsumer<String, String> consumer = new KafkaConsumer<>(consumerSettings());
    private final KafkaProducer<String, String> producer = new KafkaProducer<>(producerSettings());
    private final String out = System.getenv("OUT");

    private static Properties settings() {
        Properties p = new Properties();
        p.put("bootstrap.servers", System.getenv("BOOTSTRAP"));
        p.put("reconnect.backoff.max.ms", "200");
        return p;
    }

    private static Properties consumerSettings() {
        Properties p = settings();
        p.put("group.id", System.getenv("GROUP"));
        p.put("group.instance.id", "copier");
        p.put("session.timeout.ms", "10000");
        p.put("auto.offset.reset", "earliest");
        p.put("enable.auto.commit", "false");
        p.put("isolation.level", "read_committed");
        p.put("max.poll.records", System.getenv("PER"));
        p.put("key.deserializer", StringDeserializer.class.getName());
        p.put("value.deserializer", StringDeserializer.class.getName());
        return p;
    }

    private static Properties producerSettings() {
        Properties p = settings();
        p.put("transactional.id", System.getenv("GROUP"));
        p.put("transaction.timeout.ms", "60000");
        p.put("key.serializer", StringSerializer.class.getName());
        p.put("value.serializer", StringSerializer.class.getName());
        return p;
    }

    public static void main(String[] args) {
        try {
            new Copy().run();
        } catch (KafkaException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private void run() {
        producer.initTransactions();
        consumer.subscribe(List.of(System.getenv("IN")));
        for (int transactions = 1; ; transactions++) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(500));
            if (!records.isEmpty()) {
                copy(records, transactions % ABORT_EVERY == 3);
            }
        }
    }

    /** Copies one poll's records in one transaction; after an abort the next poll begins where this one did. */
    private void copy(ConsumerRecords<String, String> records, boolean abort) {
        try {
            producer.beginTransaction();
            send(records, abort);
            if (!abort) {
                producer.commitTransaction();
                return;
            }
        } catch (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException | InvalidProducerEpochException e) {
            throw e;
        } catch (KafkaException e) {
            System.out.println("abort after " + e);
        }
        producer.abortTransaction();
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(consumer.assignment());
        for (TopicPartition partition : consumer.assignment()) {
            OffsetAndMetadata at = committed.get(partition);
            consumer.seek(partition, at == null ? 0 : at.offset());
        }
    }

    private void send(ConsumerRecords<String, String> records, boolean abort) {
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (ConsumerRecord<String, String> r : records) {
            String value = (abort ? "aborted copy of " : "copy of ") + r.value();
            producer.send(new ProducerRecord<>(out, r.partition(), r.key(), value));
            next.put(new TopicPartition(r.topic(), r.partition()), new OffsetAndMetadata(r.offset() + 1));
        }
        producer.sendOffsetsToTransaction(next, consumer.groupMetadata());
    }
}
