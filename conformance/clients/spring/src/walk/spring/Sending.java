package walk.spring;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.springframework.kafka.core.KafkaTemplate;
import walk.Ledger;
import walk.Records;
import walk.Runner;

/** Sends one record after the other, each once the one before is acknowledged, until it is stopped. */
final class Sending {
    private final Thread thread;
    private volatile boolean stopping;
    private volatile int acked;
    private volatile int failed;

    Sending(KafkaTemplate<byte[], byte[]> template, String topic, String phase, Ledger ledger) {
        thread = new Thread(() -> run(template, topic, phase, ledger), "sending");
        thread.start();
    }

    private void run(KafkaTemplate<byte[], byte[]> template, String topic, String phase, Ledger ledger) {
        for (int i = 0; !stopping; i++) {
            ProducerRecord<byte[], byte[]> record = Records.streamed(topic, phase, i);
            ledger.send(record);
            try {
                template.send(record).get();
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

    void stop() throws InterruptedException {
        stopping = true;
        thread.join();
    }

    int acked() {
        return acked;
    }

    int failed() {
        return failed;
    }
}
