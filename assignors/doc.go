// Package assignors decides which member of a group reads which partition (KIP-848, KIP-932): pure functions of who is
// there, what each is subscribed to, and what each had. They are what Kafka's group coordinator runs on its side of the
// protocol: [Uniform] and [Range] for consumer groups, [Simple] for share groups.
//
// What holds of every result:
//   - Only topics that a member is subscribed to, and partitions that exist, are given to it.
//   - The same input gives the same output, in any order of members: members are taken in the order of their ids.
//   - [Uniform] and [Range] give each partition that somebody is subscribed to, to one member; [Simple] to at least one.
//   - [Uniform] balances first, then keeps what members had.
//
// Kafka takes members in the order of a hash map, which clients cannot know: where it chooses between equals, the choice
// here may be another one. conformance compares both on generated inputs: loads are as even, and no more partitions move.
package assignors
