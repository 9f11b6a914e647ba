package walk.spring;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.KafkaListener;
import walk.Ledger;

/** The two members of the walk's group. The story starts and stops their containers. */
class Members {
    private final Ledger ledger;

    Members(Ledger ledger) {
        this.ledger = ledger;
    }

    @KafkaListener(id = "a", groupId = SpringKafka.GROUP, topics = SpringKafka.TOPIC, autoStartup = "false")
    void a(ConsumerRecord<byte[], byte[]> record) {
        ledger.arrive(record);
    }

    @KafkaListener(id = "b", groupId = SpringKafka.GROUP, topics = SpringKafka.TOPIC, autoStartup = "false")
    void b(ConsumerRecord<byte[], byte[]> record) {
        ledger.arrive(record);
    }
}
