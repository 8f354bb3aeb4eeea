#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# Groups of events: counted together, read with the leader's samples. What they read is what perf reads from
# the same bytes, what perf stat counts, and what a program knows to have done.
. "$(dirname "$0")/../lib.sh"
need_command perf jq awk
need_record_all

FAULTS=20000
GROUP='{task-clock,page-faults,context-switches,sched:sched_switch}:S'

count_of() # EVENT [KEY]: what info tells of x.spoor
{
	"$SPOOR" info --json x.spoor | jq --arg e "$1" --arg k "${2:-count}" -r '.events[] | select(.name == $e) | .[$k]'
}

attr_of() # PERF.DATA: what a group changes, an event a line
{
	perf evlist -v -i "$1" 2>/dev/null | grep -v -e dummy -e '^#' | sed 's/^\([^ ]*\): type/\1, type/' |
		awk -F', ' '{ printf "%s", $1
			for (i = 2; i <= NF; i++)
				if ($i ~ /^(sample_freq|freq|disabled|enable_on_exec|exclude_|pinned|precise_ip)/)
					printf " %s", $i
			printf " read=%d group=%d\n", $0 ~ /READ\|/, $0 ~ /\|GROUP\|/ }'
}

# --- what is opened, as perf opens it ---------------------------------------------------------

for group in "$GROUP" '{cpu-clock,page-faults}' '{cpu-clock,page-faults},context-switches' '{cpu-clock,task-clock}:uS' \
	'{cpu-clock:k,page-faults}:u' 'name{cpu-clock,page-faults}:S' '{cpu-clock,page-faults}:D' \
	'page-faults,{task-clock,context-switches}:SW' '{cpu-clock}:S'; do
	rm -f x.spoor x.data
	"$SPOOR" record -i -g -F 999 -e "$group" -o x.spoor -- true >out 2>err &&
		"$SPOOR" export -f perf-data-file -o x.data x.spoor >>out 2>>err
	perf_record -q -i -g -F 999 -e "$group" -o p.data -- true >/dev/null 2>&1
	attr_of x.data | sed 's/^[^ ]*//' >spoor.attr
	attr_of p.data | sed 's/^[^ ]*//' >perf.attr
	same "$group: as perf opens it" spoor.attr perf.attr
done
rm -f x.spoor
"$SPOOR" record --group -i -F 999 -e cpu-clock -e page-faults -o x.spoor -- true >out 2>err &&
	"$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(attr_of x.data | awk '{ print $1, / disabled: 1/ }' | xargs)" 'cpu-clock 1 page-faults 0' "--group: one group of all"
# What is no event of -e is in none: off-cpu cannot be, and a trigger samples by itself.
rm -f x.spoor x.data
exits 0 "--group --off-cpu" "$SPOOR" record --group --off-cpu -e cpu-clock,page-faults -o x.spoor -- "$FIXTURES/faults" 1000
"$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(attr_of x.data | grep -v '^wakeups' | awk '{ print $1, / disabled: 1/ }' | xargs)" 'cpu-clock 1 page-faults 0 off-cpu 1' \
	"which is beside the group"
for group in cpu-clock:S,page-faults '{cpu-clock,page-faults}'; do
	for trigger in context-switches '{context-switches,page-faults}:S' '{page-faults,context-switches}:S'; do
		rm -f x.spoor x.spoor.*
		exits 0 "--group -e $group --switch-output-event $trigger" "$SPOOR" record --group -e "$group" \
			--switch-output-event "$trigger" -o x.spoor -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.2; done'
		files=(x.spoor*)
		in_range "${#files[@]}" 5 100 "it is hit"
	done
done
rm -f x.spoor.*

# --- known work, of a task -----------------------------------------------------------------------

