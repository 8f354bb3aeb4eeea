#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Memory that cannot be had, one allocation after another: while recording and while reading.
# No program is ended by a signal or goes on for ever, what a recorder wrote can be read, and spoord goes on.
# A dozen allocations of each command; NOMEM_STEP=1 is the long run: all of them.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq

preload=$PRELOADS/libnomem.so
golden=$TOP/tests/golden/0.1.0/columns.spoor
[ -e "$preload" ] || bail "libnomem.so is not built"
# A sanitizer's allocator is not libc's.
ldd "$SPOOR" | grep -q 'lib[at]san' && skip_all "a sanitizer has the allocator"

starved() # AT FOR PROGRAM COMMAND...: its exit status
{
	NOMEM_AT=$1 NOMEM_FOR=$2 NOMEM_PROGRAM=$3 LD_PRELOAD=$preload timeout -s KILL 60 "${@:4}"
}

# Allocations as far as there are any, and a tenth more: threads do not have the same number each
# time. Exit statuses over 2 are signals, time, or assertions.
sweep() # NAME FOR CHECK COMMAND...
{
	local name=$1 for=$2 check=$3 at status total step runs=0 failed=0
	shift 3

	: >bad.out
	rm -f total
	NOMEM_TOTAL=$TMP/total starved 4000000000 1 spoor "$@" >/dev/null 2>&1
	total=$(cat total)
	in_range "${total:-0}" 20 40000 "$name: allocations"
	step=${NOMEM_STEP:-$((total / 12 + 1))}
	for ((at = 1; at <= total * 11 / 10; at += step)); do
		rm -f x.spoor
		starved "$at" "$for" spoor "$@" >out 2>err
		status=$?
		runs=$((runs + 1))
		[ $status -eq 0 ] || failed=$((failed + 1))
		[ $status -le 1 ] || { echo "allocation $at: exit $status" && cat err; } >>bad.out
		$check $status >>bad.out || echo "allocation $at: exit $status" >>bad.out
	done
	diag "$name: $total allocations, $runs runs, $failed of them failed"
	is "$(head -n 20 bad.out)" "" "$name: $runs times short of memory"
	in_range "$failed" 1 "$runs" "$name: and it mattered"
}

# What says that it succeeded has said everything, or what is missing.
the_same() # STATUS
{
	[ "$1" -ne 0 ] || [ -s err ] || cmp -s out whole || grep -q 'out of memory' out
}

unknown() # FILE: how many samples a report has no symbol for
{
	sed -n 's/^# \[unknown\]: \([0-9]*\) of .*/\1/p' "$1"
}

# An object that libelf has no memory for is one of those without names, which are listed; and a
# symbol may be without its version.
same_report() # STATUS
{
	local was now

	[ "$1" -eq 0 ] && [ ! -s err ] && ! cmp -s out whole || return 0
	cmp -s <(grep -v '^# \.' out | sed 's/@.*//') <(grep -v '^# \.' whole | sed 's/@.*//') && return
	was=$(unknown whole) now=$(unknown out)
	[ "${now:-0}" -gt "${was:-0}" ]
}

# A recording that was ended in order is whole; one that was not is readable, or not there.
recording() # STATUS
{
	local verdict

	[ -s x.spoor ] || [ "$1" -ne 0 ] || return 1
	[ -s x.spoor ] || return 0
	"$SPOOR" verify x.spoor >verify.out 2>&1
	verdict=$?
	[ $verdict -eq 0 ] || { [ "$1" -ne 0 ] && [ $verdict -eq 3 ] && return 0; }
}

sweep record 1 recording "$SPOOR" record -o x.spoor -F 199 -- "$FIXTURES/burn" 5
sweep "record, no more at all" 1000000 recording "$SPOOR" record -o x.spoor -F 199 -- "$FIXTURES/burn" 5
for command in info dump report verify "export -f folded" "export -f pprof" "export -f speedscope" "export -f callgrind" tree; do
	check=the_same
	[ "$command" != report ] || check=same_report
	# shellcheck disable=SC2086 # options of export
	"$SPOOR" $command "$golden" >whole 2>/dev/null
	# shellcheck disable=SC2086
	sweep "$command" 1 $check "$SPOOR" $command "$golden"
done

# --- spoord -------------------------------------------------------------------------------------

# It does not start and says why; or it records, at the latest when it has tried again.
cat >spoord.conf <<-EOC
	archive_directory = $TMP/archive
	control_socket = $TMP/socket
	control_group = root
	frequency = 999
	max_use = 16M
	keep_free = 1
	block_age = 1s
	cpu_budget = 0
EOC

records() # PID
{
	! kill -0 "$1" 2>/dev/null ||
		[ "$("$BUILD/spoorctl" --socket "$TMP/socket" status --json | jq .samples)" -gt 0 ]
}

daemon() # AT FOR: prints what is wrong
{
	local pid status file

	rm -rf archive
	mkdir -m 750 archive
	NOMEM_AT=$1 NOMEM_FOR=$2 NOMEM_PROGRAM=spoord LD_PRELOAD=$preload \
		"$BUILD/spoord" -c spoord.conf --foreground >out 2>err &
	pid=$!
	background_pids=("${background_pids[0]}" "$pid")
	wait_for 20 records "$pid" || echo "it records nothing"
	kill -TERM "$pid" 2>/dev/null && ended=$((ended + 1))
	wait "$pid"
	status=$?
	[ $status -le 1 ] || [ $status -eq 78 ] || echo "exit $status"
	[ $status -eq 0 ] || [ -s err ] || echo "exit $status, and no word"
	for file in archive/*.spoor*; do
		[ -s "$file" ] || continue
		"$SPOOR" verify "$file" >verify.out 2>&1
		status=$?
		[ $status -eq 0 ] || [ "$("$SPOOR" info --json "$file" 2>/dev/null | jq .damaged_blocks)" = 0 ] ||
			{ echo "verify: exit $status" && cat verify.out; }
	done
}

background "$FIXTURES/burn" 3600000 1 20 >/dev/null 2>&1
runs=0 ended=0
: >bad.out
for ((at = 1; at < 6000; at += 37 * ${NOMEM_STEP:-29})); do
	for for in 1 40; do
		daemon "$at" $for >wrong.out 2>&1
		[ ! -s wrong.out ] || { echo "allocation $at, $for:" && cat wrong.out err; } >>bad.out
		runs=$((runs + 1))
	done
done
is "$(head -n 20 bad.out)" "" "spoord: $runs times short of memory"
in_range $ended 1 $((runs - 1)) "spoord: some of them too early for a start ($ended were not)"
done_testing
