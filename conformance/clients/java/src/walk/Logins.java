package walk;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Logs the Java client in over TLS, for the walk of security. See ../security/README.md. */
public final class Logins {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Logins() {}

    /** What a client does with a login: it sends a record and reads it again. */
    public interface Attempt {
        void at(Map<String, Object> config, String topic, String value) throws Exception;
    }

    public static void main(String[] args) {
        each("java", Logins::sendAndRead);
    }

    /** Makes an attempt for each line of stdin, and prints what came of it. */
    public static void each(String client, Attempt attempt) {
        Scanner lines = new Scanner(System.in);
        for (int n = 0; lines.hasNextLine(); n++) {
            String[] f = lines.nextLine().split(" ");
            try {
                attempt.at(config(f[0], f[1], f[2]), f[3], client + "-" + n);
                System.out.println("ok");
            } catch (Exception e) {
                System.out.println("refused: " + told(e));
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** An error and those that it wraps, in one line. */
    private static String told(Throwable e) {
        StringBuilder all = new StringBuilder();
        for (; e != null; e = e.getCause()) {
            all.append(e).append(' ');
        }
        return all.toString().replace('\n', ' ');
    }

    private static Map<String, Object> config(String mechanism, String user, String password) {
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", Runner.bootstrap());
        config.put("security.protocol", "SASL_SSL");
        config.put("ssl.truststore.type", "PEM");
        config.put("ssl.truststore.location", System.getenv("CA"));
        config.put("sasl.mechanism", mechanism);
        config.put("sasl.jaas.config", String.format("org.apache.kafka.common.security.%s required username=\"%s\" password=\"%s\";",
                module, user, password));
        config.put("max.block.ms", PATIENCE.toMillis());
        config.put("auto.offset.reset", "earliest");
        return config;
    }

    private static void sendAndRead(Map<String, Object> config, String topic, String value) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, value)).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        config.put("group.id", topic + "-java");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (System.nanoTime() < end) {
                for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(200))) {
                    if (r.value().equals(value)) {
                        return;
                    }
                }
            }
        }
        throw new IllegalStateException("the record was not read");
    }
}
