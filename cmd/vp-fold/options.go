package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"vperf/lib/event"
	"vperf/lib/format/calltree"
	"vperf/lib/sched"
	"vperf/lib/stack"
	"vperf/lib/tool"
)

// options are the flags, as the fold needs them.
type options struct {
	samples  bool // weigh each sample as 1
	event    string
	tids     []int64
	pids     []int64
	cpus     []int64
	comms    []string
	module   *regexp.Regexp
	function *regexp.Regexp
	states   []sched.State // of waits
	offCPU   bool          // waits instead of samples
	from, to int64         // nanoseconds into the run; to is the largest number if not given
	root     string
	shape    stack.Shape
	naming   stack.Naming
	tree     calltree.Options
	symfs    string   // where the files of the machine that recorded are, "" for /
	args     []string // the flags that change the result, for the stream record
}

func newOptions(env *tool.Env) (*options, error) {
	flags := env.Flags
	o := &options{
		samples: flags.String("weight") == "samples",
		event:   flags.String("event"),
		comms:   tool.List(flags.String("comm")),
		root:    flags.String("root"),
		symfs:   flags.String("symfs"),
		offCPU:  flags.Bool("off-cpu"),
		to:      math.MaxInt64,
	}
	if o.offCPU {
		if o.event != "" {
			return nil, tool.Usagef("--event and --off-cpu: waits are of no event")
		}
		o.event = offCPU
	}
	for _, word := range tool.List(flags.String("state")) {
		i := slices.IndexFunc(waitStates, func(s sched.State) bool { return s.String() == word })
		if i < 0 {
			return nil, tool.Usagef("--state: %q is none of %s", word, strings.Trim(fmt.Sprint(waitStates), "[]"))
		}
		o.states = append(o.states, waitStates[i])
	}
	for _, list := range []struct {
		name string
		to   *[]int64
	}{{"tid", &o.tids}, {"pid", &o.pids}, {"cpu", &o.cpus}} {
		for _, word := range tool.List(flags.String(list.name)) {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil || n < 0 {
				return nil, tool.Usagef("--%s: %q is no number", list.name, word)
			}
			*list.to = append(*list.to, n)
		}
	}
	for _, re := range []struct {
		name string
		to   **regexp.Regexp
	}{{"module", &o.module}, {"function", &o.function}} {
		if s := flags.String(re.name); s != "" {
			r, err := regexp.Compile(s)
			if err != nil {
				return nil, tool.Usagef("--%s: %v", re.name, err)
			}
			*re.to = r
		}
	}
	for _, at := range []struct {
		name string
		to   *int64
	}{{"from", &o.from}, {"to", &o.to}} {
		if s := flags.String(at.name); s != "" {
			sec, err := strconv.ParseFloat(s, 64)
			if err != nil || !(sec >= 0 && sec < 1e9) {
				return nil, tool.Usagef("--%s: %q is no number of seconds", at.name, s)
			}
			*at.to = int64(math.Round(sec * 1e9))
		}
	}
	if o.from >= o.to {
		return nil, tool.Usagef("--from %s is not before --to %s", flags.String("from"), flags.String("to"))
	}
	o.shape = stack.Shape{
		Kernel:   map[string]stack.KernelMode{"full": stack.KernelFull, "boundary": stack.KernelBoundary, "drop": stack.KernelDrop}[flags.String("kernel")],
		NoInline: flags.Bool("no-inline"),
		MaxDepth: flags.Int("max-depth"),
	}
	if o.shape.MaxDepth < 0 {
		return nil, tool.Usagef("--max-depth: %d is less than 0", o.shape.MaxDepth)
	}
	o.tree = calltree.Options{Scope: flags.String("scope"), MinPercent: flags.Float64("min-percent"), MaxNodes: flags.Int("max-nodes")}
	switch p := o.tree.MinPercent; {
	case !(p >= 0 && p <= 100):
		return nil, tool.Usagef("--min-percent: %v is not between 0 and 100", p)
	case o.tree.MaxNodes < 1:
		return nil, tool.Usagef("--max-nodes: %d is less than 1", o.tree.MaxNodes)
	}
	for _, name := range []string{"scope", "min-percent", "max-nodes"} {
		if flags.IsSet(name) && env.Format != "tree" {
			return nil, tool.Usagef("--%s is for --format tree", name)
		}
	}
	o.naming = stack.Naming{Mark: flags.Bool("mark"), Addresses: flags.Bool("addrs")}
	for _, name := range env.Flags.LocalFlagNames() {
		isOwn := slices.ContainsFunc(ownFlags, func(f cli.Flag) bool { return f.Names()[0] == name })
		if isOwn && name != "symfs" { // a path: what is found there counts, not where it is
			o.args = append(o.args, "--"+name+"="+flags.String(name))
		}
	}
	slices.Sort(o.args)
	return o, nil
}

// waitStates are the states that --state knows.
var waitStates = []sched.State{sched.Sleep, sched.Blocked, sched.Runnable, sched.Stopped, sched.Unknown}

// items says what is folded.
func (o *options) items() string {
	if o.offCPU {
		return "waits"
	}
	return "samples"
}

// filtered reports whether samples can be left out by a flag.
func (o *options) filtered() bool {
	return o.event != "" || o.tids != nil || o.pids != nil || o.cpus != nil || o.comms != nil ||
		o.module != nil || o.function != nil || o.states != nil || o.timed()
}

func (o *options) timed() bool { return o.from > 0 || o.to != math.MaxInt64 }

// wantsEvent reports whether --event names an event: as it is, without its modifiers, or
// with "_" for punctuation, which file names and shells dislike.
func (o *options) wantsEvent(name string) bool {
	return o.event == "" || name == o.event || event.Base(name) == o.event || plain(name) == o.event
}

// plain replaces the punctuation in an event's name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(":/=,", r) {
			return '_'
		}
		return r
	}, name)
}

func wants[T comparable](list []T, x T) bool { return list == nil || slices.Contains(list, x) }