rm -f x.spoor
exits 0 "a group of a program" "$SPOOR" record -F 4999 -e "$GROUP" -o x.spoor -- "$FIXTURES/faults" $FAULTS
in_range "$(count_of page-faults)" $FAULTS $((FAULTS + 1000)) "the faults that it made, and those of its start"
perf stat -x, -e page-faults -- "$FIXTURES/faults" $FAULTS 2>stat.csv
stat=$(awk -F, '/page-faults/ { print $1 }' stat.csv)
in_range "$(($(count_of page-faults) - stat))" -20 20 "as perf stat counts them"
is "$(count_of context-switches)" "$(count_of sched:sched_switch)" "one tracepoint for each context switch"
is "$(count_of task-clock running_ns)" "$(count_of page-faults running_ns)" "all of a group count at the same times"
isnt "$(count_of task-clock)" 0 "and its leader counts"
unlike "$("$SPOOR" report x.spoor)" 'counted only' "a task that moves between CPUs shares no counters"

# Each sample: ids in the group's order, counts that grow; the last READ is no less.
"$SPOOR" dump --json x.spoor | jq -c 'select(.type == "SAMPLE" or .type == "READ")' >records
is "$(jq -r '[.fields.read.values[].event] | join(" ")' records | sort -u)" \
	'task-clock page-faults context-switches sched:sched_switch' "each read has all, by name"
is "$(jq -rs '[.[] | .fields.read.values[] | {id, event}] | unique | group_by(.id) | map(length) | unique[]' records)" 1 \
	"an id is of one event"
is "$(jq -rs 'def grows: . as $a | all(range(1; length); $a[. - 1] <= $a[.]);
	group_by(.id) | map(sort_by(.time) | [.[].fields.read.values] | transpose | all(map(.value) | grows)) | all' records)" true \
	"counts grow from sample to sample to the last READ"
is "$(jq -rs '[.[] | select(.type == "READ") | .fields.read.values[] | select(.event == "page-faults") | .value] | add' records)" \
	"$(count_of page-faults)" "info adds up the READ records"

# --- what is shown: each member's count since the sample before, as its period ----------------------

"$SPOOR" report --json x.spoor >report.json
sum() # EVENT: the last count of each id among samples
{
	jq -rs --arg e "$1" '[.[] | select(.type == "SAMPLE")] | sort_by(.time) |
		reduce .[] as $s ({}; reduce ($s.fields.read.values[] | select(.event == $e)) as $v (.;
			.["\($v.id) \($s.tid)"] = $v.value)) | add // 0' records
}
for event in task-clock page-faults; do
	is "$("$SPOOR" report --json --event "$event" x.spoor | jq '[.rows[].period] | add')" "$(sum $event)" \
		"report: $event: what was counted up to the last samples"
done
is "$(jq '[.rows[] | select(.event == "page-faults")] | length > 0' report.json)" true \
	"a member that takes no samples has rows"

# perf reads the same from our export. Before Linux 6.12 it knows no counts of inherited events: -i.
# Of an event that counted nothing perf prints no line: the task waits once, so that it is switched.
rm -f x.spoor
"$SPOOR" record -i -F 4999 -e "$GROUP" -o x.spoor -- sh -c 'sleep 0.02; exec "$@"' - "$FIXTURES/faults" $FAULTS >/dev/null 2>&1
"$SPOOR" export -f perf-data -o x.data x.spoor
perf script -i x.data -G -F tid,cpu,time,period,event 2>/dev/null | grep '\[' | tr -s ' ' | sed 's/^ //; s/ $//; s/: *$//' >perf.script
"$SPOOR" export -f perf-script x.spoor | awk '/^[^\t#]/ && /\[[0-9]+\]/' |
	sed -E 's|^.* +[0-9]+/([0-9]+) +(\[[0-9]+\]) |\1 \2 |' | tr -s ' ' | sed 's/: *$//' >spoor.script
same "perf script of the export says the same as ours, sample by sample" spoor.script perf.script
# perf 6.1 crashes on one in ten streams with --no-group.
"$SPOOR" export -f perf-data-file -o x.data x.spoor
perf report -i x.data --stdio -g none --no-group --sort pid >perf.report 2>perf.err || diag_file perf.err
perf_counts() # EVENT
{
	awk -v e="'$1'" '/^# Samples:/ { on = $NF == e } on && /^# Event count/ { print $NF }' perf.report
}
for event in task-clock page-faults context-switches; do
	is "$("$SPOOR" report --json --event $event x.spoor | jq '[.rows[].period] | add // 0')" "$(perf_counts $event)" \
		"perf report of the export counts as many $event" || diag_file perf.report
