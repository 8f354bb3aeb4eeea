#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Times off the CPU, against what a program measured around each of its waits by its own clocks.
. "$(dirname "$0")/../lib.sh"
need_command perf taskset setpriv
need_record_all

tracefs=/sys/kernel/tracing
if ! [ -r $tracefs/events/sched/sched_waking/id ] && mount -t tracefs tracefs $tracefs 2>/dev/null; then
	at_exit "umount $tracefs"
fi
runnable=
[ ! -r $tracefs/events/sched/sched_waking/id ] || runnable=" off-cpu:runnable"

WAITS=$FIXTURES/waits
FILE=$TMP/file
# What lies in memory is not waited for.
if [ "$(stat -f -c %T .)" = tmpfs ]; then
	FILE=/var/tmp/spoor-off-cpu.$$
	at_exit "rm -f $FILE"
fi

seen() # FILE FUNCTION EVENT...: ns of these events below the function, inside the caller's or not
{
	local file=$1 function=$2 event
	shift 2
	for event; do
		"$SPOOR" export -f folded -i "$file" --event "off-cpu:$event" 2>>err
	done | awk -v f=";$function;" 'index($0, f) { n += $NF } END { printf "%.0f\n", n }'
}

agrees() # NS WANTED NAME: within 2 %
{
	in_range "$1" $(($2 - $2 / 50)) $(($2 + $2 / 50)) "$3"
}

told() # FUNCTION: what the program said
{
	awk -v f="$1" '$1 == f { print $2 }' told
}

# --- how long, where, why --------------------------------------------------------------------------

for how in "" "-a" "--call-graph dwarf -m 1024"; do
	# shellcheck disable=SC2086 # several options
	exits 0 "recorded: ${how:-the command}" "$SPOOR" record --off-cpu $how -o kinds.spoor -- \
		"$WAITS" kinds 40 "$FILE"
	cp out told
	for function in asleep pipe lock disk; do
		agrees "$(seen kinds.spoor wait_$function blocked io runnable preempted)" "$(told wait_$function)" \
			"wait_$function: as long as the program measured"
	done
	blocked=$(seen kinds.spoor wait_asleep blocked runnable)
	in_range "$blocked" $(($(told wait_asleep) * 9 / 10)) "$(told wait_asleep)0" "who sleeps is blocked"
	is "$(seen kinds.spoor wait_asleep io) $(seen kinds.spoor wait_pipe io)" "0 0" "and waits for no device"
	in_range "$(seen kinds.spoor wait_disk io)" $(($(told wait_disk) / 2)) "$(told wait_disk)0" \
		"reading a file past the cache: io"
done

exits 0 "two that spin on one CPU" "$SPOOR" record --off-cpu -o spin.spoor -- sh -c \
	'taskset -c 0 "$1" spin 700 & taskset -c 0 "$1" spin 700; wait' - "$WAITS"
awk '{ n += $2 } END { printf "wait_spin %.0f\n", n }' out >told
in_range "$(told wait_spin)" 300000000 1e18 "each waited for the other"
agrees "$(seen spin.spoor wait_spin preempted)" "$(told wait_spin)" "all of that is preempted"
is "$(seen spin.spoor wait_spin blocked io)" 0 "none is blocked"

background "$WAITS" kinds 150 "$FILE" >attached
pid=$!
exits 0 "a process that runs already" "$SPOOR" record --off-cpu -p $pid -o attached.spoor
like "$("$SPOOR" report -i attached.spoor --event off-cpu:blocked --sort sym 2>&1)" 'do_nanosleep|hrtimer_nanosleep' \
	"has its waits, by the function of the kernel that waited"
unlike "$("$SPOOR" report -i attached.spoor --event 'off-cpu:*' --sort sym 2>&1)" ' schedule$' \
	"and not by the scheduler's"

# --- the same in all forms ------------------------------------------------------------------------

# Two more on one CPU: a report tells of a reason that there was, and who has a CPU of its own is not preempted.
# shellcheck disable=SC2016
"$SPOOR" record --off-cpu -o kinds.spoor -- sh -c 'taskset -c 0 "$1" spin 200 & taskset -c 0 "$1" spin 200; "$1" kinds 20 "$2"; wait' \
	- "$WAITS" "$FILE" >told 2>err
sum=$("$SPOOR" export -f csv -i kinds.spoor --event off-cpu:blocked 2>>err | awk -F, 'NR > 1 { n += $8 } END { printf "%.0f", n }')
is "$("$SPOOR" export -f folded -i kinds.spoor --event off-cpu:blocked | awk '{ n += $NF } END { printf "%.0f", n }')" "$sum" \
	"folded stacks weigh ns"
is "$("$SPOOR" export -f folded --weight samples -i kinds.spoor --event off-cpu:blocked | awk '{ n += $NF } END { printf "%.0f", n }')" \
	"$("$SPOOR" export -f csv -i kinds.spoor --event off-cpu:blocked | sed 1d | wc -l)" "or waits, if that is asked for"
