package walk;

import static walk.Runner.check;
import static walk.Runner.pass;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** What Kafka's tool of transactions says of one that is open, and that it ends one. */
final class TransactionsTour {
    private static final String COMMAND = "org.apache.kafka.tools.TransactionsCommand";

    private final String topic;

    TransactionsTour(String topic) {
        this.topic = topic;
    }

    void tell() throws Exception {
        Tool.run(KafkaTools.TOPIC_COMMAND, "--create", "--topic", topic, "--partitions", "1", "--replication-factor", "1");
        try (KafkaProducer<String, String> producer = Transactions.producer(topic)) {
            producer.beginTransaction();
            long start = producer.send(new ProducerRecord<>(topic, "left open")).get().offset();
            listed("Ongoing");
            String described = Tool.run(COMMAND, "describe", "--transactional-id", topic);
            check(row(described).get("TransactionState").equals("Ongoing") && described.contains(topic + "-0"), "described as %s", described);
            check(startOffset().equals("" + start), "the producer's transaction begins at %s, not %d", startOffset(), start);
            Tool.run(COMMAND, "abort", "--topic", topic, "--partition", "0", "--start-offset", "" + start);
            check(startOffset().equals("None"), "after the abort the transaction begins at %s", startOffset());
            String hanging = Tool.run(COMMAND, "find-hanging", "--broker-id", "1");
            check(Tool.table(hanging, "Topic").isEmpty(), "hanging: %s", hanging);
            producer.abortTransaction();
            listed("CompleteAbort");
        }
        pass("TransactionsCommand listed and described a transaction and its producer, and aborted it in its partition");
    }

    private void listed(String state) throws Exception {
        String listed = Tool.run(COMMAND, "list");
        List<Map<String, String>> rows = Tool.table(listed, "TransactionalId");
        check(rows.stream().anyMatch(r -> r.get("TransactionalId").equals(topic) && r.get("TransactionState").equals(state)),
                "%s is not listed as %s: %s", topic, state, listed);
    }

    private Map<String, String> row(String table) {
        return Tool.table(table, "CoordinatorId").get(0);
    }

    private String startOffset() throws Exception {
        String producers = Tool.run(COMMAND, "describe-producers", "--topic", topic, "--partition", "0");
        return Tool.table(producers, "ProducerId").get(0).get("CurrentTransactionStartOffset");
    }
}
