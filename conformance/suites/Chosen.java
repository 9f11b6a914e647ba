// Chosen leaves out tests of a JUnit run by name. System property suites.later: a file whose lines begin with a name, CLASS.METHOD,
// CLASS.PREFIX* or CLASS.*; suites.chosen: "others" runs the tests that no line names, "later" those that one does.
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

public class Chosen implements PostDiscoveryFilter {
    private final List<String> names = names(Path.of(System.getProperty("suites.later")));
    private final boolean later = System.getProperty("suites.chosen").equals("later");

    private static List<String> names(Path file) {
        try {
            return Files.readAllLines(file).stream().map(l -> l.replaceFirst("[ #].*", "")).filter(l -> !l.isEmpty()).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public FilterResult apply(TestDescriptor test) {
        if (!(test.getSource().orElse(null) instanceof MethodSource m)) return FilterResult.included("not a method");
        String name = m.getClassName().replaceFirst(".*[.]", "") + "." + m.getMethodName();
        return FilterResult.includedIf(names.stream().anyMatch(n -> named(n, name)) == later);
    }

    private static boolean named(String line, String name) {
        return line.endsWith("*") ? name.startsWith(line.substring(0, line.length() - 1)) : name.equals(line);
    }
}
