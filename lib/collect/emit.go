package collect

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"sync"
	"time"

	"vperf/lib/event"
	"vperf/lib/record"
)

// emitter writes the stream of a run. While the command runs it belongs to a goroutine of
// its own, so that a reader that does not read holds up nobody. Write errors are sticky in
// w, and returned by Run.
type emitter struct {
	*run
	w    *record.Writer
	quit chan struct{}
	wg   sync.WaitGroup
}

// drainPeriod is how often readings are written.
const drainPeriod = time.Second

// begin opens the stream with what is known when the command starts.
func (r *run) begin(w *record.Writer, startNS int64) *emitter {
	e := &emitter{run: r, w: w, quit: make(chan struct{})}
	e.wg.Go(func() {
		e.head(startNS)
		tick := time.NewTicker(drainPeriod)
		defer tick.Stop()
		for {
			e.drain()
			select {
			case <-tick.C:
			case <-e.quit:
				e.drain()
				return
			}
		}
	})
	return e
}

func (e *emitter) head(startNS int64) {
	e.w.Begin(record.Stream{By: e.By, Profile: profileID(), Clock: "monotonic", Args: e.Args})
	meta := &record.Meta{
		Target: &record.Target{
			Cmd:      e.Command,
			PID:      record.Int(int64(e.launcher.process.Pid)),
			Launcher: launcherName,
			StartNS:  record.Int(startNS),
		},
		Host:        e.Host,
		PerfVersion: e.Perf.Version,
	}
	if e.recorder == nil {
		e.w.Write(meta)
		return
	}
	p := e.recorder.plan
	meta.Events = event.List(p.event)
	meta.Callgraph = p.callgraph
	meta.Options = map[string]string{"freq": strconv.Itoa(p.frequency)}
	e.w.Write(meta)
	for i, name := range meta.Events {
		e.w.Write(&record.Event{ID: record.ID(i + 1), Name: name, Unit: event.UnitOf(name), Kind: event.KindOf(name)})
	}
}

// drain writes what has come together: notices and readings.
func (e *emitter) drain() {
	e.mu.Lock()
	notices := e.notices
	e.notices = nil
	e.mu.Unlock()
	for i := range notices {
		e.w.Write(&notices[i])
	}
	if e.rss != nil {
		readings := e.rss.take()
		for i := range readings {
			e.w.Write(&readings[i])
		}
	}
	e.w.Flush()
}

// finish writes the rest and closes the stream. The observers have ended.
func (e *emitter) finish(startNS, endNS int64) {
	close(e.quit)
	e.wg.Wait()
	if e.Counters {
		e.counters()
	}
	if e.recorder != nil {
		e.samples()
	}
	e.drain()
	target := &record.Target{DurationNS: record.Int(endNS - startNS)}
	if o := outcomeOf(e.state); o.Signal != "" {
		target.Signal = o.Signal
	} else {
		target.ExitCode = record.Int(int64(o.ExitCode))
	}
	e.w.Write(&record.Meta{Target: target})
	e.w.End(e.cause)
}

func (e *emitter) counters() {
	var counters []record.Counter
	if c := e.counter; c != nil {
		var err error
		counters, err = readCounters(c.path, e.events())
		if err == nil {
			err = c.failure()
		}
		if err != nil {
			e.missing(record.CauseEventNotCounted, "counters are missing: perf stat "+err.Error(), c.fix())
		}
	}
	if usage, ok := usageSince(e.state, e.launcher.base); ok {
		counters = complete(counters, usage)
	}
	for i := range counters {
		e.w.Write(&counters[i])
	}
	if e.counter != nil {
		e.dump(record.DumpPerfStat, e.counter.path)
	}
}

func (e *emitter) samples() {
	if err := e.recorder.failure(); err != nil {
		e.missing(record.CausePerfRecordFailed, "samples are missing: perf record "+err.Error(), e.recorder.fix())
	} else if cut(e.recorder.path) {
		e.missing(record.CausePerfRecordFailed, "samples are missing: perf.data was cut off: "+e.recorder.complaint(), e.recorder.fix())
	}
	e.dump(record.DumpPerfData, e.recorder.path)
}

// dump writes a file of perf's. One that was cut is written as it is: what it holds can be
// read.
func (e *emitter) dump(of, path string) {
	file, err := os.Open(path)
	if err != nil {
		e.missing(record.CausePerfRecordFailed, "perf left no "+of+": "+err.Error(), "")
		return
	}
	defer file.Close()
	if err := record.WriteDump(e.w, of, file); err != nil && e.w.Flush() == nil {
		e.missing(record.CauseTruncatedInput, "reading "+of+": "+err.Error(), "") // the reader failed, not the writer
	}
}

// profileID returns a name for a profile that no other profile has.
func profileID() string {
	var id [16]byte
	rand.Read(id[:]) // it does not fail
	return hex.EncodeToString(id[:])
}
