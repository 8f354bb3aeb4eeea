#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# From its wake-up on a thread waits for a CPU, off-cpu:runnable: as long as perf sched timehist says of the same run.
# That is no part of off-cpu:blocked, which is as long as a sleep that was asked for.
. "$(dirname "$0")/../lib.sh"
need_command jq perf taskset
need_record_all
tracefs=/sys/kernel/tracing
if ! [ -r $tracefs/events/sched/sched_waking/id ]; then
	mount -t tracefs tracefs $tracefs 2>/dev/null || skip_all "no tracepoints here"
	at_exit "umount $tracefs"
fi
cp "$FIXTURES/waits" woken_late
cp "$FIXTURES/burn" burn_beside
FILE=$TMP/file
if [ "$(stat -f -c %T .)" = tmpfs ]; then
	FILE=/var/tmp/spoor-wakeups.$$
	at_exit "rm -f $FILE"
fi

of() # FILE EVENT...: ns of these waits of woken_late
{
	local file=$1 event
	shift
	for event; do
		"$SPOOR" export -f csv -i "$file" --comm woken_late --event "off-cpu:$event" 2>>err | sed 1d
	done | awk -F, '{ n += $8 } END { printf "%.0f\n", n }'
}
near() # GOT WANTED NAME: within 5 %
{
	in_range "$1" $(($2 - $2 / 20)) $(($2 + $2 / 20)) "$3"
}

# Who is nice shares CPU 0 with one that is not, which has it most of the time: when it is woken it waits for long.
cat >load.sh <<'SH'
taskset -c 0 ./burn_beside 600000 >/dev/null &
taskset -c 0 nice -n 19 ./woken_late kinds 20 "$1" >told
kill $!
SH
for how in "" "-a"; do
	# shellcheck disable=SC2086 # an option
	exits 0 "recorded: ${how:-a command}" "$SPOOR" record --off-cpu $how -m 1024 -o late.spoor -- \
		perf sched record -q -o sched.data -- sh load.sh "$FILE"
	unlike "$(cat err)" 'not told apart' "nothing is missing"
	perf sched timehist -i sched.data 2>>perf.err >timehist.all
	grep "woken_late\[" timehist.all >timehist
	# Columns: wait time, sch delay, run time in ms. The first row of a thread is of no wait: it has just begun.
	delay=$(awk '$(NF - 2) > 0 { n += $(NF - 1) } END { printf "%.0f\n", n * 1e6 }' timehist)
	wait=$(awk '{ n += $(NF - 2) } END { printf "%.0f\n", n * 1e6 }' timehist)
	runnable=$(of late.spoor runnable)
	in_range "$delay" 20000000 1e12 "it waited for its CPU after it was woken"
	# Of a whole busy machine records may be lost, and waits with them.
	least=$((delay - delay / 20))
	[ -z "$how" ] || least=1
	in_range "$runnable" $least $((delay + delay / 20)) "runnable: as long as perf sched says"
	[ -n "$how" ] || near "$(of late.spoor blocked io runnable preempted)" "$wait" "and all reasons together"
	in_range "$(awk '/^wait_asleep/ { print $2 }' told)" 1 1e12 "the program tells of its sleeps"
done

# It cannot sleep for less than it asked for: runnable takes nothing that was a sleep. Of all rounds that is the sum.
asleep() # EVENT...: ns below its function
{
	local event
	for event; do
		"$SPOOR" export -f folded -i sleep.spoor --event "off-cpu:$event" 2>>err
	done | awk 'index($0, ";wait_asleep;") { n += $NF } END { printf "%.0f\n", n }'
}
# shellcheck disable=SC2016 # the shell that is recorded expands it
exits 0 "a sleeper" "$SPOOR" record --off-cpu -o sleep.spoor -- sh -c \
	'taskset -c 0 ./burn_beside 600000 >/dev/null & taskset -c 0 nice -n 19 ./woken_late kinds 40 "$1"; kill $!' - "$FILE"
told=$(awk '/^wait_asleep/ { print $2 }' out)
in_range "$(asleep blocked)" $((6 * 40000000 * 98 / 100)) "$told" "is blocked for as long as it asked for, and no more than it was off the CPU"
near "$(asleep blocked runnable preempted)" "$told" "which all reasons together are"

