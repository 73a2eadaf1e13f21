package host

import (
	"encoding/binary"
	"errors"
)

// A tally counts what a recording holds, as far as a probe wants to know.
type tally struct {
	samples  int
	kernel   int // samples of kernel code, among samples
	switches int
}

// The record types and the header of linux/perf_event.h and of perf's pipe format.
const (
	pipeMagic         = "PERFILE2"
	pipeHeaderBytes   = 16
	recordHeaderBytes = 8
	recordSample      = 9
	recordSwitch      = 14
	recordSwitchCPU   = 15
	recordTracingData = 66 // followed by that many bytes, which its size leaves out
	recordAuxTrace    = 71 // likewise
	miscCPUModeMask   = 7
	miscCPUModeKernel = 1
)

var errNotRecording = errors.New("perf record wrote no recording")

// tallyPipe walks over the records that `perf record -o -` of this machine wrote. A
// recording that is cut gives what came before, and an error.
func tallyPipe(data []byte) (tally, error) {
	var t tally
	if len(data) < pipeHeaderBytes || string(data[:len(pipeMagic)]) != pipeMagic {
		return t, errNotRecording
	}
	data = data[pipeHeaderBytes:]
	for len(data) > 0 {
		if len(data) < recordHeaderBytes {
			return t, errors.New("the recording is cut")
		}
		kind := binary.NativeEndian.Uint32(data)
		misc := binary.NativeEndian.Uint16(data[4:])
		size := uint64(binary.NativeEndian.Uint16(data[6:]))
		if size < recordHeaderBytes {
			return t, errors.New("the recording is damaged")
		}
		switch kind {
		case recordSample:
			t.samples++
			if misc&miscCPUModeMask == miscCPUModeKernel {
				t.kernel++
			}
		case recordSwitch, recordSwitchCPU:
			t.switches++
		case recordTracingData:
			if len(data) >= recordHeaderBytes+4 {
				size += (uint64(binary.NativeEndian.Uint32(data[recordHeaderBytes:])) + 7) &^ 7
			}
		case recordAuxTrace:
			if len(data) >= recordHeaderBytes+8 {
				size += min(binary.NativeEndian.Uint64(data[recordHeaderBytes:]), uint64(len(data)))
			}
		}
		if size > uint64(len(data)) {
			return t, errors.New("the recording is cut")
		}
		data = data[size:]
	}
	return t, nil
}
