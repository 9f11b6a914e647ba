package walk.spring;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.KafkaListener;

/** A listener that is called again in place, by seeking back, before a record goes to the dead-letter topic. */
class Orders {
    static final String TOPIC = "orders";

    final Attempts attempts = new Attempts();

    @KafkaListener(id = "orders", topics = TOPIC, containerFactory = "deadLetters", autoStartup = "false")
    void take(ConsumerRecord<byte[], byte[]> record) {
        attempts.take(record);
    }

    @KafkaListener(id = "orders-dead", topics = TOPIC + "-dlt", autoStartup = "false")
    void bury(ConsumerRecord<byte[], byte[]> record) {
        attempts.bury(record);
    }
}
