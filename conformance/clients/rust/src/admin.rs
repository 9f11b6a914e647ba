//! The calls of krafka's AdminClient that the walk needs, with their nested results made one.

use krafka::admin::{AdminClient, NewTopic, OffsetSpec};
use krafka::consumer::TopicPartition;

use crate::Outcome;
use crate::ledger::Offsets;

pub struct Admin(pub AdminClient);

/// The one answer of a call that was asked for one thing.
fn only<K, V>(answers: std::collections::HashMap<K, krafka::Result<V>>) -> Outcome<V> {
    Ok(answers.into_values().next().ok_or("no answer")??)
}

impl Admin {
    pub async fn create_topic(&self, topic: &str, n: i32) -> Outcome<()> {
        only(self.0.create_topics([NewTopic::new(topic, n, 1)?], Default::default()).await?)
    }

    pub async fn partitions(&self, topic: &str) -> Outcome<usize> {
        Ok(only(self.0.describe_topics([topic], Default::default()).await?)?.partitions.len())
    }

    pub async fn topics(&self) -> Outcome<Vec<String>> {
        Ok(self.0.list_topics(Default::default()).await?)
    }

    pub async fn ends(&self, topic: &str, n: i32) -> Outcome<Offsets> {
        let asked = (0..n).map(|p| (TopicPartition::new(topic, p), OffsetSpec::Latest));
        let listed = self.0.list_offsets(asked, Default::default()).await?;
        listed.into_iter().map(|(tp, listed)| Ok((tp.partition, listed?.offset))).collect()
    }

    pub async fn groups(&self) -> Outcome<Vec<String>> {
        let listed = only(self.0.list_consumer_groups(Default::default()).await?)?;
        Ok(listed.into_iter().map(|g| g.group_id).collect())
    }

    pub async fn group(&self, group: &str) -> Outcome<(String, usize)> {
        let g = only(self.0.describe_consumer_groups([group], Default::default()).await?)?;
        Ok((g.state, g.members.len()))
    }

    pub async fn committed(&self, group: &str) -> Outcome<Offsets> {
        let listed = self.0.list_consumer_group_offsets(group, Default::default()).await?;
        let mut offsets = Offsets::new();
        for (tp, committed) in listed {
            if let Some(offset) = committed?.offset {
                offsets.insert(tp.partition, offset);
            }
        }
        Ok(offsets)
    }

    pub async fn delete_group(&self, group: &str) -> Outcome<()> {
        only(self.0.delete_consumer_groups([group], Default::default()).await?)
    }

    pub async fn delete_topic(&self, topic: &str) -> Outcome<()> {
        only(self.0.delete_topics([topic], Default::default()).await?)
    }
}
