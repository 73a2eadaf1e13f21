package data

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	guest := FlagExcludeGuest
	for _, c := range []struct {
		attr Attr
		want string
	}{
		{Attr{Flags: guest}, "cycles"},
		{Attr{}, "cycles:HG"},
		{Attr{Config: 9, Flags: guest}, "ref-cycles"},
		{Attr{Config: 10, Flags: guest}, "unknown-hardware"},
		{Attr{Type: 1, Config: 9}, "dummy:HG"},
		{Attr{Type: 1, Config: 2, Flags: guest | FlagExcludeKernel | FlagExcludeHV}, "page-faults:uH"},
		{Attr{Type: 1, Config: 2, Flags: FlagExcludeKernel | FlagExcludeHV}, "page-faults:u"},
		{Attr{Config: 1, Flags: FlagExcludeUser}, "instructions:kh"},
		{Attr{Flags: 3 << 15}, "cycles:ppp"},
		{Attr{Flags: 2<<15 | guest}, "cycles:ppH"},
		{Attr{Type: 2}, "unknown tracepoint"},
		{Attr{Type: 3, Config: 0, Flags: guest}, "L1-dcache-loads"},
		{Attr{Type: 3, Config: 0x10002, Flags: guest}, "LLC-load-misses"},
		{Attr{Type: 3, Config: 0x10103, Flags: guest}, "dTLB-store-misses"},
		{Attr{Type: 3, Config: 0x200, Flags: guest}, "L1-dcache-prefetches"},
		{Attr{Type: 3, Config: 9, Flags: guest}, "unknown-ext-hardware-cache-type"},
		{Attr{Type: 4, Config: 0x1c2, Flags: guest}, "raw 0x1c2"},
		{Attr{Type: 5, Config1: 0x1000, BPType: 3, Flags: guest}, "mem:0x1000:rw"},
		{Attr{Type: 11}, "unknown attr type: 11"},
	} {
		if got := c.attr.name(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.attr, got, c.want)
		}
	}
}

// The queue against the rule itself: a list in which each record is put behind all that
// are not later, as perf does it.
func TestQueue(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var q queue
		var list, got, want []waiting
		var last, round uint64
		drain := func() {
			for w, ok := q.pop(); ok; w, ok = q.pop() {
				got = append(got, w)
			}
		}
		take := func(limit uint64) {
			n := 0
			for n < len(list) && list[n].time <= limit {
				n++
			}
			want = append(want, list[:n]...)
			list = slices.Clone(list[n:])
		}
		for i := range uint32(300) {
			if rnd.IntN(20) == 0 {
				q.finishRound()
				take(round)
				round = last
				drain()
				continue
			}
			w := waiting{time: 1 + uint64(i)/8 + rnd.Uint64N(40), at: i}
			q.add(w)
			last = max(last, w.time)
			at := len(list)
			for at > 0 && list[at-1].time > w.time {
				at--
			}
			list = slices.Insert(list, at, w)
		}
		q.flush(NoTime)
		take(NoTime)
		drain()
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

const switchFormat = `name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:__data_loc char[] path;	offset:28;	size:4;	signed:0;
	field:unsigned char set[2];	offset:32;	size:2;	signed:0;
	field:u64 cookie;	offset:34;	size:8;	signed:0;

`

func TestPayload(t *testing.T) {
	raw := make([]byte, 48)
	copy(raw[8:], "a comm")
	copy(raw[24:], []byte{0xfe, 0xff, 0xff, 0xff})
	copy(raw[28:], []byte{42, 0, 6, 0})
	copy(raw[32:], []byte{0xab, 1})
	copy(raw[34:], []byte{0x1f})
	copy(raw[42:], "a/b\x00zz")
	fallback := "comm=a comm pid=-2 path=a/b set=ab 01 cookie=31"
	for _, c := range []struct{ print, want string }{
		{`"comm=%s pid=%d cookie=0x%Lx", REC->comm, REC->pid, (unsigned long long)REC->cookie`, "comm=a comm pid=-2 cookie=0x1f"},
		{`"comm=%s pid=%03d %% file=%s\n", REC->comm, REC->pid, __get_str(path)`, "comm=a comm pid=-02 % file=a/b\n"},
		{`"cookie=%#lx %5u|%-4d|", ((unsigned long)(REC->cookie)), REC->cookie, 7`, "cookie=0x1f    31|7   |"},
		{`"%x %lx %u", REC->pid, REC->pid, REC->pid`, "fffffffe fffffffffffffffe 4294967294"},
		{`"state=%s" "!", REC->pid ? "a" : "b"`, "state=a!"},
		{`"%d %d %d %d", 1 + 2 * 3 - 4 / 2, (1 | 6) & ~2, 1 << 4 >> 1 == 8 && 3 != 4, !(2 <= 1) || 0`, "5 5 1 1"},
		{`"%d %d", 5 / 0, 5 % 0`, "0 0"},
		{`"%s%s", (REC->cookie & (((0x10 | 0x1) << 1) - 1)) ? __print_flags(REC->cookie & 0x1f, "|", { 1, "S" }, { 0x2, "D" }) : "R", REC->cookie & 0x20 ? "+" : ""`, "S|D|0x1c"},
		{`"%s %s", __print_flags(0, "|", { 1, "S" }), __print_flags(0, "|", { 0, "none" })`, " none"},
		{`"%s %s", __print_symbolic(REC->cookie, { 31, "thirty-one" }), __print_symbolic(3, { 1, "a" })`, "thirty-one 0x3"},
		{`"%-8s|%.3s|%c", REC->comm, REC->comm, 65`, "a comm  |a c|A"},
		{`"%d", REC->nothing`, fallback},
		{`"%d %d", REC->pid`, fallback},
		{`"%d", ` + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), fallback},
		{`"%pS", REC->cookie`, fallback},
		{`"%d", some_function(REC->pid)`, fallback},
		{`"unterminated %d`, fallback},
		{`"nothing else"`, "nothing else"},
		{``, fallback},
	} {
		f := parseFormat(switchFormat + "print fmt: " + c.print + "\n")
		if f.ID != 372 || f.Name != "sched_switch" || len(f.Fields) != 5 {
			t.Fatalf("%+v", f)
		}
		var r Record
		if got := string(r.AppendPayload(nil, &f, raw)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.print, got, c.want)
		}
		for n := range raw { // a cut one is printed as far as it goes
			r.AppendPayload(nil, &f, raw[:n])
		}
	}
}