"$SPOOR" export -f speedscope -i kinds.spoor --event off-cpu:blocked -o waits.json 2>>err
is "$(json waits.json '.profiles[0].unit + " " + ([.profiles[].weights | add] | add | tostring)')" "nanoseconds $sum" \
	"speedscope has ns"
"$SPOOR" export -f firefox -i kinds.spoor --event off-cpu:blocked -o firefox.json 2>>err
is "$(json firefox.json '[.threads[].samples.weight | select(. != null) | add] | add | . * 1e6 | round')" "$sum" \
	"firefox has them, in ms"
like "$("$SPOOR" timeline -i kinds.spoor --event off-cpu:blocked 2>&1)" 'Waited s' "timeline: seconds waited"
like "$("$SPOOR" flamegraph -i kinds.spoor -o - --event off-cpu:blocked 2>>err | grep -o '"name":"off-cpu:blocked"[^}]*')" \
	'"wait":1' "a page knows that they are times"
"$SPOOR" report --json -i kinds.spoor >report.json 2>>err
is "$(json report.json '[.events[].event] | join(" ")')" "cpu-clock:I off-cpu:blocked off-cpu:io$runnable off-cpu:preempted" \
	"a report has the clock, and an event for each reason"
"$SPOOR" export -f perf-data-file -i kinds.spoor -o kinds.data 2>>err
# Such a file has no kernel symbols, which tell what waits for a device.
all_waits() # FILE
{
	"$SPOOR" export -f csv -i "$1" --event 'off-cpu:*' 2>>err | awk -F, 'NR > 1 { n += $8 } END { printf "%.0f", n }'
}
is "$(all_waits kinds.data)" "$(all_waits kinds.spoor)" "by way of perf.data: the same times"
is "$(perf script -i kinds.data --show-switch-events 2>>err | grep -c 'PERF_RECORD_SWITCH')" \
	"$("$SPOOR" dump kinds.spoor 2>>err | grep -c ' SWITCH')" "perf reads the SWITCH records"

# Linux gives the samples of the second recording the ids of the first one's.
# The first one is there from before the program to after it, however long its file system takes.
background sh -c 'exec "$SPOOR" record --off-cpu -a -o first.spoor -- sh -c "echo >begun; until [ -e over ]; do sleep 0.05; done" 2>first.err'
first=$!
wait_for 60 test -s begun
exits 0 "beside another such recording" "$SPOOR" record --off-cpu -o second.spoor -- "$WAITS" kinds 20 "$FILE"
cp out told
: >over
wait $first
for file in first second; do
	agrees "$(seen $file.spoor wait_asleep blocked io runnable preempted)" "$(told wait_asleep)" "$file: all waits are there"
	unlike "$("$SPOOR" info $file.spoor)" 'not parseable' "and all records are read"
done

# --- what bounds it -------------------------------------------------------------------------------

exits 0 "waits of 10 ms at least" "$SPOOR" record --off-cpu=10ms -o long.spoor -- "$WAITS" kinds 20 "$FILE"
"$SPOOR" export -f csv -i long.spoor --event 'off-cpu:*' 2>>err | sed 1d >long.csv
in_range "$(wc -l <long.csv)" 18 1000 "those are there"
is "$(awk -F, '$8 < 10000000' long.csv | wc -l)" 0 "and no other"

# Of an event with a frequency each sample stands for many switches; all together for all that there were, or
# more: where the kernel shortens a period, the next sample comes at once and still says the long one
# (perf_adjust_period() clears period_left). perf record -F 500 says up to 1.95 times as many of this program.
exits 0 "a storm of switches" "$SPOOR" record --off-cpu=freq=500 -o storm.spoor -- taskset -c 0 "$WAITS" pingpong 240000
cp out told
samples=$("$SPOOR" info --json storm.spoor | jq '.events[] | select(.name | startswith("off-cpu")) | .samples')
switches=$("$SPOOR" dump storm.spoor | awk '/ SAMPLE / && /off-cpu/ { for (i = 1; i <= NF; i++) if ($i ~ /^period=/) n += substr($i, 8) } END { printf "%.0f", n }')
in_range "$samples" 20 $(($(told ns) / 1000000 + 600)) "no more samples than twice what was asked for"
in_range "$switches" $(($(told switches) * 95 / 100)) $(($(told switches) * 3)) "which stand for all switches"

# A capture has its share of a CPU, and pauses: nobody waits through a pause, as far as anybody knows.
. "$TOP/tests/daemon.sh"
printf 'archive_directory = %s\ncontrol_socket = %s\nmax_use = 256M\nkeep_free = 1\ncapture_cpu = 2%%\n' \
	"$TMP/archive" "$socket" >spoord.conf
