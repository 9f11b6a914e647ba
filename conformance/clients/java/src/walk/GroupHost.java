package walk;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A process with members of a group in it, each a thread of its own; how it talks stands in ../../../go/groups/hosts.go. */
public final class GroupHost {
    private static final String TOPIC = System.getenv("TOPIC");
    private static final Duration WAIT = Duration.ofMillis(100);
    private final String name;
    private final String instance;
    private final String kind;
    private volatile boolean leaving;

    private GroupHost(String kind, String name, String instance) {
        this.kind = kind;
        this.name = name;
        this.instance = instance;
    }

    public static void main(String[] args) throws Exception {
        Map<String, GroupHost> members = new HashMap<>();
        new GroupHost(args[0], "-", "-").tell("ready", "-");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("join")) {
                GroupHost member = new GroupHost(args[0], words[1], words[2]);
                members.put(words[1], member);
                new Thread(member::run, words[1]).start();
            } else if (words[0].equals("leave")) {
                members.remove(words[1]).leaving = true;
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void tell(String what, Object words) {
        Instant now = Instant.now();
        String line = now.getEpochSecond() * 1_000_000_000L + now.getNano() + " " + name + " " + what + " " + words;
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    private void run() {
        try {
            if (kind.equals("share")) {
                share();
            } else {
                while (!read()) {
                    Thread.sleep(500);
                }
            }
            tell("left", name);
        } catch (Exception e) {
            e.printStackTrace();
            tell("failed", e);
        }
    }

    private Map<String, Object> config() {
        return new HashMap<>(Map.of("bootstrap.servers", Runner.bootstrap(), "group.id", System.getenv("GROUP")));
    }

    /** Reads until the member is to leave; false: its instance id is not free yet. */
    private boolean read() {
        Map<String, Object> config = config();
        config.putAll(Map.of("auto.offset.reset", "earliest", "enable.auto.commit", false, "group.protocol", kind));
        if (kind.equals("classic")) {
            config.putAll(Map.of("session.timeout.ms", 6_000, "heartbeat.interval.ms", 300));
        }
        if (!instance.equals("-")) {
            config.put("group.instance.id", instance);
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC), new Listener(consumer));
            while (!leaving) {
                consumer.poll(WAIT).forEach(r -> tell("record", r.partition() + " " + r.offset()));
                commit(consumer);
            }
        } catch (UnreleasedInstanceIdException e) {
            return false;
        }
        return true;
    }

    /** Commits all that was handed out. One that fails is made again after the next poll. */
    private void commit(KafkaConsumer<byte[], byte[]> consumer) {
        try {
            StringJoiner places = new StringJoiner(" ");
            for (TopicPartition p : consumer.assignment()) {
                places.add(p.partition() + ":" + consumer.position(p, Duration.ofSeconds(5)));
            }
            consumer.commitSync();
            if (places.length() > 0) {
                tell("committed", places);
            }
        } catch (RebalanceInProgressException | RetriableException e) {
            // the next poll settles it
        }
    }

    private final class Listener implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;

        private Listener(KafkaConsumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
        }

        private void change(String what, Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                StringJoiner all = new StringJoiner(" ");
                partitions.forEach(p -> all.add(String.valueOf(p.partition())));
                tell(what, all);
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            change("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            try {
                commit(consumer);
            } catch (KafkaException e) {
                e.printStackTrace(); // what was not committed is read again
            }
            change("revoked", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            change("lost", partitions);
        }
    }

    private void share() {
        Map<String, Object> config = config();
        config.put("share.acknowledgement.mode", "explicit");
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            while (!leaving) {
                Map<Integer, StringJoiner> taken = new HashMap<>();
                for (ConsumerRecord<byte[], byte[]> r : consumer.poll(WAIT)) {
                    tell("record", r.partition() + " " + r.offset());
                    consumer.acknowledge(r, AcknowledgeType.ACCEPT);
                    taken.computeIfAbsent(r.partition(), p -> new StringJoiner(" ")).add(r.partition() + ":" + r.offset());
                }
                for (Map.Entry<TopicIdPartition, Optional<KafkaException>> result : consumer.commitSync().entrySet()) {
                    StringJoiner all = taken.get(result.getKey().partition());
                    if (all != null && result.getValue().isEmpty()) {
                        tell("accepted", all);
                    }
                }
            }
        }
    }
}