done
# Of a part, each count begins where the sample before the part ended.
half=$("$SPOOR" report --json --event page-faults --time 0%-50% x.spoor | jq '[.rows[].period] | add')
rest=$("$SPOOR" report --json --event page-faults --time 50%-100% x.spoor | jq '[.rows[].period] | add')
is "$((half + rest))" "$(perf_counts page-faults)" "two halves have what the whole has"

# Which events are a group, perf reads from the file as from its own.
rm -f x.spoor
groups='cs,{task-clock,page-faults},faults,{cpu-clock:u,minor-faults,cs}:S,{alignment-faults}'
"$SPOOR" record -e "$groups" -o x.spoor -- true >/dev/null 2>&1
"$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(perf evlist -g -i x.data 2>/dev/null | grep -v '^#' | sed 's/:[uS]*//g' | xargs)" \
	'cs {task-clock,page-faults} faults {cpu-clock,minor-faults,cs} alignment-faults dummy' "perf evlist -g has the groups"
perf_record -q -e "$groups" -o p.data -- true >/dev/null 2>&1
is "$(perf evlist -g -i x.data 2>/dev/null | grep -o '{.*}' | tr -cd '{,}')" "$(perf evlist -g -i p.data 2>/dev/null | grep -o '{.*}' | tr -cd '{,}')" \
	"as many, of as many, as perf records"
rm -f x.spoor
"$SPOOR" record -e cs,faults -o x.spoor -- true >/dev/null 2>&1
"$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(perf evlist -g -i x.data 2>/dev/null | grep -v '^#' | xargs)" 'cs faults dummy:u' "without one there is none"

# A member that takes samples itself: each count is its own event's.
rm -f x.spoor
"$SPOOR" record -i -F 999 -e '{task-clock,page-faults/period=100/}:S' -o x.spoor -- "$FIXTURES/faults" $FAULTS >/dev/null 2>&1
"$SPOOR" export -f perf-data-file -i x.spoor -o x.data 2>err
perf report -i x.data --stdio -g none --no-group --sort pid >perf.report 2>perf.err || diag_file perf.err
for event in task-clock page-faults/period=100/; do
	is "$("$SPOOR" report --json --event "$event" x.spoor | jq '[.rows[].period] | add')" "$(perf_counts $event)" \
		"$event: a group with two that sample has the totals of perf"
done

# perf's own recording of a group, imported, has the periods that perf gives it.
perf_record -q -F 4999 -e '{task-clock,page-faults}:S' -o p.data -- "$FIXTURES/faults" $FAULTS >/dev/null 2>&1
want=$(perf script -i p.data -F period,event 2>/dev/null | awk '/page-faults/ { n += $1 } END { print n }')
is "$("$SPOOR" report --json --event page-faults -i p.data | jq '[.rows[].period] | add')" "$want" \
	"a group that perf recorded: the same periods"

# --- whole CPUs, inheritance, threads ------------------------------------------------------------------

rm -f x.spoor
# By frame pointers: else events are opened anew when the size of copies changes, and each one closed has a READ of its own.
exits 0 "a group on all CPUs" "$SPOOR" record -a --fp -F 999 -e '{cpu-clock,page-faults}:S' -o x.spoor -- "$FIXTURES/faults" $FAULTS
is "$("$SPOOR" info --json x.spoor | jq '.records.READ')" "$(nproc)" "one READ a CPU has the whole group"
ok "whole CPUs fault at least as often" test "$(count_of page-faults)" -ge $FAULTS
rm -f x.spoor
exits 0 "a group, with what a shell forks" "$SPOOR" record -F 4999 -e '{task-clock,page-faults}:S' -o x.spoor -- \
	sh -c '"$0" 5000; "$0" 7000; true' "$FIXTURES/faults"
