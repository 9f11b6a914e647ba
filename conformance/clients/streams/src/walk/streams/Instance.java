package walk.streams;

import java.io.IOException;
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
 * One instance of an application that counts words: the words go through a repartition topic into a store with a changelog, and
 * each new count comes out as text. To each line of its stdin it says how many standby tasks it has; it ends when its stdin does.
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

    private static Properties settings(String app, String instance, String guarantee, String protocol) {
        Properties p = new Properties();
        p.put("bootstrap.servers", System.getenv("BOOTSTRAP"));
        p.put(StreamsConfig.APPLICATION_ID_CONFIG, app);
        p.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, protocol);
        p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        p.put(StreamsConfig.STATE_DIR_CONFIG, System.getenv("WORK") + "/state-" + app + "-" + instance);
        p.put(StreamsConfig.APPLICATION_SERVER_CONFIG, instance + ":8080");
        p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put("reconnect.backoff.max.ms", 200);
        if (protocol.equals("classic")) {
            classic(p, guarantee);
        }
        return p;
    }

    /** With the classic protocol the client has what the broker has of a streams group: its session, and the standby tasks. */
    private static void classic(Properties p, String guarantee) {
        p.put("session.timeout.ms", 6_000);
        p.put("heartbeat.interval.ms", 1_000);
        p.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, guarantee.equals(StreamsConfig.EXACTLY_ONCE_V2) ? 1 : 0);
    }

    public static void main(String[] args) throws Exception {
        KafkaStreams streams = new KafkaStreams(topology(args[0]), settings(args[0], args[1], args[2], args[3]));
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.start();
        CountDownLatch ended = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            answer(streams);
            ended.countDown();
        });
        reader.setDaemon(true);
        reader.start();
        ended.await();
        streams.close();
        Runtime.getRuntime().halt(0);
    }

    private static void answer(KafkaStreams streams) {
        try {
            for (int b = System.in.read(); b >= 0; b = System.in.read()) {
                System.out.println(streams.metadataForLocalThreads().stream().mapToInt(t -> t.standbyTasks().size()).sum());
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
