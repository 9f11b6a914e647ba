package walk;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends one record after the other, each once the one before is acknowledged, until it is stopped. */
final class Stream {
    private final Thread thread;
    private volatile boolean stopping;
    private volatile int acked;
    private volatile int failed;

    Stream(Producer<byte[], byte[]> producer, String topic, String phase, Ledger ledger) {
        thread = new Thread(() -> run(producer, topic, phase, ledger), "stream");
        thread.start();
    }

    private void run(Producer<byte[], byte[]> producer, String topic, String phase, Ledger ledger) {
        for (int i = 0; !stopping; i++) {
            ProducerRecord<byte[], byte[]> record = Records.streamed(topic, phase, i);
            ledger.send(record);
            try {
                producer.send(record).get();
                acked++;
                Thread.sleep(10); // a pace, so that a slow restart does not make a large log
            } catch (ExecutionException e) {
                ledger.forget(record);
                failed++;
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Waits for n more acknowledged records. */
    void more(int n) throws InterruptedException {
        int goal = acked + n;
        Runner.until("records to be acknowledged", () -> acked >= goal, () -> acked + " of " + goal);
    }

    /** Stops, and returns how many were acknowledged. */
    int stop() throws InterruptedException {
        stopping = true;
        thread.join();
        return acked;
    }

    int failed() {
        return failed;
    }
}
