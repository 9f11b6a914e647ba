package walk.spring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import walk.Records;

/** What a listener that may fail saw: the topics at which each record was tried, and the dead letters. Fed by listener threads. */
class Attempts {
    private final Map<String, List<String>> tried = new HashMap<>();
    private final Map<String, ConsumerRecord<byte[], byte[]>> dead = new HashMap<>();

    /** Takes a record; fails always for one named poison, and once for one named flaky. */
    void take(ConsumerRecord<byte[], byte[]> record) {
        String id = Records.id(record.headers());
        int attempt = note(id, record.topic());
        if (id.startsWith("poison") || id.startsWith("flaky") && attempt == 1) {
            throw new IllegalStateException(id + " cannot be processed, attempt " + attempt);
        }
    }

    private synchronized int note(String id, String topic) {
        List<String> topics = tried.computeIfAbsent(id, k -> new ArrayList<>());
        topics.add(topic);
        return topics.size();
    }

    synchronized void bury(ConsumerRecord<byte[], byte[]> record) {
        dead.put(Records.id(record.headers()), record);
    }

    synchronized Map<String, List<String>> tried() {
        return new HashMap<>(tried);
    }

    synchronized Map<String, ConsumerRecord<byte[], byte[]>> dead() {
        return new HashMap<>(dead);
    }
}
