//! The story of the README.

use std::sync::{Arc, Mutex};

use krafka::Kafka;
use krafka::producer::Producer;

use crate::Outcome;
use crate::admin::Admin;
use crate::ledger::Ledger;
use crate::member::Member;
use crate::record::{CODECS, PER_CODEC, records};
use crate::runner::{pass, signal, until};
use crate::stream::Stream;

const PARTITIONS: usize = 4;

pub struct Walk {
    kafka: Kafka,
    admin: Admin,
    topic: String,
    group: String,
    ledger: Arc<Mutex<Ledger>>,
    producers: Vec<Arc<Producer>>,
}

async fn connect() -> Outcome<Kafka> {
    Ok(Kafka::builder(std::env::var("BOOTSTRAP")?).client_id("walk").connect().await?)
}

fn nothing() -> String {
    String::new()
}

impl Walk {
    pub async fn open() -> Outcome<Walk> {
        let name = std::env::var("CLIENT")?;
        let kafka = connect().await?;
        let admin = Admin(kafka.admin());
        let (topic, group) = (format!("walk-{name}"), format!("group-{name}"));
        Ok(Walk { kafka, admin, topic, group, ledger: Default::default(), producers: Vec::new() })
    }

    pub async fn tell(mut self) -> Outcome<()> {
        self.create().await?;
        self.produce().await?;
        let (a, b) = self.join().await?;
        self.read(&a, &b).await?;
        self.interrupt("restart", &a, &b).await?;
        self.interrupt("kill", &a, &b).await?;
        self.leave(a, b).await?;
        let a = self.resume().await?;
        self.describe(a).await?;
        self.delete().await
    }

    async fn create(&self) -> Outcome<()> {
        self.admin.create_topic(&self.topic, PARTITIONS as i32).await?;
        let there = async || Ok(self.admin.partitions(&self.topic).await? == PARTITIONS);
        until("topic to have its partitions", there, nothing).await?;
        pass(format!("created topic {} with {PARTITIONS} partitions", self.topic));
        Ok(())
    }

    /// Sends the records of one codec of CODECS, all at once, and waits for their acknowledgements.
    async fn send(&self, phase: &str, codec: usize) -> Outcome<()> {
        let mut handles = Vec::new();
        for record in records(&self.topic, phase, CODECS[codec].0) {
            self.ledger.lock().unwrap().send(&record);
            handles.push(self.producers[codec].enqueue(record).await?);
        }
        for handle in handles {
            let _ = handle.await?;
        }
        Ok(())
    }

    async fn produce(&mut self) -> Outcome<()> {
        for (i, (_, compression)) in CODECS.into_iter().enumerate() {
            let producer = self.kafka.producer().idempotent(true).compression(compression).build().await?;
            self.producers.push(Arc::new(producer));
            self.send("first", i).await?;
        }
        let names = CODECS.map(|(name, _)| name).join(", ");
        pass(format!("produced {PER_CODEC} records with each of {names}: keys, headers, nulls"));
        Ok(())
    }

    /// A member has connections of its own: a JoinGroup that waits for the others must not hold up theirs.
    async fn member(&self) -> Outcome<Member> {
        Member::join(&connect().await?, &self.group, &self.topic, self.ledger.clone()).await
    }

    async fn has(&self, members: &[&Member], want: usize) -> Outcome<()> {
        let have = || members.iter().map(|m| m.assigned()).collect::<Vec<_>>();
        let share = async || Ok(have().iter().all(|n| *n == want));
        until(&format!("members to have {want} partitions"), share, || format!("{:?}", have())).await
    }

    async fn join(&self) -> Outcome<(Member, Member)> {
        let a = self.member().await?;
        self.has(&[&a], PARTITIONS).await?;
        pass(format!("one member has all {PARTITIONS} partitions"));
        let b = self.member().await?;
        self.has(&[&a, &b], PARTITIONS / 2).await?;
        pass(format!("a second member joined: they have {} each", PARTITIONS / 2));
        Ok((a, b))
    }

    async fn arrivals(&self) -> Outcome<()> {
        let missing = || self.ledger.lock().unwrap().missing();
        let arrived = until("records to arrive", async || Ok(missing() == 0), || format!("{} missing", missing())).await;
        self.ledger.lock().unwrap().check()?;
        arrived
    }

