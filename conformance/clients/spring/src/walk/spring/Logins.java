package walk.spring;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

/** Logs Spring Kafka in over TLS, for the walk of security: a template sends a record and receives it. */
public final class Logins {
    private Logins() {}

    public static void main(String[] args) {
        walk.Logins.each("spring-kafka", Logins::sendAndReceive);
    }

    private static void sendAndReceive(Map<String, Object> config, String topic, String value) throws Exception {
        DefaultKafkaProducerFactory<String, String> producers = new DefaultKafkaProducerFactory<>(config, new StringSerializer(), new StringSerializer());
        try {
            KafkaTemplate<String, String> template = new KafkaTemplate<>(producers);
            template.setConsumerFactory(new DefaultKafkaConsumerFactory<>(config, new StringDeserializer(), new StringDeserializer()));
            long offset = template.send(topic, value).get(20, TimeUnit.SECONDS).getRecordMetadata().offset();
            ConsumerRecord<String, String> received = template.receive(topic, 0, offset);
            if (received == null || !received.value().equals(value)) {
                throw new IllegalStateException("received " + received);
            }
        } finally {
            producers.destroy();
        }
    }
}
