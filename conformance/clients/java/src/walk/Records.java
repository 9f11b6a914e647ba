package walk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;

/** The records of the walk, as the README's table says. */
public final class Records {
    public static final int PER_CODEC = 24;

    private Records() {}

    public static List<ProducerRecord<byte[], byte[]>> of(String topic, String phase, String codec) {
        List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>();
        for (int i = 0; i < PER_CODEC; i++) {
            all.add(of(topic, phase, codec, i));
        }
        return all;
    }

    private static ProducerRecord<byte[], byte[]> of(String topic, String phase, String codec, int i) {
        String id = phase + "/" + codec + "/" + i;
        byte[] key = ("key-" + i).getBytes(UTF_8);
        String value = "value of " + id;
        List<Header> headers = headers(id, codec);
        switch (i % 6) {
            case 0: return record(topic, key, value, headers);
            case 1: return record(topic, null, value, headers);
            case 2: return record(topic, key, null, headers);
            case 3: return record(topic, null, null, headers);
            case 4: return record(topic, new byte[0], "", headers);
            default: return record(topic, key, value + "x".repeat(3000), headers);
        }
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, byte[] key, String value, List<Header> headers) {
        return new ProducerRecord<>(topic, (Integer) null, key, value == null ? null : value.getBytes(UTF_8), headers);
    }

    private static List<Header> headers(String id, String codec) {
        return List.of(
                header("id", id.getBytes(UTF_8)), header("codec", codec.getBytes(UTF_8)), header("empty", new byte[0]),
                header("null", null), header("twice", new byte[] {'1'}), header("twice", new byte[] {'2'}),
                header("bytes", new byte[] {0, (byte) 0xff}));
    }

    /** One record of a stream that runs across a restart. */
    public static ProducerRecord<byte[], byte[]> streamed(String topic, String phase, int i) {
        String id = phase + "/stream/" + i;
        return record(topic, null, id, List.of(header("id", id.getBytes(UTF_8))));
    }

    private static Header header(String key, byte[] value) {
        return new RecordHeader(key, value);
    }

    public static String id(Headers headers) {
        Header id = headers.lastHeader("id");
        return id == null ? "" : new String(id.value(), UTF_8);
    }

    /** Says how what arrived differs from what was sent, or null. */
    public static String difference(ConsumerRecord<byte[], byte[]> got, ProducerRecord<byte[], byte[]> sent) {
        if (!java.util.Arrays.equals(got.key(), sent.key())) {
            return "another key than was sent";
        }
        if (!java.util.Arrays.equals(got.value(), sent.value())) {
            return "another value than was sent";
        }
        return got.headers().equals(sent.headers()) ? null : "headers " + got.headers() + ", sent " + sent.headers();
    }
}
