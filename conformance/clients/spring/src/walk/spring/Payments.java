package walk.spring;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;

/** A listener that does not block: a record that fails goes through retry topics to the dead-letter topic. */
class Payments {
    static final String TOPIC = "payments";

    final Attempts attempts = new Attempts();

    @RetryableTopic(attempts = "3", backOff = @BackOff(delay = Config.BACK_OFF_MS, multiplier = 2), numPartitions = "2")
    @KafkaListener(id = "payments", topics = TOPIC)
    void take(ConsumerRecord<byte[], byte[]> record) {
        attempts.take(record);
    }

    @DltHandler
    void bury(ConsumerRecord<byte[], byte[]> record) {
        attempts.bury(record);
    }
}
