#!/bin/sh
# Answers like perf 6.1 on the machine named below, as far as vp-probe asks.
machine=@MACHINE@

case $machine in
wrapper)
	printf 'WARNING: perf not found for kernel 6.9.3\n\n  You may need to install the following packages for this specific kernel:\n    linux-tools-6.9.3\n' >&2
	exit 2
	;;
esac

if [ "$1" = --version ]; then
	echo 'perf version 6.1.187'
	exit 0
fi

case $machine in
hang)
	sleep 30 &
	wait
	;;
garbage)
	printf 'a,b,c,d,e,f\n,,,,,\n\377\376,1,cycles,x,y\n<>,,cpu-clock\n'
	printf 'what?\n' >&2
	exit 0
	;;
eacces)
	printf 'Error:\nAccess to performance monitoring and observability operations is limited.\nConsider adjusting /proc/sys/kernel/perf_event_paranoid setting.\n' >&2
	exit 255
	;;
eperm)
	printf 'Error:\nThe sys_perf_event_open() syscall returned with 1 (Operation not permitted) for event (cpu-clock).\n' >&2
	exit 255
	;;
esac

command=$1
events=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	if [ "$1" = -e ]; then
		events="$events $2"
		shift
	fi
	shift
done

missing() { # VALUE EVENT
	printf '<%s>,,%s,0,100.00,,\n' "$1" "$2"
}

hardware=0
count() { # EVENT
	case $1 in
	*-clock)
		printf '0.51,msec,%s%s,512345,100.00,0.910,CPUs utilized\n' "$1" "$user"
		return
		;;
	context-switches | cpu-migrations)
		[ -n "$user" ] && n=0 || n=3
		printf '%s,,%s%s,512345,100.00,,\n' "$n" "$1" "$user"
		return
		;;
	page-faults)
		printf '48,,%s%s,512345,100.00,,\n' "$1" "$user"
		return
		;;
	esac
	case $machine:$1 in
	vm* | *:LLC-*)
		missing 'not supported' "$1$user"
		return
		;;
	busy:*)
		missing 'not counted' "$1"
		return
		;;
	*:stalled-cycles-backend)
		printf '0,,%s,512345,100.00,,\n' "$1"
		return
		;;
	hybrid:*)
		missing 'not counted' "cpu_atom/$1/"
		printf '1200345,,cpu_core/%s/,512345,100.00,,\n' "$1"
		return
		;;
	esac
	hardware=$((hardware + 1))
	if [ $hardware -gt 6 ]; then
		printf '<not counted>,,%s,0,0.00,,\n' "$1"
	else
		printf '1200345,,%s,512345,100.00,,\n' "$1"
	fi
}

user=
case $machine in
*-user) user=:u ;;
esac

case $command in
stat)
	for event in $events; do
		count "$event"
	done
	;;
record)
	case $machine:$events in
	*-user:*sched:*)
		printf "event syntax error: 'sched:sched_switch'\n  can't access trace events\n" >&2
		exit 129
		;;
	esac
	printf 'PERFILE2\020\000\000\000\000\000\000\000'
	case $machine:$events in
	vm:*cycles* | countonly:*cycles*) exit 0 ;;
	esac
	# samples of user and of kernel code, and a switch
	printf '\011\000\000\000\002\000\010\000\011\000\000\000\002\000\010\000'
	[ -n "$user" ] || printf '\011\000\000\000\001\000\010\000'
	printf '\016\000\000\000\000\000\010\000'
	;;
esac
