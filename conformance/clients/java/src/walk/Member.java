package walk;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A group member: a consumer in a thread of its own, told what to do through a queue. */
public final class Member {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final ConcurrentLinkedQueue<CompletableFuture<Void>> commits = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile int assigned;
    private volatile java.util.Set<Integer> partitions = java.util.Set.of();
    private volatile boolean closing;
    private volatile Exception failure;

    /** Whether members speak the consumer protocol (KIP-848), whose timeouts are the broker's. */
    public static boolean newProtocol() {
        return "consumer".equals(System.getenv("GROUP_PROTOCOL"));
    }

    public Member(String group, String topic, Map<String, Object> more, Consumer<ConsumerRecord<byte[], byte[]>> sink) {
        Map<String, Object> config = new java.util.HashMap<>(Map.of(
                "bootstrap.servers", Runner.bootstrap(), "group.id", group, "auto.offset.reset", "earliest",
                "enable.auto.commit", false));
        config.putAll(newProtocol() ? Map.of("group.protocol", "consumer") : Map.of("session.timeout.ms", 10_000, "heartbeat.interval.ms", 300));
        config.putAll(more);
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(topic));
        thread = new Thread(() -> run(sink), "member");
        thread.start();
    }

    private void run(Consumer<ConsumerRecord<byte[], byte[]>> sink) {
        try {
            while (!closing) {
                consumer.poll(Duration.ofMillis(50)).forEach(sink);
                partitions = consumer.assignment().stream().map(p -> p.partition()).collect(java.util.stream.Collectors.toSet());
                assigned = partitions.size();
                commitWhenAsked();
            }
        } catch (Exception e) {
            failure = e;
            e.printStackTrace();
        } finally {
            consumer.close();
            assigned = 0;
        }
    }

    private void commitWhenAsked() {
        CompletableFuture<Void> asked = commits.peek();
        if (asked == null) {
            return;
        }
        try {
            consumer.commitSync();
        } catch (RebalanceInProgressException | RetriableException e) {
            return; // the next poll settles it, then it is tried again
        }
        commits.remove();
        asked.complete(null);
    }

    /** The partitions that it has. */
    public java.util.Set<Integer> partitions() {
        assigned();
        return partitions;
    }

    public int assigned() {
        if (failure != null) {
            throw new IllegalStateException("member ended", failure);
        }
        return assigned;
    }

    /** Commits what was handed to the sink, and returns when the broker has acknowledged it. */
    public void commit() throws Exception {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        commits.add(asked);
        asked.get(Runner.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    public void close() throws InterruptedException {
        closing = true;
        thread.join();
    }

    public static void commit(Collection<Member> members) throws Exception {
        for (Member member : members) {
            member.commit();
        }
    }
}