    /// Has the members commit until the group's offsets are the ends of what arrived. Once may be too little: a member that was
    /// just given a partition is not there yet, and commits where it is; one in a rebalance is refused.
    async fn commit(&self, members: &[&Member]) -> Outcome<()> {
        let done = async || {
            for m in members {
                m.commit().await?;
            }
            let committed = self.admin.committed(&self.group).await?;
            Ok(self.ledger.lock().unwrap().commit(committed))
        };
        until("the group's offsets to be what arrived", done, || format!("{:?}", self.ledger.lock().unwrap().ends())).await
    }

    async fn read(&self, a: &Member, b: &Member) -> Outcome<()> {
        self.arrivals().await?;
        pass(format!("all {} records arrived as they were sent", self.ledger.lock().unwrap().count()));
        self.commit(&[a, b]).await?;
        pass("both members committed".into());
        Ok(())
    }

    async fn interrupt(&self, how: &str, a: &Member, b: &Member) -> Outcome<()> {
        let stream = Stream::start(self.producers[0].clone(), &self.topic, how, self.ledger.clone());
        stream.more(5).await?;
        signal(how).await?;
        stream.more(5).await?;
        let (acked, failed) = stream.stop().await?;
        for codec in 0..CODECS.len() {
            self.send(how, codec).await?;
        }
        self.arrivals().await?;
        let after = PER_CODEC * CODECS.len();
        pass(format!(
            "{how}: {acked} records acknowledged across it and {after} after it arrived, \
             nothing committed came again ({failed} sends failed)"
        ));
        self.has(&[a, b], PARTITIONS / 2).await?;
        self.commit(&[a, b]).await?;
        pass(format!("{how}: both members committed again"));
        Ok(())
    }

    async fn leave(&self, a: Member, b: Member) -> Outcome<()> {
        b.close().await?;
        self.has(&[&a], PARTITIONS).await?;
        pass(format!("the second member left: the first has all {PARTITIONS} partitions"));
        self.commit(&[&a]).await?;
        a.close().await
    }

    async fn resume(&self) -> Outcome<Member> {
        self.send("last", 0).await?;
        let a = self.member().await?;
        self.arrivals().await?;
        pass(format!("a new member got the {PER_CODEC} new records and nothing else"));
        self.commit(&[&a]).await?;
        Ok(a)
    }

    async fn describe(&self, a: Member) -> Outcome<()> {
        let listed = self.admin.topics().await?.contains(&self.topic);
        check(listed, || format!("topic {} is not listed", self.topic))?;
        let ends = self.admin.ends(&self.topic, PARTITIONS as i32).await?;
        let seen = self.ledger.lock().unwrap().ends();
        check(ends == seen, || format!("ends {ends:?}, seen {seen:?}"))?;
        pass(format!("topic listed; its ends are the {} records seen", seen.values().sum::<i64>()));
        let groups = self.admin.groups().await?;
        check(groups.contains(&self.group), || format!("group {} is not among {groups:?}", self.group))?;
        self.state("Stable", 1).await?;
        let committed = self.admin.committed(&self.group).await?;
        check(committed == ends, || format!("committed {committed:?}, ends {ends:?}"))?;
        a.close().await?;
        self.state("Empty", 0).await?;
        pass("group listed and described, Stable then Empty; its offsets are the ends".into());
        Ok(())
    }

    async fn state(&self, state: &str, members: usize) -> Outcome<()> {
        let want = (state.to_string(), members);
        let holds = async || Ok(self.admin.group(&self.group).await? == want);
        until(&format!("group to be {state}"), holds, nothing).await
    }

    async fn delete(&self) -> Outcome<()> {
        for producer in &self.producers {
            producer.close().await?;
        }
        self.admin.delete_group(&self.group).await?;
        let gone = async || Ok(!self.admin.groups().await?.contains(&self.group));
        until("group to be gone", gone, nothing).await?;
        pass(format!("group {} deleted and no longer listed", self.group));
        self.admin.delete_topic(&self.topic).await?;
        let gone = async || Ok(!self.admin.topics().await?.contains(&self.topic));
        until("topic to be gone", gone, nothing).await?;
        pass(format!("topic {} deleted and no longer listed", self.topic));
        Ok(())
    }
}

fn check(holds: bool, otherwise: impl Fn() -> String) -> Outcome<()> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}
