// Package timeline is the control journal as a console reads it while a broker writes it: entries page by page with their
// cause, how many there are of each area, the state as of an entry, what differs between two, and a group's lag over time. It
// implements inside.Journal.
//
// It reads files and the published state, and writes nothing. Invariants:
//
//   - Only entries up to the last published one are shown: what lies behind may still be taken back.
//   - An index keeps the place of every 64th entry (fewer of a long journal) and which kinds of events follow it; it is made
//     when somebody looks for the first time, in the background, and follows the journal from then on.
//   - A page looks at a bounded number of entries and says where to go on.
//   - States are folded from the nearest snapshot or kept state: few at a time, few are kept, and their size is bounded.
package timeline
