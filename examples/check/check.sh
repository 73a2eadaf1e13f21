#!/bin/bash
# check.sh BIN TIER...: do the workloads do what their head comments promise?
set -euo pipefail

bin=$1
shift
tiers=("$@")
passed=0 failed=0

# verdict NAME STATUS [DETAIL]: counts one check.
verdict() {
	if [[ $2 == 0 ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAIL: %s%s\n' "$1" "${3:+: $3}"
	fi
}

# holds NAME EXPRESSION: awk decides, so that fractions work.
holds() {
	local status=0
	awk "BEGIN { exit !($2) }" || status=1
	verdict "$1" "$status" "not true: $2"
}

# value KEY OUTPUT
value() {
	awk -v key="$1" '$1 == key { print $2 }' <<<"$2"
}

# refuses PROGRAM [ARG...]: bad arguments are a usage error: status 2, a line on stderr, nothing on stdout.
refuses() {
	local status=0 out err
	err=$(mktemp)
	out=$("$@" 2>"$err") || status=$?
	if [[ $status == 2 && -z $out && $(<"$err") == usage:* ]]; then
		verdict "refuses $*" 0
	else
		verdict "refuses $*" 1 "status $status, stdout '$out', stderr '$(<"$err")'"
	fi
	rm -f "$err"
}

refuses "$bin/membound"
refuses "$bin/membound" 65536
refuses "$bin/membound" 65536 1 1
for bytes in '' 0 127 -65536 +65536 ' 65536' 64k 0x10000 1e6 99999999999999999999; do
	refuses "$bin/membound" "$bytes" 0
done
for seconds in '' x -1 1s nan inf 86401; do
	refuses "$bin/membound" 65536 "$seconds"
done
for program in "${tiers[@]}"; do
	refuses "$program"
	for passes in '' 0 -1 +1 x 1k 99999999999999999999; do
		refuses "$program" "$passes"
	done
done
for rounds in '' 0 -1 x 1000001 '1 1'; do
	refuses "$bin/sleeper" "$rounds"
done
refuses "$bin/sleeper" 1 1
for seconds in '' 0 -1 x nan inf 1s; do
	refuses "$bin/threads" "$seconds"
done
refuses "$bin/threads" 1 1

# membound: every page is touched, a lap is walked even in no time, and the same nodes make the same sum.
bytes=33554432
out=$("$bin/membound" "$bytes" 0)
holds 'membound visits one node a cache line' "$(value nodes "$out") == $bytes / 64"
holds 'membound walks a whole lap in no time' "$(value loads "$out") == $(value nodes "$out")"
holds 'membound touches every page' "$(value page_faults "$out") >= $bytes / $(getconf PAGESIZE)"
again=$("$bin/membound" "$bytes" 0.1)
status=0
[[ $(value checksum "$again") == "$(value checksum "$out")" ]] || status=1
verdict 'membound has the same checksum again' "$status" "$again"
holds 'membound goes on until the time is up' "$(value loads "$again") * $(value ns_per_load "$again") >= 1e8"

# simd_levels: the same sum from every tier, and the scalar one really is scalar.
sum=$(value checksum "$("$bin/simd_levels_scalar" 1000)")
for program in "${tiers[@]}"; do
	tier=$(value checksum "$("$program" 1000)")
	holds "${program##*/} agrees with the scalar tier" "$sum > 0 && ($tier - $sum) ^ 2 <= (1e-6 * $sum) ^ 2"
done
if [[ -x $bin/simd_levels_sse ]]; then
	# code PROGRAM: the instructions of the hot function.
	code() {
		objdump -d --no-show-raw-insn "$1" | awk '/weighted_dot.*>:$/ { on = 1 } on && /^$/ { on = 0 } on'
	}
	status=0
	[[ $(code "$bin/simd_levels_scalar") =~ mulss && ! $(code "$bin/simd_levels_scalar") =~ (mul|add)ps ]] || status=1
	verdict 'simd_levels_scalar multiplies one float at a time' "$status"
	for program in "${tiers[@]}"; do
		status=0
		[[ ! $(code "$program") =~ fn?m(add|sub) ]] || status=1
		verdict "${program##*/} fuses nothing" "$status"
	done
	for register in sse:xmm avx:ymm avx512:zmm; do
		program=$bin/simd_levels_${register%:*}
		[[ " ${tiers[*]} " == *" $program "* ]] || continue
		status=0
		[[ $(code "$program") =~ mulps[^$'\n']*${register#*:} ]] || status=1
		verdict "${program##*/} multiplies in ${register#*:} registers" "$status"
	done
fi

# sleeper: two thirds of the time asleep, whatever else the machine is doing (which can only take CPU time away).
out=$("$bin/sleeper" 2)
holds 'sleeper sleeps two thirds of the time' "$(value asleep_percent "$out") > 60 && $(value asleep_percent "$out") < 75"
holds 'sleeper computes for at most the other third' "$(value cpu_percent "$out") > 5 && $(value cpu_percent "$out") < 40"

# threads: ends in time with the same answers.
out=$("$bin/threads" 0.3)
again=$("$bin/threads" 0.1)
status=0
[[ $(value checksum "$again") == "$(value checksum "$out")" && $(value threads "$out") == 8 ]] || status=1
verdict 'threads has the same checksum again' "$status" "$out $again"
holds 'threads ends in time' "$(value wall_s "$out") >= 0.3 && $(value wall_s "$out") < 3"

printf 'examples: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
