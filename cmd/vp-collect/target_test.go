package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// target is a program to profile. Its first argument says what it does.
func target() {
	args := os.Args[2:]
	switch os.Args[1] {
	case "exit":
		status, _ := strconv.Atoi(args[0])
		os.Exit(status)
	case "spin": // milliseconds of CPU time
		ms, _ := strconv.Atoi(args[0])
		spin(time.Duration(ms) * time.Millisecond)
	case "signals": // FILE MS: which signals come
		got := make(chan os.Signal, 16)
		signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
		os.WriteFile(args[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
		ms, _ := strconv.Atoi(args[1])
		timeout := time.After(time.Duration(ms) * time.Millisecond)
		for {
			select {
			case s := <-got:
				fmt.Fprintln(os.Stderr, "target got", unix.SignalName(s.(syscall.Signal)))
			case <-timeout:
				return
			}
		}
	case "memory": // MB, touched, for a while; says what the kernel thinks its peak was
		mb, _ := strconv.Atoi(args[0])
		block := make([]byte, mb<<20)
		for i := range block {
			block[i] = 1
		}
		time.Sleep(300 * time.Millisecond)
		block[0]++
		status, _ := os.ReadFile("/proc/self/status")
		_, hwm, _ := strings.Cut(string(status), "VmHWM:")
		hwm, _, _ = strings.Cut(hwm, "kB")
		fmt.Fprintln(os.Stderr, "peak", strings.TrimSpace(hwm))
	case "children": // N of them, each holding some memory
		n, _ := strconv.Atoi(args[0])
		var children []*exec.Cmd
		for range n {
			child := exec.Command("target", "memory", "8")
			child.Start()
			children = append(children, child)
		}
		for _, child := range children {
			child.Wait()
		}
	case "daemon": // FILE: leaves a child behind
		child := exec.Command("sleep", "30")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Start()
		os.WriteFile(args[0], []byte(strconv.Itoa(child.Process.Pid)), 0o600)
	case "inherited": // what is inherited, one thing a line
		status, _ := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "SigIgn") || strings.HasPrefix(line, "SigBlk") {
				fmt.Print(line)
			}
		}
	}
}

func spin(d time.Duration) {
	var ts unix.Timespec
	for ts.Nano() < int64(d) {
		for range 10000 {
			sink++
		}
		unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts)
	}
}

var sink int
