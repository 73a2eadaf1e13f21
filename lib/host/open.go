package host

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A genericEvent is one that every kernel knows, and that a processor may or may not have.
type genericEvent struct {
	name     string
	software bool
	kind     uint32 // perf_event_attr.type
	config   uint64
}

// cacheEvent is the config of PERF_TYPE_HW_CACHE.
func cacheEvent(cache, op, result uint64) uint64 { return cache | op<<8 | result<<16 }

// genericEvents are asked for on every processor: software first, then hardware, in the
// order in which they are shown.
var genericEvents = []genericEvent{
	{"cpu-clock", true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", true, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_MIGRATIONS},
	{"cycles", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"branches", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
	{"cache-references", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{"L1-dcache-loads", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_L1D, 0, 0)},
	{"L1-dcache-load-misses", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_L1D, 0, 1)},
	{"L1-icache-load-misses", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_L1I, 0, 1)},
	{"dTLB-loads", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_DTLB, 0, 0)},
	{"dTLB-load-misses", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_DTLB, 0, 1)},
	{"LLC-loads", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_LL, 0, 0)},
	{"LLC-load-misses", false, unix.PERF_TYPE_HW_CACHE, cacheEvent(unix.PERF_COUNT_HW_CACHE_LL, 0, 1)},
	{"stalled-cycles-frontend", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", false, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
}

// open counts an event over a little work of this thread, without perf. Like perf it
// falls back to user code where it may not count the kernel's. The error is an errno of
// perf_event_open: ENOENT for an event that the processor or its hypervisor does not have,
// EACCES from perf_event_paranoid, EPERM from seccomp, ENOSYS from a kernel without perf events.
func (e genericEvent) open() (reading, error) {
	runtime.LockOSThread() // it is this thread that is counted
	defer runtime.UnlockOSThread()

	r := reading{event: e.name}
	if strings.HasSuffix(e.name, "-clock") {
		r.unit = "ns"
	}
	attr := unix.PerfEventAttr{Type: e.kind, Config: e.config}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) {
		attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
		r.event += ":u"
		fd, err = unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return reading{event: e.name, why: "not supported"}, err
	}
	defer unix.Close(fd)
	work()
	var value [8]byte
	if n, err := unix.Read(fd, value[:]); err != nil || n != len(value) {
		return r, errors.Join(err, errors.New("the counter cannot be read"))
	}
	r.value = float64(binary.NativeEndian.Uint64(value[:]))
	r.counted = r.value > 0
	return r, nil
}

// work computes, faults pages in and sleeps, so that most events have something to count.
func work() {
	const pages, pageSize = 64, 4096
	memory, err := unix.Mmap(-1, 0, pages*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return
	}
	defer unix.Munmap(memory)
	sum := byte(1)
	for i := range memory {
		memory[i] += sum
		sum += memory[i] * 3
	}
	nap := unix.NsecToTimespec(int64(50 * time.Microsecond))
	unix.Nanosleep(&nap, nil) // cut short by a signal it serves as well
}
