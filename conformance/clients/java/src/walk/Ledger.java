package walk;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** What was sent, what arrived, what is committed. Members write to it from their own threads. */
public final class Ledger {
    private final Map<String, ProducerRecord<byte[], byte[]>> sent = new HashMap<>();
    private final Map<String, Set<String>> arrived = new HashMap<>();
    private final Map<Integer, Long> next = new HashMap<>();
    private final Map<Integer, Long> committed = new HashMap<>();
    private final List<String> faults = new ArrayList<>();

    public synchronized void send(ProducerRecord<byte[], byte[]> record) {
        sent.put(Records.id(record.headers()), record);
    }

    /** Drops a record whose send failed: it may or may not be in the log. */
    public synchronized void forget(ProducerRecord<byte[], byte[]> record) {
        sent.remove(Records.id(record.headers()));
    }

    public synchronized void arrive(ConsumerRecord<byte[], byte[]> record) {
        String id = Records.id(record.headers());
        String place = record.partition() + "@" + record.offset();
        long due = next.getOrDefault(record.partition(), 0L);
        if (record.offset() < committed.getOrDefault(record.partition(), 0L)) {
            faults.add(id + " at " + place + " came again though it is committed");
        }
        if (record.offset() > due) {
            faults.add(id + " at " + place + ": " + due + " was due");
        }
        next.put(record.partition(), Math.max(due, record.offset() + 1));
        arrived.computeIfAbsent(id, k -> new HashSet<>()).add(place);
        ProducerRecord<byte[], byte[]> original = sent.get(id);
        String difference = original == null ? null : Records.difference(record, original);
        if (difference != null) {
            faults.add(id + ": " + difference);
        }
    }

    /** Notes the group's committed offsets; tells whether they are the ends of what arrived. */
    public synchronized boolean commit(Map<Integer, Long> offsets) {
        committed.putAll(offsets);
        return offsets.equals(next);
    }

    public synchronized int missing() {
        Set<String> ids = new HashSet<>(sent.keySet());
        ids.removeAll(arrived.keySet());
        return ids.size();
    }

    /** The end of each partition as the members saw it. */
    public synchronized Map<Integer, Long> ends() {
        return new HashMap<>(next);
    }

    public synchronized int count() {
        return sent.size();
    }

    /** Fails on the first fault; the producer is idempotent, so a record at two places is one. */
    public synchronized void check() {
        arrived.forEach((id, places) -> {
            if (places.size() > 1) {
                faults.add(id + " is in the log at " + places);
            }
        });
        Runner.check(faults.isEmpty(), "%d faults, first: %s", faults.size(), faults.isEmpty() ? "" : faults.get(0));
    }
}
