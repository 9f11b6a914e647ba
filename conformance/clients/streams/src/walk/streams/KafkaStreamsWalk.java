package walk.streams;

import static walk.Runner.check;
import static walk.Runner.pass;
import static walk.Runner.until;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import walk.Runner;
import walk.Tool;

/** Walks Kafka Streams with group.protocol=streams (KIP-1071) or classic, and Kafka's tools for its groups. */
public final class KafkaStreamsWalk {
    private static final String COMMAND = "org.apache.kafka.tools.streams.StreamsGroupCommand";
    private static final String CLASSIC_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand";
    private static final String RESETTER = "org.apache.kafka.tools.StreamsResetter";
    private static final int LINES = 100;
    private final boolean classic;
    private final Admin admin = Admin.create(Map.of("bootstrap.servers", Runner.bootstrap(), "reconnect.backoff.max.ms", 200));

    private KafkaStreamsWalk(boolean classic) {
        this.classic = classic;
    }

    public static void main(String[] args) {
        Runner.main(() -> new KafkaStreamsWalk(args[0].endsWith("-classic")).walk());
    }

    private void walk() throws Exception {
        try (App app = new App("walk-streams-atleast", "at_least_once", classic, admin)) {
            atLeastOnce(app);
        }
        try (App app = new App("walk-streams-exactly", "exactly_once_v2", classic, admin)) {
            exactlyOnce(app);
            if (classic) {
                classicTools(app);
            } else {
                tool(app);
            }
        }
    }

