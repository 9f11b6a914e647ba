package walk;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** How a program talks to the runner, and how it waits. */
public final class Runner {
    public static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));

    private Runner() {}

    /** What a program's main does. */
    public interface Story {
        void tell() throws Exception;
    }

    /** Runs a story and ends the process: 0, or 1 with a FAIL line. */
    public static void main(Story story) {
        int code = 0;
        try {
            story.tell();
        } catch (Throwable e) {
            e.printStackTrace();
            System.out.println("FAIL " + e);
            code = 1;
        }
        System.out.flush();
        Runtime.getRuntime().halt(code);
    }

    public static String bootstrap() {
        return System.getenv("BOOTSTRAP");
    }

    public static void pass(String format, Object... args) {
        System.out.println("PASS " + String.format(format, args));
    }

    /** Asks the runner to restart or kill the broker and waits until it serves again. */
    public static void signal(String what) throws IOException {
        System.out.println("@" + what);
        System.out.flush();
        if (ANSWERS.readLine() == null) {
            throw new IOException("the runner did not answer @" + what);
        }
    }

    public static void check(boolean holds, String format, Object... args) {
        if (!holds) {
            throw new AssertionError(String.format(format, args));
        }
    }

    /** Waits until a condition holds; a throwing condition does not hold yet. */
    public static void until(String what, Callable<Boolean> holds, Supplier<Object> seen) throws InterruptedException {
        Instant deadline = Instant.now().plus(PATIENCE);
        Exception last = null;
        while (true) {
            try {
                if (holds.call()) {
                    return;
                }
                last = null;
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
            if (Instant.now().isAfter(deadline)) {
                throw new AssertionError(what + ": not within " + PATIENCE + ": " + seen.get(), last);
            }
            Thread.sleep(20);
        }
    }
}