in_range "$(count_of page-faults)" 12000 14000 "children are counted"
in_range "$("$SPOOR" report --json --event page-faults --comm faults x.spoor | jq '[.rows[].period] | add')" 8000 14000 \
	"and their samples have their own counts"
export SPOOR_MACHINE=alike
SHIM=$PRELOADS/libmachine.so
rm -f x.spoor
exits 0 "an older kernel" env SPOOR_KERNEL=5.10 LD_PRELOAD="$SHIM" "$SPOOR" record -F 999 -e '{task-clock,page-faults}:S' \
	-o x.spoor -- sh -c '"$0" 5000; true' "$FIXTURES/faults"
like "$("$SPOOR" info x.spoor | tr -s '\n ' ' ')" 'task-clock: threads and processes that come later are not counted' \
	"that inherits no such group: told"
in_range "$(count_of page-faults)" 1 4999 "and done without"

# --- counters that are shared ------------------------------------------------------------------------

rm -f x.spoor
exits 0 "counters that are shared" env SPOOR_SHARED=43 LD_PRELOAD="$SHIM" "$SPOOR" record -a -F 99 \
	-e '{cycles,instructions}:S' -o x.spoor -- "$FIXTURES/faults" 50000
like "$("$SPOOR" report x.spoor | head -n 20)" 'Event instructions counted only 43% of the time' "the report says it"
like "$("$SPOOR" info x.spoor)" 'counted [0-9]+ in 43.0 % of the time, which makes [0-9]+ of all of it' "and info"
is "$("$SPOOR" info --json x.spoor | jq '.events[] | select(.name == "cycles") | .count_scaled - (.count * .enabled_ns / .running_ns | floor)')" \
	0 "with what it would have been"

# --- copied stacks -----------------------------------------------------------------------------------

rm -f x.spoor
exits 0 "a group with copies of the stack" "$SPOOR" record --call-graph dwarf -m 1024 -c 500 -e '{page-faults,minor-faults}:S' \
	-o x.spoor -- "$FIXTURES/faults" 50000
"$SPOOR" report --json --children x.spoor >report.json
in_range "$(jq '.unwound.stacks' report.json)" 90 "$("$SPOOR" dump x.spoor | grep -c ' SAMPLE ')" \
	"each is unwound once, whatever number of events counted"
is "$("$SPOOR" export -f folded --weight samples --event page-faults x.spoor | sort)" \
	"$("$SPOOR" export -f folded --weight samples --event minor-faults x.spoor | sort)" "and all of its events have it"

# --- groups that are refused -------------------------------------------------------------------------

rm -f x.spoor
exits 1 "more events than counters" env SPOOR_COUNTERS=2 LD_PRELOAD="$SHIM" "$SPOOR" record -a \
	-e '{cycles,instructions,branches}:S' -o x.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'EINVAL: branches: refused on CPU [0-9]+ in the group of cycles: .*:W' "names the member, the CPU, the help"
nok "and nothing was written" test -e x.spoor
exits 0 "the same, weak" env SPOOR_COUNTERS=2 LD_PRELOAD="$SHIM" "$SPOOR" record -a \
	-e '{cycles,instructions,branches}:SW' -o x.spoor -- "$FIXTURES/faults" 50000
like "$("$SPOOR" info x.spoor | tr -s '\n ' ' ')" 'branches: refused in the group of cycles .* each of its events is opened alone' "is told"
is "$("$SPOOR" info --json x.spoor | jq '[.events[] | select(.samples > 0)] | length')" 3 "and each samples for itself"
unset SPOOR_MACHINE
while read -r event words; do
	rm -f x.spoor
	exits 2 "$event" "$SPOOR" record -e "$event" -o x.spoor -- true
	like "$(cat err)" "$words" "  $words"
	nok "  nothing was written" test -e x.spoor
done <<'END'
{cpu-clock,page-faults a '}' is missing
{} a group without events
{cpu-clock,{page-faults}} a group in a group
{cpu-clock}S behind the '}'
{cpu-clock,page-faults}:z unknown modifier 'z' of a group
{cpu-clock,no-such-event} no-such-event
cpu-clock} braces
END

done_testing
