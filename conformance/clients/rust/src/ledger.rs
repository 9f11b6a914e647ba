//! What was sent, what arrived, what is committed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use krafka::{ConsumerRecord, Record};

use crate::record::id;

pub type Offsets = BTreeMap<i32, i64>;

/// Members and producers write to it from their own tasks, through a mutex.
#[derive(Default)]
pub struct Ledger {
    sent: HashMap<String, Record>,
    arrived: HashMap<String, BTreeSet<(i32, i64)>>,
    next: Offsets,
    committed: Offsets,
    faults: Vec<String>,
}

impl Ledger {
    pub fn send(&mut self, record: &Record) {
        self.sent.insert(id(&record.headers), record.clone());
    }

    /// Drops a record whose send failed: it may or may not be in the log.
    pub fn forget(&mut self, record: &Record) {
        self.sent.remove(&id(&record.headers));
    }

    pub fn arrive(&mut self, r: &ConsumerRecord) {
        let name = id(&r.headers);
        let place = format!("{name} at {}@{}", r.partition, r.offset);
        let due = self.next.get(&r.partition).copied().unwrap_or(0);
        if r.offset < self.committed.get(&r.partition).copied().unwrap_or(0) {
            self.faults.push(format!("{place} came again though it is committed"));
        }
        if r.offset > due {
            self.faults.push(format!("{place}: {due} was due"));
        }
        self.next.insert(r.partition, due.max(r.offset + 1));
        self.arrived.entry(name.clone()).or_default().insert((r.partition, r.offset));
        if let Some(what) = self.sent.get(&name).and_then(|sent| difference(r, sent)) {
            self.faults.push(format!("{name}: another {what} than was sent"));
        }
    }

    /// Notes the group's committed offsets; tells whether they are the ends of what arrived.
    pub fn commit(&mut self, offsets: Offsets) -> bool {
        let all = offsets == self.next;
        self.committed.extend(offsets);
        all
    }

    pub fn count(&self) -> usize {
        self.sent.len()
    }

    pub fn missing(&self) -> usize {
        self.sent.keys().filter(|id| !self.arrived.contains_key(*id)).count()
    }

    /// The end of each partition as the members saw it.
    pub fn ends(&self) -> Offsets {
        self.next.clone()
    }

    /// Fails on the first fault; the producer is idempotent, so a record at two places is one.
    pub fn check(&mut self) -> crate::Outcome<()> {
        let twice = self.arrived.iter().filter(|(_, at)| at.len() > 1);
        self.faults.extend(twice.map(|(id, at)| format!("{id} is in the log at {at:?}")));
        match self.faults.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} faults, first: {first}", self.faults.len()).into()),
        }
    }
}

fn difference(got: &ConsumerRecord, sent: &Record) -> Option<&'static str> {
    let same = [("key", got.key == sent.key), ("value", got.value == sent.value), ("headers", got.headers == sent.headers)];
    same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
}
