// Package script reads the text that `perf script` prints.
//
// The text has no version and no fixed columns: what a line looks like depends on the
// version of perf (3.x to 7.x), on how the recording was made (-a, -g, -e), and on the
// fields that were asked for (-F). The reader takes what the lines show:
//
//	# comments, before or between samples
//	COMM PID/TID [CPU] SECONDS.FRACTION: PERIOD EVENT: PAYLOAD
//		ADDRESS SYMBOL+0xOFFSET (MODULE)
//		ADDRESS SYMBOL (inlined)
//		ADDRESS [unknown] ([unknown])
//	(blank line)
//
// Everything but the event may be missing. Without call chains perf prints the one frame
// on the line of the sample. Fractions of 6 digits (microseconds) and of 9 (--ns) are read
// exactly.
//
// Text goes through many hands before it comes here, so nothing in it is an error except
// its being something else altogether ([ErrUTF16], [ErrFtrace], [ErrBinary]). What is no
// sample is counted by reason, with the place of the first ([recording.Tally]); a sample
// that the text ends inside of is counted as cut.
//
// # Differences from other readers
//
// stackcollapse-perf.pl (FlameGraph) and inferno-collapse-perf define what most people
// expect of this text. This reader differs where they lose or misread something:
//
//   - A comm is kept as it is: blanks do not become "_", and digits, brackets or colons in
//     it do not make its samples unreadable.
//   - Symbols are kept whole. C++ names are not cut at their parameters, Java names keep
//     the leading "L", half-demangled Rust names ("_$LT$") stay so.
//   - Frames whose symbol begins with "(" are kept, "(anonymous namespace)::f" among them.
//   - "->" parts inlined Java methods only in perf-PID.map modules: a C++ "operator->" is
//     one frame.
//   - The last sample counts when no blank line follows it, and samples without frames
//     count too.
//   - The module is the last group of balanced parentheses, so that "(/opt/a b (deleted))"
//     is one module.
//   - A frame that has a module but no symbol, as old versions of perf print it, is one of
//     that module, not one without a name.
//   - Samples of other events than the first are not dropped.
package script
