//! A member of the group: a consumer that a task of its own polls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use krafka::Kafka;
use krafka::consumer::{AutoOffsetReset, Consumer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::Outcome;
use crate::ledger::Ledger;

type Answer = oneshot::Sender<krafka::Result<()>>;

pub struct Member {
    assigned: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
    commits: mpsc::UnboundedSender<Answer>,
    task: JoinHandle<krafka::Result<()>>,
}

impl Member {
    pub async fn join(kafka: &Kafka, group: &str, topic: &str, ledger: Arc<Mutex<Ledger>>) -> Outcome<Member> {
        let consumer = kafka
            .consumer(group)
            .auto_offset_reset(AutoOffsetReset::Earliest)
            .enable_auto_commit(false)
            .session_timeout(Duration::from_secs(10))
            .heartbeat_interval(Duration::from_millis(300))
            .build()
            .await?;
        consumer.subscribe([topic]).await?;
        let (commits, asked) = mpsc::unbounded_channel();
        let (assigned, stopping) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let polling = Polling { consumer, ledger, asked, assigned: assigned.clone(), stopping: stopping.clone() };
        Ok(Member { assigned, stopping, commits, task: tokio::spawn(polling.run()) })
    }

    pub fn assigned(&self) -> usize {
        self.assigned.load(Ordering::SeqCst)
    }

    /// Commits what the ledger was given, and returns when the broker has acknowledged it.
    pub async fn commit(&self) -> Outcome<()> {
        let (answer, committed) = oneshot::channel();
        self.commits.send(answer)?;
        Ok(committed.await??)
    }

    pub async fn close(self) -> Outcome<()> {
        self.stopping.store(true, Ordering::SeqCst);
        Ok(self.task.await??)
    }
}

struct Polling {
    consumer: Consumer,
    ledger: Arc<Mutex<Ledger>>,
    asked: mpsc::UnboundedReceiver<Answer>,
    assigned: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
}

impl Polling {
    async fn run(mut self) -> krafka::Result<()> {
        while !self.stopping.load(Ordering::SeqCst) {
            match self.consumer.poll(Duration::from_millis(50)).await {
                Ok(records) => records.iter().for_each(|r| self.ledger.lock().unwrap().arrive(r)),
                // A poll fails while the broker is away; the next one finds it again.
                Err(e) => self.wait_after(e).await,
            }
            let parts = self.consumer.assignment().await.values().map(Vec::len).sum();
            self.assigned.store(parts, Ordering::SeqCst);
            // Here, between two polls, what was handed out is what the ledger has.
            while let Ok(answer) = self.asked.try_recv() {
                let _ = answer.send(self.consumer.commit().await);
            }
        }
        self.consumer.close().await
    }

    async fn wait_after(&self, e: krafka::KrafkaError) {
        eprintln!("poll: {e}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
