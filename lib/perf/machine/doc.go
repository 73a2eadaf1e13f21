// Package machine follows what a recording says of a machine - processes, threads and their
// names, what is mapped where - and so gives the samples of the recording their call stacks
// in functions. [Source] is a [recording.Source] over [data.Reader], and does what
// `perf script` does, without running it.
//
// The rules are perf's, of version 6.1 where versions differ:
//
//   - A thread has the name that it last got when the sample is handled, that of its parent
//     until then, or ":TID".
//   - A new process has the mappings of its parent; a mapping takes the place of what it
//     overlaps. exec forgets nothing: samples inside of it still have the old program's
//     caller in their chains.
//   - The kernel and its modules go by the names in the recording's list of build-ids, if
//     they are there, and else by "[kernel.kallsyms]" and "[module]".
//   - Anonymous memory with code in it, and the heap and the stack if they are executable,
//     are modules called /tmp/perf-PID.map: a JIT compiler may have named the code there.
//   - The functions of a call chain are those of its addresses as they are, callers too.
//     Contexts in the chain say which mappings count; it begins in user mode.
//   - A sample of an event without call chains has one frame, where it was taken. With
//     --call-graph lbr the callers in user mode are those of the branch records.
//   - The values of a group that is read with each sample make a sample for each event that
//     moved, whose weight is how far (`{a,b}:S`).
//
// It differs where perf loses something:
//
//   - A sample whose call chain is empty has the frame where it was taken; perf script
//     prints none.
//   - Chains are not cut at 127 frames.
//   - A sample of a guest has a frame without a name; perf script drops it.
//   - An unknown context voids what follows up to the next one, not all of the chain.
//   - What was inlined into a caller is looked up one byte before the address that the call
//     returns to; perf takes that address itself, and with it what was inlined behind the
//     call.
//   - A sample of an event that the recording does not describe is counted as cut; perf
//     ends there.
//
// Recordings with copies of the user stack (--call-graph dwarf) need unwinding, which this
// package does not do: [NeedsUnwinding] tells.
package machine
