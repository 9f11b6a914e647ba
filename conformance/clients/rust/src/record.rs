//! The records of the walk, as the README's table says.

use krafka::{Compression, Record};

pub const PER_CODEC: usize = 24;

pub const CODECS: [(&str, Compression); 5] = [
    ("none", Compression::None),
    ("gzip", Compression::Gzip),
    ("snappy", Compression::Snappy),
    ("lz4", Compression::Lz4),
    ("zstd", Compression::Zstd),
];

/// The id that a record's header carries, or nothing.
pub fn id(headers: &krafka::Headers) -> String {
    let value = headers.iter().find(|(name, _)| &**name == "id").and_then(|(_, value)| value.as_ref());
    value.map(|v| String::from_utf8_lossy(v).into_owned()).unwrap_or_default()
}

pub fn records(topic: &str, phase: &str, codec: &str) -> Vec<Record> {
    (0..PER_CODEC).map(|i| record(topic, phase, codec, i)).collect()
}

fn record(topic: &str, phase: &str, codec: &str, i: usize) -> Record {
    let id = format!("{phase}/{codec}/{i}");
    let (key, value) = (format!("key-{i}"), format!("value of {id}"));
    let record = match i % 6 {
        0 => Record::new(topic, value).key(key),
        1 => Record::new(topic, value),
        2 => Record::new(topic, value).key(key).without_value(),
        3 => Record::new(topic, value).without_value(),
        4 => Record::new(topic, "").key(""),
        _ => Record::new(topic, value + &"x".repeat(3000)).key(key),
    };
    record
        .header("id", id)
        .header("codec", codec.to_string())
        .header("empty", "")
        .null_header("null")
        .header("twice", "1")
        .header("twice", "2")
        .header("bytes", &[0u8, 0xff][..])
}

/// One record of a stream that runs across a restart.
pub fn streamed(topic: &str, phase: &str, i: usize) -> Record {
    let id = format!("{phase}/stream/{i}");
    Record::new(topic, id.clone()).header("id", id)
}
