import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.*;
import org.apache.kafka.coordinator.group.streams.assignor.*;

/** Reads streams groups, one JSON object a line, and writes each with what Kafka's own assignor makes of it. */
public class Ask {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            ObjectNode asked = (ObjectNode) JSON.readTree(line);
            asked.set("kafka", answer(asked));
            System.out.println(JSON.writeValueAsString(asked));
        }
    }

    static ArrayNode answer(JsonNode asked) {
        Map<String, AssignmentMemberSpec> members = new LinkedHashMap<>();
        for (JsonNode m : asked.get("members"))
            members.put(m.get("id").asText(), new AssignmentMemberSpec(Optional.empty(), Optional.empty(),
                tasks(m.get("had").get("active")), tasks(m.get("had").get("standby")), Map.of(),
                m.get("process").asText(), Map.of(), Map.of(), Map.of()));
        var group = new GroupSpecImpl(members, Map.of("num.standby.replicas", asked.get("standbys").asText()));
        var made = new StickyTaskAssignor().assign(group, new Topology(asked.get("subtopologies"))).members();
        ArrayNode all = JSON.createArrayNode();
        for (String id : members.keySet()) {
            ObjectNode has = all.addObject();
            put(has.putObject("active"), made.get(id).activeTasks());
            put(has.putObject("standby"), made.get(id).standbyTasks());
        }
        return all;
    }

    static Map<String, Set<Integer>> tasks(JsonNode of) {
        Map<String, Set<Integer>> all = new TreeMap<>();
        of.fields().forEachRemaining(f -> {
            Set<Integer> numbers = new TreeSet<>();
            f.getValue().forEach(n -> numbers.add(n.asInt()));
            all.put(f.getKey(), numbers);
        });
        return all;
    }

    static void put(ObjectNode to, Map<String, Set<Integer>> tasks) {
        new TreeMap<>(tasks).forEach((id, numbers) -> {
            ArrayNode list = to.putArray(id);
            new TreeSet<>(numbers).forEach(list::add);
        });
    }

    record Topology(JsonNode subtopologyList) implements TopologyDescriber {
        JsonNode find(String id) {
            for (JsonNode s : subtopologyList)
                if (s.get("id").asText().equals(id))
                    return s;
            throw new NoSuchElementException(id);
        }

        public List<String> subtopologies() {
            List<String> ids = new ArrayList<>();
            subtopologyList.forEach(s -> ids.add(s.get("id").asText()));
            return ids;
        }

        public int maxNumInputPartitions(String id) {
            return find(id).get("tasks").asInt();
        }

        public boolean isStateful(String id) {
            return find(id).get("stateful").asBoolean();
        }
    }
}
