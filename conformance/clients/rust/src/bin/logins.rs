//! Logs krafka in over TLS, for the walk of security. See ../../../security/README.md.

use std::env::var;
use std::error::Error;
use std::io::stdin;
use std::time::Duration;

use krafka::auth::{AuthConfig, TlsConfig};
use krafka::consumer::AutoOffsetReset;
use krafka::{Kafka, Record};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for (n, line) in stdin().lines().enumerate() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let tried = timeout(PATIENCE, attempt(words[0], words[1], words[2], words[3], format!("krafka-{n}")));
        match tried.await.map_err(Into::into).and_then(|r| r) {
            Ok(()) => println!("ok"),
            Err(e) => println!("refused: {}", told(e.as_ref())),
        }
    }
    Ok(())
}

/// An error and those that it wraps, in one line.
fn told(e: &dyn Error) -> String {
    let mut all = e.to_string();
    let mut under = e.source();
    while let Some(e) = under {
        all = format!("{all}: {e}");
        under = e.source();
    }
    all.replace('\n', " ")
}

async fn attempt(mechanism: &str, user: &str, password: &str, topic: &str, value: String) -> Result<(), Box<dyn Error>> {
    let login = match mechanism {
        "SCRAM-SHA-256" => AuthConfig::sasl_scram_sha256(user, password),
        "SCRAM-SHA-512" => AuthConfig::sasl_scram_sha512(user, password),
        _ => AuthConfig::sasl_plain(user, password),
    };
    let tls = TlsConfig::new().with_ca_cert(var("CA")?);
    let kafka = Kafka::builder(var("BOOTSTRAP")?).security(login.with_tls(tls)).connect().await?;
    let producer = kafka.producer().build().await?;
    let _ = producer.send(Record::new(topic, value.clone())).await?;
    producer.close().await?;
    let consumer = kafka.consumer(format!("{topic}-krafka")).auto_offset_reset(AutoOffsetReset::Earliest).build().await?;
    consumer.subscribe([topic]).await?;
    loop {
        for record in consumer.poll(Duration::from_millis(200)).await?.iter() {
            if record.value.as_deref() == Some(value.as_bytes()) {
                return Ok(consumer.close().await?);
            }
        }
    }
}
