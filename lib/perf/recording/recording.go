// Package recording is what a recording of perf yields, whichever way it is read: samples
// over interned frames, and a tally of what was lost on the way. Readers of `perf script`
// text and of perf.data files implement [Source]; what folds samples needs to know
// nothing else.
package recording

import "vperf/lib/record"

// None stands for an integer that the recording does not hold.
const None = record.None

// Sample is one sample. Its strings may be kept, Payload and the Sample itself are valid
// until the next call of Next.
type Sample struct {
	Event  string // as perf prints it, modifiers included
	Comm   string // name of the thread at that moment; empty where it was not recorded
	PID    int64  // None where it was not recorded, as TID, CPU and TimeNS
	TID    int64
	CPU    int64
	TimeNS int64  // of the recording's clock
	Weight uint64 // the period, in the event's unit; 1 where NoPeriod
	Stack  int    // for [Source.Stack]; 0 where there are no frames

	// NoPeriod says that the recording does not hold the period: samples can be counted,
	// but not added up in the event's unit.
	NoPeriod bool

	Payload []byte // what a tracepoint printed, or the columns between event and address
	Place   int64  // line of the text, or offset in the file
}

// A Source yields the samples of one recording in the order in which it holds them.
//
//	for src.Next() {
//		s := src.Sample()
//		for _, f := range src.Stack(s.Stack) {
//			fmt.Println(src.Frame(f).Symbol)
//		}
//	}
//	if err := src.Err(); err != nil { ... }
type Source interface {
	Next() bool
	Sample() *Sample

	// Stack returns the frames of a stack, leaf first. Equal stacks have equal numbers,
	// counted from 1, so what is derived from a stack may be kept by its number.
	Stack(i int) []int32

	// Frame returns a frame. Its ID is i; Module is empty for an inlined frame whose
	// module is that of the next frame that is not.
	Frame(i int32) *record.Frame

	// Tally returns what was counted so far; it is complete when Next has returned false.
	Tally() *Tally

	// Err returns why reading ended before the end of the recording, or nil.
	Err() error
}

// Reason names what became of a part of a recording that did not become a sample.
type Reason string

// The reasons. Only Cut takes samples away that the recording holds; Lost are samples
// that perf could not record.
const (
	Cut        Reason = "cut samples"            // the recording ends inside them
	Lost       Reason = "lost samples"           // perf says so
	LostChunks Reason = "lost chunks"            // perf says so, without saying how many samples
	TraceError Reason = "trace errors"           // the decoder of a hardware trace says so
	Foreign    Reason = "foreign lines"          // messages mixed into the text
	BadFrame   Reason = "unreadable frames"      // their samples lack them
	StrayFrame Reason = "frames without samples" // the text does not begin with a sample
	BadLine    Reason = "unreadable lines"       // of folded stacks
	BadValue   Reason = "negative values"        // of the difference of two profiles
	Other      Reason = "other records"          // mmap, comm and the like: read over; switches where nobody asked
)

// Count is how often a Reason occurred, and the first of them.
type Count struct {
	Reason Reason
	N      uint64
	Place  int64  // of the first: line of the text, or offset in the file
	Text   string // of the first
}

// Tally balances a recording: the samples that it holds are those that Next yielded and
// those counted as Cut.
type Tally struct {
	Samples uint64 // yielded by Next
	Deep    uint64 // of these, samples with more than one frame
	Cut     bool   // the recording ends inside a sample, or says that it is not complete
	Counts  []Count
}

// Add counts n occurrences of a reason.
func (t *Tally) Add(reason Reason, n uint64, place int64, text string) {
	for i := range t.Counts {
		if t.Counts[i].Reason == reason {
			t.Counts[i].N += n
			return
		}
	}
	t.Counts = append(t.Counts, Count{reason, n, place, text})
}

// N returns how often a reason occurred.
func (t *Tally) N(reason Reason) uint64 {
	for i := range t.Counts {
		if t.Counts[i].Reason == reason {
			return t.Counts[i].N
		}
	}
	return 0
}

// Merge adds what another recording of the same run counted.
func (t *Tally) Merge(u *Tally) {
	t.Samples += u.Samples
	t.Deep += u.Deep
	t.Cut = t.Cut || u.Cut
	for _, c := range u.Counts {
		t.Add(c.Reason, c.N, c.Place, c.Text)
	}
}
