package walk;

import java.util.Map;
import java.util.regex.Pattern;

/** What differs from one broker to the next in every tool's output: addresses, ids, times, directories. */
final class ToolMasks {
    private ToolMasks() {}

    static void common(Map<Pattern, String> masks) {
        String port = Runner.bootstrap().replaceAll(".*:", "");
        masks.put(Pattern.compile("(127\\.0\\.0\\.1|localhost)([:,/= ]+)" + port + "\\b"), "HOST$2PORT");
        masks.put(Pattern.compile("\\(" + port + "\\)"), "(PORT)");
        masks.put(Pattern.compile("((?:Cluster ?I[Dd]|TopicId): +)[\\w-]{22}"), "$1UUID");
        masks.put(Pattern.compile("\\b1[6-9]\\d{11}\\b"), "TIME");
        masks.put(Pattern.compile("/[\\w/.+-]*/(data|log|logs)(/[\\w.+-]+)?(?=[\"',\\s\\]]|$)", Pattern.MULTILINE), "DIR");
    }
}
