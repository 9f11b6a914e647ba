// Package tasks decides which member of a streams group runs which task (KIP-1071): a pure function of who is there, in which
// process, what there is to do, and what each had. It is what Kafka's group coordinator does on its side of the protocol with
// its assignor "sticky".
//
// A task is one partition number of a subtopology. It runs on one member as an active task; of a subtopology that keeps state
// there may be standby tasks, copies that keep up with its changelog.
//
// What holds of every result:
//   - Each task is active on one member.
//   - A process never has a task twice: as active and as standby, or as two standbys. So there are fewer standbys than asked
//     for when there are too few processes.
//   - The same input gives the same output, in any order of members: members are taken in the order of their ids, processes in
//     the order of theirs.
//   - Members keep what they had as long as their even share allows.
//
// Kafka takes members and processes in the order of a hash map, which clients cannot know: where it chooses between equals, the
// choice here may be another one. conformance/cmd/assignors -tasks asks Kafka's own class about generated groups; the tests here
// compare: loads are as even, and no more tasks move.
package tasks
