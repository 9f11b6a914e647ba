package walk.spring;

import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;
import walk.Ledger;
import walk.Runner;

/** The application: what Spring Boot would set up, without it and without a web server. */
@Configuration
@EnableKafkaRetryTopic
@Import({Members.class, Orders.class, Payments.class})
class Config {
    /** Milliseconds between two attempts of a listener. */
    static final long BACK_OFF_MS = 50;

    @Bean
    KafkaAdmin admin() {
        return new KafkaAdmin(Map.of("bootstrap.servers", Runner.bootstrap()));
    }

    @Bean
    Ledger ledger() {
        return new Ledger();
    }

    @Bean
    KafkaTemplate<byte[], byte[]> defaultRetryTopicKafkaTemplate() {
        return template("none");
    }

    /** A template whose producer compresses with a codec. */
    static KafkaTemplate<byte[], byte[]> template(String codec) {
        Map<String, Object> config = Map.of("bootstrap.servers", Runner.bootstrap(), "compression.type", codec, "linger.ms", 5);
        return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(config, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    @Bean
    ConsumerFactory<byte[], byte[]> consumers() {
        Map<String, Object> config = Map.of(
                "bootstrap.servers", Runner.bootstrap(), "auto.offset.reset", "earliest",
                "session.timeout.ms", 10_000, "heartbeat.interval.ms", 300, "metadata.max.age.ms", 2_000);
        return new DefaultKafkaConsumerFactory<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Containers commit after each batch that a poll gave them, the default. */
    @Bean
    ConcurrentKafkaListenerContainerFactory<byte[], byte[]> kafkaListenerContainerFactory(ConsumerFactory<byte[], byte[]> consumers) {
        ConcurrentKafkaListenerContainerFactory<byte[], byte[]> factory = new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        return factory;
    }

    /** The same, with two more attempts at a record and then its dead-letter topic. */
    @Bean
    ConcurrentKafkaListenerContainerFactory<byte[], byte[]> deadLetters(
            ConsumerFactory<byte[], byte[]> consumers, KafkaTemplate<byte[], byte[]> template) {
        ConcurrentKafkaListenerContainerFactory<byte[], byte[]> factory = kafkaListenerContainerFactory(consumers);
        factory.setCommonErrorHandler(
                new DefaultErrorHandler(new DeadLetterPublishingRecoverer(template), new FixedBackOff(BACK_OFF_MS, 2)));
        return factory;
    }

    @Bean
    ThreadPoolTaskScheduler taskScheduler() {
        return new ThreadPoolTaskScheduler();
    }
}