exits 0 "two that spin on one CPU" "$SPOOR" record --off-cpu -o spin.spoor -- sh -c \
	'taskset -c 0 ./woken_late spin 500 & taskset -c 0 ./woken_late spin 500; wait'
told=$(awk '{ n += $2 } END { print n }' out)
in_range "$(of spin.spoor preempted)" $((told * 9 / 10)) 1e12 "were preempted, runnable all the time"
in_range "$(of spin.spoor runnable)" 0 $((told / 10)) "and nobody woke them"

# --- who woke whom --------------------------------------------------------------------------------

cp "$FIXTURES/waits" wakes_other
exits 0 "two processes and a pipe" "$SPOOR" record --off-cpu=waker -o waker.spoor -- taskset -c 0 ./wakes_other pingpong 500
woken() # FILE WAKER OPTION...: how many waits it ended
{
	local file=$1 waker=$2
	shift 2
	"$SPOOR" report --json -s comm,waker -i "$file" --event off-cpu:blocked "$@" 2>>err |
		jq --arg w "$waker" '[.. | objects | select(.waker? == $w) | .samples] | unique | add // 0'
}
all=$("$SPOOR" export -f csv -i waker.spoor --comm wakes_other --event off-cpu:blocked 2>>err | sed 1d | wc -l)
in_range "$all" 100 1010 "both wait"
in_range "$(woken waker.spoor wakes_other --comm wakes_other)" $((all * 9 / 10)) "$all" "each wakes the other"
in_range "$(woken sleep.spoor '[interrupt]' --comm woken_late)" 6 1e6 "a sleep ends by a timer's interrupt"

# --- where it is not told apart -------------------------------------------------------------------

is "$("$SPOOR" report --json -i spin.spoor 2>>err | jq '[.events[].event | select(test("wakeups"))] | length')" 0 \
	"wake-ups are no event of a report"
for how in no-wakeups freq=1000; do
	exits 0 "--off-cpu=$how" "$SPOOR" record --off-cpu=$how -o none.spoor -- ./woken_late pingpong 500
	is "$(of none.spoor runnable)" 0 "has no such waits"
	is "$("$SPOOR" info --json none.spoor | jq -r '[.events[].name | select(. == "wakeups")] | length')" 0 "and no wake-ups"
done
# In a mount namespace of its own, which no killed test leaves behind.
# shellcheck disable=SC2016 # the shell inside expands it
untraced=(unshare --mount --propagation private sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$tracefs")
exits 1 "who wakes, without tracepoints" "${untraced[@]}" "$SPOOR" record --off-cpu=waker -o none.spoor -- true
like "$(cat err)" 'who wakes threads is not told: .*tracefs' "is refused, and why"
exits 0 "without tracepoints" "${untraced[@]}" "$SPOOR" record --off-cpu -o none.spoor -- ./woken_late pingpong 500
like "$(cat err)" 'after they were woken is not told apart: .*tracefs' "it is said, and why"
is "$(of none.spoor runnable)" 0 "and all of it is blocked"
exits 0 "inside of a PID namespace" unshare --pid --fork --mount-proc "$SPOOR" record --off-cpu -o none.spoor -- \
	./woken_late pingpong 500
like "$(cat err)" 'not told apart: tracepoints tell pids of the host' "pids of tracepoints are not the namespace's: said, too"
is "$(of none.spoor runnable)" 0 "and nothing is guessed"

# By way of perf.data, whose reader knows the event by its format.
"$SPOOR" export -f perf-data-file -i late.spoor -o late.data 2>>err
is "$(of late.data runnable)" "$runnable" "by way of perf.data: the same"
# Wake-ups share the ring of a CPU: it has room for them, since a lost one costs waits.
ring_of() { "$SPOOR" record -p $$ --dry-run --json "$@" | jq '.[0].attr.wakeup_events * 8 / 3'; }
is "$(ring_of --off-cpu)" $((4 << 20)) "a ring has room for wake-ups"
is "$(ring_of --off-cpu=no-wakeups)" $((128 * 4096)) "without them it is as large as for samples"

done_testing