start
wait_for 20 ctl status
background taskset -c 0 "$WAITS" pingpong 100000000 >storm.out
exits 0 "a capture of the daemon" ctl capture -e off-cpu --duration 3s -o capture.spoor
kill $!
stop
"$SPOOR" info --json capture.spoor | jq -r '.gaps[] | select(.cause == "paused") | "\(.start_ns) \(.end_ns)"' >pauses
"$SPOOR" export -f csv -i capture.spoor --event 'off-cpu:*' 2>>err | sed 1d | cut -d, -f2-8 >waits
in_range "$(wc -l <pauses)" 2 1000 "that pauses"
in_range "$(wc -l <waits)" 100 1e9 "and has waits in between"
is "$(awk -F'[ ,]' 'NR == FNR { from[NR] = $1; until[NR] = $2; n = NR; next }
	{ for (i = 1; i <= n; i++) if (from[i] + 0 < $1 + 0 && until[i] + 0 > $1 - $NF) c++ }
	END { print c + 0 }' pauses waits)" 0 "but none of them through a pause"

exits 0 "beside a clock of another frequency" "$SPOOR" record --off-cpu -F 500 -o both.spoor -- "$WAITS" spin 300
is "$("$SPOOR" info --json both.spoor | jq -r '[.events[] | .name] | join(" ")')" "cpu-clock:I off-cpu${runnable:+ wakeups} dummy:u" "has both"

# Nobody knows what threads did while sampling was off: the clock of the program that turned it off and on tells when.
cat >pauses.sh <<'EOF2'
now() { python3 -c 'import time; print(time.monotonic_ns())'; }
ask() { echo "$1" >ctl; read -r _ <ack; }
mkfifo line back
sh -c 'echo >back; while read -r _; do echo >back; done' <line &
exec 7>line
read -r _ <back
ask disable
now
for _ in 1 2 3; do echo >&7; read -r _ <back; done
now
ask enable
echo >&7
read -r _ <back
EOF2
mkfifo ctl ack
exits 0 "sampling that is turned off meanwhile" timeout 60 "$SPOOR" record --off-cpu --control fifo:ctl,ack -o off.spoor -- bash pauses.sh
xargs <out >told
is "$("$SPOOR" info --json off.spoor | jq -r --arg t "$(cat told)" '($t | split(" ") | map(tonumber)) as $t |
	[.gaps[] | .cause, (.start_ns <= $t[0]), (.end_ns >= $t[1])] | join(" ")')" "paused true true" "is a gap"
is "$("$SPOOR" export -f csv -i off.spoor --event 'off-cpu:*' 2>>err | sed 1d | cut -d, -f2-8 |
	awk -F'[ ,]' 'NR == FNR { from = $1; until = $2; next } until + 0 > $1 - $NF && from + 0 < $1 + 0 { n++ } END { print n + 0 }' told -)" \
	0 "and nobody has waited through it"
like "$("$SPOOR" report -i off.spoor 2>&1 >/dev/null)" 'off-cpu: [0-9]+ waits? (is|are) not counted' "which is told"
exits 0 "a delay" "$SPOOR" record --off-cpu -D 50 -o late.spoor -- sleep 0.3
is "$("$SPOOR" info --json late.spoor | jq -r '[.gaps[] | .cause, (.end_ns - .start_ns >= 45000000)] | join(" ")')" "paused true" \
	"is a gap as well"

# --- what is not there ----------------------------------------------------------------------------

background sleep 100
"$SPOOR" record --off-cpu -a -o open.spoor -- sh -c 'sleep 100 & sleep 0.3; echo $! >pid' 2>err
kill "$(cat pid)" # sh leaves its own behind
like "$("$SPOOR" report -i open.spoor 2>&1 >/dev/null)" 'off-cpu: [0-9]+ waits? (was|were) not over when the recording was' \
	"what was not over is told"
exits 2 "no time" "$SPOOR" record --off-cpu=soon -o x.spoor -- true
like "$(cat err)" "off-cpu/min=soon/: at character 9: 'min=soon'" "is told"
exits 2 "twice" "$SPOOR" record --off-cpu -e off-cpu -o x.spoor -- true
exits 2 "with a modifier" "$SPOOR" record -e off-cpu:u -o x.spoor -- true
exits 0 "user space alone: its call chains" "$SPOOR" record --off-cpu --all-user -o user.spoor -- "$WAITS" kinds 10 "$FILE"
is "$(seen user.spoor wait_asleep blocked | awk '{ print ($1 > 50000000) }')" 1 "and all of its waits"

if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
	chmod 777 .
	exits 1 "who may not sample the kernel" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
		--bounding-set=-all "$SPOOR" record --off-cpu -e cpu-clock:u -o mine.spoor -- true
	like "$(cat err)" 'CAP_PERFMON or kernel.perf_event_paranoid < 2' "gets no waits, and is told what would help"
fi
# The kernel takes its samples and those of the same software event for one's.
for events in "-e cs" "-e page-faults,context-switches/period=7/"; do
	# shellcheck disable=SC2086 # two words
	exits 2 "$events --off-cpu" "$SPOOR" record $events --off-cpu -o n.spoor -- true
	like "$(cat err)" 'and off-cpu both sample context switches.*two recordings' "is told why"
done
exits 0 "another event of the kind" "$SPOOR" record --dry-run -e page-faults --off-cpu -- true
unlike "$(cat err)" apart "may be"
exits 0 "one twice" "$SPOOR" record --dry-run -e faults -e faults/name=b/ -- true
like "$(cat err)" 'faults and b count the same.*apart' "is told"

done_testing
