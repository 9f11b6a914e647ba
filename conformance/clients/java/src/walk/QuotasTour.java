package walk;

import static walk.Runner.check;
import static walk.Runner.pass;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;

/** Quotas by Kafka's tool of configs, and subscriptions of client metrics by theirs. */
final class QuotasTour {
    private static final String CONFIGS = "kafka.admin.ConfigCommand";
    private static final String METRICS = "org.apache.kafka.tools.ClientMetricsCommand";

    void tell() throws Exception {
        clients();
        users();
        addresses();
        metrics();
    }

    private static String configs(List<String> entity, String... args) throws Exception {
        List<String> all = new ArrayList<>(entity);
        all.addAll(List.of(args));
        return Tool.run(CONFIGS, all.toArray(String[]::new));
    }

    private void clients() throws Exception {
        for (List<String> entity : List.of(
                List.of("--entity-type", "clients", "--entity-name", "walk-app"),
                List.of("--entity-type", "clients", "--entity-default"),
                List.of("--entity-type", "users", "--entity-name", "walk user", "--entity-type", "clients", "--entity-name", "walk-app"),
                List.of("--entity-type", "users", "--entity-default", "--entity-type", "clients", "--entity-default"))) {
            configs(entity, "--alter", "--add-config", "producer_byte_rate=1048576000,request_percentage=20000.5");
            String described = configs(entity, "--describe");
            check(described.contains("producer_byte_rate=1.048576E9") && described.contains("request_percentage=20000.5"), "%s: %s", entity, described);
            configs(entity, "--alter", "--delete-config", "producer_byte_rate,request_percentage");
            check(!configs(entity, "--describe").contains("producer_byte_rate"), "%s: still there", entity);
        }
        pass("ConfigCommand set, described and deleted quotas of clients, their default, and users with clients");
    }

    private void users() throws Exception {
        configs(List.of("--entity-type", "users", "--entity-name", "walk user"), "--alter", "--add-config", "consumer_byte_rate=1048576000");
        configs(List.of("--user-defaults"), "--alter", "--add-config", "controller_mutation_rate=1000");
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, Runner.bootstrap()))) {
            Map<ClientQuotaEntity, Map<String, Double>> found = admin.describeClientQuotas(
                    ClientQuotaFilter.containsOnly(List.of(ClientQuotaFilterComponent.ofEntityType(ClientQuotaEntity.USER)))).entities().get();
            check(found.values().stream().anyMatch(Map.of("consumer_byte_rate", 1048576000.0)::equals)
                    && found.values().stream().anyMatch(Map.of("controller_mutation_rate", 1000.0)::equals), "users: %s", found);
        }
        configs(List.of("--entity-type", "users", "--entity-name", "walk user"), "--alter", "--delete-config", "consumer_byte_rate");
        configs(List.of("--user-defaults"), "--alter", "--delete-config", "controller_mutation_rate");
        pass("ConfigCommand set and deleted quotas of a user and of all users");
    }

    private void addresses() throws Exception {
        for (List<String> entity : List.of(
                List.of("--entity-type", "ips", "--entity-name", "10.9.8.7"), List.of("--ip-defaults"))) {
            configs(entity, "--alter", "--add-config", "connection_creation_rate=10000");
            String described = configs(entity, "--describe");
            check(described.contains("connection_creation_rate=10000.0"), "%s: %s", entity, described);
            configs(entity, "--alter", "--delete-config", "connection_creation_rate");
            check(!configs(entity, "--describe").contains("connection_creation_rate"), "%s: still there", entity);
        }
        pass("ConfigCommand set, described and deleted quotas of an address and of all addresses");
    }

    private void metrics() throws Exception {
        Tool.run(METRICS, "--alter", "--name", "walk", "--metrics", "org.apache.kafka.producer.,org.apache.kafka.consumer.",
                "--interval", "30000", "--match", "client_id=walk-.*");
        check(Set.of(Tool.run(METRICS, "--list").split("\n")).contains("walk"), "walk is not listed");
        String described = Tool.run(METRICS, "--describe", "--name", "walk");
        check(described.contains("interval.ms=30000") && described.contains("match=client_id=walk-.*")
                && described.contains("metrics=org.apache.kafka.producer.,org.apache.kafka.consumer."), "described as %s", described);
        Tool.run(METRICS, "--delete", "--name", "walk");
        check(!Tool.run(METRICS, "--list").contains("walk"), "walk is still listed");
        pass("ClientMetricsCommand set, listed, described and deleted a subscription");
    }
}
