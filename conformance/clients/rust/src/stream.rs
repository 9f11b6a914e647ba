//! Sends one record after the other, each once the one before is acknowledged, until it is stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use krafka::producer::Producer;
use tokio::task::JoinHandle;

use crate::Outcome;
use crate::ledger::Ledger;
use crate::record::streamed;
use crate::runner::until;

#[derive(Default)]
struct Counts {
    stopping: AtomicBool,
    acked: AtomicUsize,
    failed: AtomicUsize,
}

pub struct Stream {
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

impl Stream {
    pub fn start(producer: Arc<Producer>, topic: &str, phase: &str, ledger: Arc<Mutex<Ledger>>) -> Stream {
        let counts = Arc::new(Counts::default());
        let (mine, topic, phase) = (counts.clone(), topic.to_string(), phase.to_string());
        Stream { counts, task: tokio::spawn(run(producer, topic, phase, ledger, mine)) }
    }

    /// Waits for n more acknowledged records.
    pub async fn more(&self, n: usize) -> Outcome<()> {
        let acked = || self.counts.acked.load(Ordering::SeqCst);
        let goal = acked() + n;
        until("records to be acknowledged", async || Ok(acked() >= goal), || format!("{} of {goal}", acked())).await
    }

    /// Stops, and returns how many were acknowledged and how many failed.
    pub async fn stop(self) -> Outcome<(usize, usize)> {
        self.counts.stopping.store(true, Ordering::SeqCst);
        self.task.await?;
        Ok((self.counts.acked.load(Ordering::SeqCst), self.counts.failed.load(Ordering::SeqCst)))
    }
}

async fn run(producer: Arc<Producer>, topic: String, phase: String, ledger: Arc<Mutex<Ledger>>, counts: Arc<Counts>) {
    for i in 0.. {
        if counts.stopping.load(Ordering::SeqCst) {
            return;
        }
        let record = streamed(&topic, &phase, i);
        ledger.lock().unwrap().send(&record);
        match producer.send(record.clone()).await {
            Ok(_) => _ = counts.acked.fetch_add(1, Ordering::SeqCst),
            Err(e) => {
                eprintln!("stream: {e}");
                ledger.lock().unwrap().forget(&record);
                counts.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
        // A pace, so that a slow restart does not make a large log.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