    private void atLeastOnce(App app) throws Exception {
        app.start("a");
        app.send(LINES);
        app.awaitTasks(List.of(App.TASKS), 0);
        app.awaitCounts();
        app.checkExact();
        pass("at least once: one instance has all %d tasks and counted %d lines", App.TASKS, LINES);
        internalTopics(app);
        app.start("b");
        app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), 0);
        app.send(LINES);
        app.awaitCounts();
        app.checkExact();
        pass("at least once: a second instance came, they have %d tasks each, and the counts are right", App.TASKS / 2);
        Runner.signal("restart");
        app.send(LINES);
        app.awaitCounts();
        app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), 0);
        pass("at least once: both went on after a restart of the broker");
        app.stop("b");
        app.awaitTasks(List.of(App.TASKS), 0);
        app.send(LINES);
        app.awaitCounts();
        pass("at least once: the second instance left, the first has all tasks and goes on");
        app.stopAll();
    }

    private void internalTopics(App app) throws Exception {
        String repartition = app.name + "-words-repartition";
        String changelog = app.name + "-counts-changelog";
        var made = admin.describeTopics(List.of(repartition, changelog)).allTopicNames().get();
        check(made.values().stream().allMatch(t -> t.partitions().size() == App.PARTITIONS), "internal topics: %s", made);
        check(config(changelog).get("cleanup.policy").value().equals("compact"), "changelog: %s", config(changelog));
        check(config(repartition).get("retention.ms").value().equals("-1"), "repartition topic: %s", config(repartition));
        pass("internal topics came into being with %d partitions and their configs", App.PARTITIONS);
    }

    private Config config(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(List.of(resource)).all().get().get(resource);
    }

    private void exactlyOnce(App app) throws Exception {
        app.start("a");
        app.start("b");
        app.send(LINES);
        if (!classic) {
            app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), 0);
            standbys(app, "1");
        }
        app.awaitCounts();
        app.checkExact();
        pass("exactly once: two instances share the tasks");
        app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), App.PARTITIONS);
        pass("one standby replica: every stateful task has a copy in the other instance");
        for (String how : List.of("restart", "kill")) {
            app.send(LINES);
            Runner.signal(how);
            app.send(LINES);
            app.awaitCounts();
            app.checkExact();
            app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), App.PARTITIONS);
            pass("exactly once: both went on across a %s of the broker, no word was counted twice", how);
        }
        app.send(LINES);
        app.kill("b");
        app.send(LINES);
        app.awaitCounts();
        app.checkExact();
        app.awaitTasks(List.of(App.TASKS), 0);
        pass("exactly once: an instance was killed, the other has all tasks after the session, no word was counted twice");
        app.start("c");
        app.awaitTasks(List.of(App.TASKS / 2, App.TASKS / 2), App.PARTITIONS);
        app.send(LINES);
        app.awaitCounts();
        app.checkExact();
        pass("exactly once: a new instance took over half");
    }

    private void standbys(App app, String n) throws Exception {
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, app.name);
        Collection<AlterConfigOp> set = List.of(new AlterConfigOp(new ConfigEntry("streams.num.standby.replicas", n), AlterConfigOp.OpType.SET));
        admin.incrementalAlterConfigs(Map.of(group, set)).all().get();
    }

    private void tool(App app) throws Exception {
        check(Tool.run(COMMAND, "--list").lines().toList().contains(app.name), "--list does not show the group");
        String state = Tool.run(COMMAND, "--describe", "--state", "--group", app.name);
        check(state.contains("Stable"), "--state: %s", state);
        String members = Tool.run(COMMAND, "--describe", "--members", "--verbose", "--group", app.name);
        check(members.contains("0:") && members.contains("1:"), "--members: %s", members);
        until("lag 0", () -> Tool.table(Tool.run(COMMAND, "--describe", "--offsets", "--group", app.name), "GROUP").stream()
            .filter(row -> row.get("TOPIC").endsWith("-in")).allMatch(row -> row.values().contains("0")), () -> "");
        pass("StreamsGroupCommand listed and described the group: state, members, offsets");
        app.stopAll();
        until("the group to be Empty", () -> app.describe().state().equals("Empty"), () -> "");
        Tool.run(COMMAND, "--reset-offsets", "--group", app.name, "--input-topic", app.name + "-in", "--to-earliest", "--execute");
        fromTheStart(app);
        pass("StreamsGroupCommand reset the offsets of the Empty group");
        Tool.run(COMMAND, "--delete", "--group", app.name, "--delete-all-internal-topics");
        check(!Tool.run(COMMAND, "--list").lines().toList().contains(app.name), "the group is still listed");
        internalTopicsGone(app);
        pass("StreamsGroupCommand deleted the group with its internal topics");
    }

    private void fromTheStart(App app) throws Exception {
        var committed = admin.listConsumerGroupOffsets(app.name).partitionsToOffsetAndMetadata().get();
        long again = committed.entrySet().stream().filter(e -> e.getKey().topic().endsWith("-in") && e.getValue().offset() == 0).count();
        check(again == App.PARTITIONS, "after the reset: %s", committed);
    }

    private void internalTopicsGone(App app) throws Exception {
        until("internal topics to be gone", () -> {
            Set<String> topics = admin.listTopics().names().get();
            return topics.stream().noneMatch(t -> t.startsWith(app.name) && (t.endsWith("-repartition") || t.endsWith("-changelog")));
        }, () -> "");
    }

    private void classicTools(App app) throws Exception {
        String state = Tool.run(CLASSIC_COMMAND, "--describe", "--state", "--group", app.name);
        check(state.contains("Stable") && state.contains("stream"), "--state: %s", state);
        until("lag 0", () -> Tool.table(Tool.run(CLASSIC_COMMAND, "--describe", "--group", app.name), "GROUP").stream()
            .filter(row -> row.get("TOPIC").endsWith("-in")).allMatch(row -> row.get("LAG").equals("0")), () -> "");
        pass("ConsumerGroupCommand described the group: state, assignor, offsets");
        app.stopAll();
        until("the group to be Empty", () -> app.describe().state().equals("Empty"), () -> "");
        Tool.run(RESETTER, "--application-id", app.name, "--input-topics", app.name + "-in");
        fromTheStart(app);
        internalTopicsGone(app);
        pass("StreamsResetter reset the offsets of the Empty group and deleted its internal topics");
        Tool.run(CLASSIC_COMMAND, "--delete", "--group", app.name);
        check(!Tool.run(CLASSIC_COMMAND, "--list").lines().toList().contains(app.name), "the group is still listed");
        pass("ConsumerGroupCommand deleted the group");
    }
}
