// Package data reads recordings of perf: perf.data files and what `perf record -o -` writes
// into a pipe, of perf 2.6.34 to 7.x, in either byte order.
//
// A file is a header, the attributes of its events, records, and behind these sections
// named features:
//
//	"PERFILE2" size attr_size {attrs} {data} {event types} features[4]
//	struct perf_event_attr + {ids}, one per event
//	records: type u32, misc u16, size u16, body
//	{feature}..., in the order of their bits
//
// where {} is an offset and a size of 8 bytes each. A pipe has "PERFILE2" and the size 16
// in front of records alone; attributes and features are records there.
//
// [Reader] yields the records of the kernel in the order in which perf handles them: those
// with a time sorted by it, as far as FINISHED_ROUND records allow, equal times in file
// order; those without a time at once. What perf record added itself (attributes, features,
// build-ids, compressed data) is taken on the way and shows in [Reader.Info] and
// [Reader.Events].
//
// Numbers are those of the kernel's include/uapi/linux/perf_event.h, file layout and
// records from 64 on are described in the kernel's
// tools/perf/Documentation/perf.data-file-format.txt.
//
// Recordings may come from anywhere. No input makes the reader panic, loop, or hold more
// than a constant beside what it read of the input; a cut or corrupt one yields all records
// before the fault, which [Reader.Fault] describes.
package data
