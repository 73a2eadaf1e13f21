package collect

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watcherName is the first argument and the comm of the watcher.
const watcherName = "vp-watch"

// forwarded are the signals that are meant for the command when they reach the collector.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// notIgnored leaves out the signals that were ignored when the program started, as SIGINT
// is in a background job and SIGHUP under nohup: catching them would un-ignore them in the
// command, too.
func notIgnored(signals []os.Signal) []os.Signal {
	var caught []os.Signal
	for _, s := range signals {
		if !signal.Ignored(s) {
			caught = append(caught, s)
		}
	}
	return caught
}

// watch is the watcher's side. Its arguments are two file descriptors: of the orders that
// it reads and of the news that it writes. It does two things that the collector cannot do
// itself:
//
//   - When the orders end without a farewell, the collector was killed: it ends the perf
//     processes and removes the temporary directory. (The parent-death signal alone is not
//     enough: a perf with file capabilities does not get it.)
//   - It sits in the same process group as the collector and the command, and says which
//     signals it gets. A signal that all three got, like Ctrl-C, is not forwarded.
func watch(args []string) int {
	orders, news := os.NewFile(uintptr(argFD(args[0])), "orders"), os.NewFile(uintptr(argFD(args[1])), "news")
	rename(watcherName)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, notIgnored(forwarded)...)
	go func() {
		for s := range signals {
			fmt.Fprintln(news, int(s.(syscall.Signal)))
		}
	}()
	fmt.Fprintln(news, 0) // ready

	var groups []int
	var trash []string
	lines := bufio.NewReader(orders)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		order, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch order {
		case "watch", "forget":
			pid, err := strconv.Atoi(what)
			if err != nil || pid <= 1 {
				continue // 0 and -1 would mean our own group and everybody
			}
			if order == "watch" {
				groups = append(groups, pid)
			} else {
				groups = slices.DeleteFunc(groups, func(group int) bool { return group == pid })
			}
		case "remove":
			if name, err := strconv.Unquote(what); err == nil {
				trash = append(trash, name)
			}
		case "farewell":
			return 0
		}
	}
	endGroups(groups)
	for _, name := range trash {
		_ = os.RemoveAll(name) // nobody is left to tell
	}
	return 0
}

// endGroups ends process groups of perfs, which are not our children, and gives them time
// to write their files.
func endGroups(groups []int) {
	gone := func(s syscall.Signal) func(int) bool {
		return func(group int) bool { return syscall.Kill(-group, s) != nil }
	}
	groups = slices.DeleteFunc(groups, gone(syscall.SIGTERM))
	for until := time.Now().Add(5 * time.Second); len(groups) > 0 && time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		groups = slices.DeleteFunc(groups, gone(0))
	}
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// watcher is the collector's side.
type watcher struct {
	process *os.Process
	orders  *os.File
	up      chan struct{} // closed when it is ready, or gone

	mu   sync.Mutex
	seen map[syscall.Signal]time.Time
}

// startWatcher starts a watcher. Like startLauncher, it must not run beside anything that forks.
func startWatcher() (*watcher, error) {
	ordersR, ordersW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ordersR.Close()
	newsR, newsW, err := os.Pipe()
	if err != nil {
		ordersW.Close()
		return nil, err
	}
	defer newsW.Close()
	process, err := os.StartProcess(self, []string{watcherName, inherit(ordersR), inherit(newsW)}, &os.ProcAttr{
		Files: []*os.File{nil, nil, nil}, // a watcher must not keep anybody's pipe open
	})
	if err != nil {
		ordersW.Close()
		newsR.Close()
		return nil, fmt.Errorf("starting the watcher: %w", err)
	}
	w := &watcher{process: process, orders: ordersW, up: make(chan struct{}), seen: map[syscall.Signal]time.Time{}}
	go w.listen(newsR)
	return w, nil
}

func (w *watcher) listen(news *os.File) {
	defer news.Close()
	up := sync.OnceFunc(func() { close(w.up) })
	defer up()
	for {
		var s int
		if _, err := fmt.Fscanln(news, &s); err != nil {
			return
		}
		if s == 0 {
			up()
			continue
		}
		w.mu.Lock()
		w.seen[syscall.Signal(s)] = time.Now()
		w.mu.Unlock()
	}
}

// grace is how far apart the watcher and the collector may notice one signal.
const grace = 100 * time.Millisecond

// saw reports whether the watcher got the signal, too. It waits for the news.
func (w *watcher) saw(s syscall.Signal) bool {
	for here := time.Now(); ; time.Sleep(grace / 50) {
		w.mu.Lock()
		there := w.seen[s]
		w.mu.Unlock()
		if !there.Before(here.Add(-grace)) {
			return true
		}
		if time.Since(here) > grace {
			return false
		}
	}
}

func (w *watcher) order(format string, args ...any) {
	fmt.Fprintf(w.orders, format+"\n", args...) // a watcher that is gone cannot be helped
}

func (w *watcher) watch(pid int)      { w.order("watch %d", pid) }
func (w *watcher) forget(pid int)     { w.order("forget %d", pid) }
func (w *watcher) remove(name string) { w.order("remove %q", name) }

// close dismisses the watcher.
func (w *watcher) close() error {
	w.order("farewell")
	w.orders.Close()
	_, err := w.process.Wait()
	return err
}
