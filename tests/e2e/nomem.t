#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Memory that cannot be had, one allocation after another: while recording and while reading.
# No program is ended by a signal or goes on for ever, and what a recorder wrote can be read.
# NOMEM_STEP=1 is the long run: every allocation.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq

step=${NOMEM_STEP:-29}
preload=$FIXTURES/libnomem.so
golden=$TOP/tests/golden/0.1.0/columns.spoor
[ -e "$preload" ] || bail "libnomem.so is not built"
# A sanitizer's allocator is not libc's.
ldd "$SPOOR" | grep -q 'lib[at]san' && skip_all "a sanitizer has the allocator"

starved() # AT FOR PROGRAM COMMAND...: its exit status
{
	NOMEM_AT=$1 NOMEM_FOR=$2 NOMEM_PROGRAM=$3 LD_PRELOAD=$preload timeout -s KILL 60 "${@:4}"
}

# Every step-th allocation, until the outcome has been that of plenty for a good while: then there
# are no more. Exit statuses over 2 are signals, time, or assertions.
sweep() # NAME FOR CHECK COMMAND...
{
	local name=$1 for=$2 check=$3 at status good=0 runs=0 failed=0
	shift 3

	: >bad.out
	for ((at = 1; good * step < 1160 && at < 40000; at += step)); do
		rm -f x.spoor
		starved "$at" "$for" spoor "$@" >out 2>err
		status=$?
		runs=$((runs + 1))
		if [ $status -eq 0 ]; then
			good=$((good + 1))
		else
			good=0
			failed=$((failed + 1))
		fi
		[ $status -le 1 ] || { echo "allocation $at: exit $status" && cat err; } >>bad.out
		$check $status >>bad.out || echo "allocation $at: exit $status" >>bad.out
	done
	diag "$name: $runs runs, $failed of them failed"
	is "$(head -n 20 bad.out)" "" "$name: $runs times short of memory"
	in_range "$failed" 1 "$runs" "$name: and it mattered"
}

# What says that it succeeded has said everything, or what is missing.
the_same() # STATUS
{
	[ "$1" -ne 0 ] || [ -s err ] || cmp -s out whole || grep -Eq "$told" out
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
for command in info dump report verify "export -f folded"; do
	told='out of memory'
	# An object that libelf has no memory for is one of those without names, which are listed.
	[ "$command" != report ] || told='^# .*burn'
	# shellcheck disable=SC2086 # options of export
	"$SPOOR" $command "$golden" >whole 2>/dev/null
	# shellcheck disable=SC2086
	sweep "$command" 1 the_same "$SPOOR" $command "$golden"
done
done_testing
