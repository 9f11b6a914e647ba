package walk.streams;

import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;

/**
 * One instance of an application that counts words, with the streams protocol: the words go through a repartition topic into a
 * store with a changelog, and each new count comes out as text. It ends when its stdin does.
 */
public final class Instance {
    static Topology topology(String app) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(app + "-in")
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.as("words"))
            .count(Materialized.as("counts"))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(app + "-out");
        return builder.build();
    }

    private static Properties settings(String app, String instance, String guarantee) {
        Properties p = new Properties();
        p.put("bootstrap.servers", System.getenv("BOOTSTRAP"));
        p.put(StreamsConfig.APPLICATION_ID_CONFIG, app);
        p.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, "streams");
        p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        p.put(StreamsConfig.STATE_DIR_CONFIG, System.getenv("WORK") + "/state-" + app + "-" + instance);
        p.put(StreamsConfig.APPLICATION_SERVER_CONFIG, instance + ":8080");
        p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put("reconnect.backoff.max.ms", 200);
        return p;
    }

    public static void main(String[] args) throws Exception {
        KafkaStreams streams = new KafkaStreams(topology(args[0]), settings(args[0], args[1], args[2]));
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.start();
        CountDownLatch ended = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
                }
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            ended.countDown();
        });
        reader.setDaemon(true);
        reader.start();
        ended.await();
        streams.close();
        Runtime.getRuntime().halt(0);
    }
}
