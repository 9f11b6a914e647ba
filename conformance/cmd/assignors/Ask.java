import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;

/** Reads groups, one JSON object a line, and writes each with what Kafka's own assignor makes of it. */
public class Ask {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, PartitionAssignor> ASSIGNORS = Map.of(
        "uniform", new UniformAssignor(), "range", new RangeAssignor(), "simple", new SimpleAssignor());

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            ObjectNode asked = (ObjectNode) JSON.readTree(line);
            asked.set("kafka", answer(asked));
            System.out.println(JSON.writeValueAsString(asked));
        }
    }

    static Uuid topic(int i) {
        return new Uuid(i + 1L, 0);
    }

    static ArrayNode answer(JsonNode asked) {
        int topics = asked.get("topics").size();
        var group = new Group(asked);
        var made = ASSIGNORS.get(asked.get("assignor").asText()).assign(group, group).members();
        ArrayNode all = JSON.createArrayNode();
        for (String id : group.memberIds()) {
            ArrayNode member = all.addArray();
            var has = made.containsKey(id) ? made.get(id).partitions() : Map.<Uuid, Set<Integer>>of();
            for (int t = 0; t < topics; t++) {
                ArrayNode numbers = member.addArray();
                new TreeSet<>(has.getOrDefault(topic(t), Set.of())).forEach(numbers::add);
            }
        }
        return all;
    }

    record Member(Optional<String> instanceId, Set<Uuid> subscribedTopicIds, Map<Uuid, Set<Integer>> partitions)
        implements MemberSubscription, MemberAssignment {
        public Optional<String> rackId() {
            return Optional.empty();
        }
    }

    static class Group implements GroupSpec, SubscribedTopicDescriber {
        final Map<String, Member> members = new LinkedHashMap<>();
        final Map<Uuid, Integer> sizes = new HashMap<>();

        Group(JsonNode asked) {
            for (JsonNode size : asked.get("topics"))
                sizes.put(topic(sizes.size()), size.asInt());
            for (JsonNode m : asked.get("members")) {
                Set<Uuid> subscribed = new LinkedHashSet<>();
                m.get("topics").forEach(t -> subscribed.add(topic(t.asInt())));
                Map<Uuid, Set<Integer>> had = new HashMap<>();
                for (int t = 0; t < m.get("had").size(); t++) {
                    Set<Integer> numbers = new LinkedHashSet<>();
                    m.get("had").get(t).forEach(n -> numbers.add(n.asInt()));
                    if (!numbers.isEmpty())
                        had.put(topic(t), Collections.unmodifiableSet(numbers));
                }
                String instance = m.path("instance").asText("");
                members.put(m.get("id").asText(), new Member(instance.isEmpty() ? Optional.empty() : Optional.of(instance),
                    subscribed, Collections.unmodifiableMap(had)));
            }
        }

        public Collection<String> memberIds() {
            return members.keySet();
        }

        public SubscriptionType subscriptionType() {
            return members.values().stream().map(Member::subscribedTopicIds).distinct().count() <= 1
                ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        }

        public boolean isPartitionAssigned(Uuid topic, int partition) {
            return members.values().stream().anyMatch(m -> m.partitions.getOrDefault(topic, Set.of()).contains(partition));
        }

        public boolean isPartitionAssignable(Uuid topic, int partition) {
            return true;
        }

        public MemberSubscription memberSubscription(String id) {
            return members.get(id);
        }

        public MemberAssignment memberAssignment(String id) {
            return members.get(id);
        }

        public int numPartitions(Uuid topic) {
            return sizes.getOrDefault(topic, -1);
        }

        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
