package walk;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a share group in a thread of its own. */
public final class ShareMember {
    /** Says what becomes of a record; null: nothing is acknowledged. */
    public interface Decide {
        AcknowledgeType of(String value, int delivery, boolean explicit);
    }

    private final KafkaShareConsumer<byte[], String> consumer;
    private final boolean explicit;
    private final Decide decide;
    private final Thread thread;
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private volatile boolean polled;
    private volatile boolean closing;
    private volatile boolean abandoned;
    private volatile Exception failure;

    public ShareMember(String group, String topic, boolean explicit, Decide decide) {
        this.explicit = explicit;
        this.decide = decide;
        Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", Runner.bootstrap(), "group.id", group,
                "share.acknowledgement.mode", explicit ? "explicit" : "implicit", "max.poll.records", 10));
        consumer = new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(topic));
        thread = new Thread(this::run, "share member");
        thread.start();
    }

    private void run() {
        try {
            while (!closing) {
                for (ConsumerRecord<byte[], String> record : consumer.poll(Duration.ofMillis(200))) {
                    take(record);
                }
                polled = true;
                if (!abandoned && received.get() > 0) {
                    consumer.commitSync();
                }
                while (abandoned && !closing) {
                    Thread.onSpinWait();
                }
            }
        } catch (Exception e) {
            failure = e;
            e.printStackTrace();
        } finally {
            consumer.close(abandoned ? Duration.ZERO : Duration.ofSeconds(30));
        }
    }

    private void take(ConsumerRecord<byte[], String> record) {
        int delivery = record.deliveryCount().orElse((short) 0);
        received.incrementAndGet();
        if (delivery > 1) {
            again.incrementAndGet();
        }
        AcknowledgeType type = decide.of(record.value(), delivery, explicit);
        if (type == null) {
            abandoned = true;
        } else if (explicit) {
            consumer.acknowledge(record, type);
        }
    }

    public int received() {
        if (failure != null) {
            throw new IllegalStateException("share member ended", failure);
        }
        return received.get();
    }

    /** How many records came that were delivered before. */
    public int again() {
        return again.get();
    }

    public boolean reads() {
        return polled;
    }

    public void close() throws InterruptedException {
        closing = true;
        thread.join();
        if (failure != null) {
            throw new IllegalStateException("share member ended", failure);
        }
    }

    /** Ends the member without a word of what it has. */
    public void abandon() throws InterruptedException {
        closing = true;
        thread.join();
    }
}
