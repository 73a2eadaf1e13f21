// Package stat reads what `perf stat` writes for programs: the separated values of -x
// and the JSON lines of -j, found out by content, from any perf since 3.13.
//
//	r := stat.NewReader("stat.csv", file)
//	for r.Next() {
//		c := r.Count()
//		if c.Known() { fmt.Println(c.Event, c.Scope, c.Value, c.Unit) }
//	}
//	if err := r.Err(); err != nil { ... }
//
// # Separated values
//
// No header names the columns, and options put further ones in front of or between
// them. In the order of tools/perf/util/stat-display.c:
//
//	time        -I               seconds since the start, 9 decimals; blanks before it in 6.1 and earlier
//	summary     --summary        the word, in front of the totals behind the intervals (since 5.9)
//	CPU3        -A               with --per-core, -die, -socket, -node, -cache, -cluster instead
//	                             S0-D0-C1 (S0-C1 before 5.3), S0-D0, S0, N0, S0-D0-L3-ID0, S0-D0-CLS0,
//	                             and a column with how many CPUs were added up
//	name-tid    --per-thread     the name as it is, separators and all
//	count                        or "<not supported>", "<not counted>"
//	unit                         since 3.13; empty for plain counts and, in old versions, for clocks
//	event                        as asked for, separators and all
//	cgroup      -G, --for-each-cgroup
//	noise       -r               "1.18%"
//	running                      ns that the event was counted for
//	percent                      of the time it was enabled; 5.19 and later round down to whole percents
//	value, name                  a metric that perf computed from it (since 4.1)
//
// Further metrics of an event follow on lines of their own with every other column empty,
// their number differing by version and by bug. They are recognised and counted
// ([Reader.Metrics]), not read: a metric is to be computed from counts, and under a locale
// with decimal commas perf prints them cut off.
//
// The columns are therefore recognised by content: a count, a unit and an event in a row,
// the running time and the percentage behind them, and before them only what the options
// above can put there. Columns behind the percentage may be any.
//
// # JSON
//
// Since 6.0, one object a line with the same fields by name. It is not always JSON: 6.1 prints
// numbers with the decimal comma of the locale, 6.12 could leave a comma before the
// brace, and thread names are not escaped. The reader looks for the names of the fields and
// takes what stands behind them.
//
// # What a count means
//
// perf scales a count that was multiplexed up to the time it was enabled, so the count is used
// as printed and only flagged. The percentage alone does not tell whether an event ever
// ran: 6.1 prints 100.00 where it was enabled for no time at all. A count of 0 in a running
// time of 0 was not measured and is not 0.
package stat
