package eos;

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
 * Counts words, exactly once: the words go through a repartition topic into a store with a changelog, and each new count
 * comes out as text. With the argument "streams" the instance is a member of a streams group (KIP-1071).
 */
public final class Count {
    private static Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(System.getenv("IN"))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.as("words"))
            .count(Materialized.as("counts"))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(System.getenv("OUT"));
        return builder.build();
    }

    private static Properties settings(boolean streamsGroup) {
        Properties p = new Properties();
        p.put("bootstrap.servers", System.getenv("BOOTSTRAP"));
        p.put(StreamsConfig.APPLICATION_ID_CONFIG, System.getenv("GROUP"));
        p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        p.put(StreamsConfig.STATE_DIR_CONFIG, System.getenv("WORK") + "/streams");
        p.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        if (streamsGroup) {
            p.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, "streams");
        } else {
            p.put(StreamsConfig.mainConsumerPrefix("group.instance.id"), "counter");
            p.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 10000);
        }
        p.put(StreamsConfig.consumerPrefix("max.poll.records"), System.getenv("PER"));
        p.put("reconnect.backoff.max.ms", 200);
        return p;
    }

    public static void main(String[] args) throws InterruptedException {
        KafkaStreams streams = new KafkaStreams(topology(), settings(args.length > 0 && args[0].equals("streams")));
        CountDownLatch ended = new CountDownLatch(1);
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close();
            ended.countDown();
        }));
        streams.start();
        ended.await();
    }
}
