#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Events that are counted beside samples and read at intervals: what a program knows to have done, what perf stat
# counts meanwhile; the intervals add up to the last reading, over CPUs and over files.
. "$(dirname "$0")/../lib.sh"
need_command perf jq awk
need_record_all

FAULTS=20000

count_of() # FILE EVENT [KEY]: what info tells
{
	"$SPOOR" info --json "$1" 2>/dev/null | jq --arg e "$2" --arg k "${3:-count}" -r '[.events[] | select(.name == $e) | .[$k]] | add'
}

sum_of() # FILE EVENT: of all intervals
{
	"$SPOOR" counters --json "$1" 2>/dev/null | jq -s --arg e "$2" '[.[].counts[] | select(.event == $e) | .count] | add'
}

last_of() # EVENT FILE...: of the READ records that the kernel's counts are in, the last one of each id
{
	local event=$1 file
	shift
	for file; do "$SPOOR" dump --json "$file" 2>/dev/null; done | jq -s --arg e "$event" '[.[] | select(.type == "READ") | .time as $t | .fields.read.values[] |
		select(.event == $e) | {id, value, $t}] | group_by(.id) | map(max_by(.t).value) | add'
}

# --- a program, whose work is known ----------------------------------------------------------

exits 0 "a program is counted" "$SPOOR" record --counters --counter-interval 20ms -o x.spoor -- \
	"$FIXTURES/faults" $FAULTS
in_range "$(count_of x.spoor page-faults)" $FAULTS $((FAULTS + 1000)) "the faults that it made, and those of its start"
perf stat -x, -e page-faults -- "$FIXTURES/faults" $FAULTS 2>stat.csv
stat=$(awk -F, '/page-faults/ { print $1 }' stat.csv)
in_range "$(($(count_of x.spoor page-faults) - stat))" -200 200 "as perf stat counts them"
for event in task-clock context-switches cpu-migrations page-faults; do
	is "$(sum_of x.spoor $event)" "$(last_of $event x.spoor)" "$event: the intervals add up to the last reading"
done
is "$("$SPOOR" info --json x.spoor | jq -r '[.events[] | select(.samples > 0) | .name] | length')" 1 "what is counted has no samples"
is "$("$SPOOR" report --json x.spoor | jq '.samples')" "$("$SPOOR" info --json x.spoor | jq '.samples')" \
	"and a report is of the samples"
is "$("$SPOOR" dump --json x.spoor | jq -r 'select(.type == "READ" and (.fields.read.values | length) > 1) |
	[.fields.read.values[].event] | join(" ")' | sort -u)" 'task-clock context-switches cpu-migrations page-faults' \
	"one read(2) has all of the group"

rm -f y.spoor
exits 0 "events by name, in a group" "$SPOOR" record --counters='{context-switches,sched:sched_switch},minor-faults:u' \
	-o y.spoor -- sh -c "\"$FIXTURES/faults\" 100; sleep 0.02; \"$FIXTURES/faults\" 100"
is "$(count_of y.spoor context-switches)" "$(count_of y.spoor sched:sched_switch)" "one tracepoint for each context switch"
in_range "$(count_of y.spoor context-switches)" 1 1000 "of which there are some"
in_range "$(count_of y.spoor minor-faults:u)" 200 2000 "what its children do is counted"

rm -f y.spoor
exits 0 "-n: what -e names is read, and nothing else" "$SPOOR" record -n -e page-faults,context-switches \
	--counter-interval 10ms -o y.spoor -- "$FIXTURES/faults" $FAULTS
is "$("$SPOOR" counters --json y.spoor | jq -rs '[.[].counts[].event] | unique | join(" ")')" 'context-switches page-faults' \
	"each of them in its rows"
is "$(sum_of y.spoor page-faults)" "$(count_of y.spoor page-faults)" "whose sum info tells"
in_range "$(count_of y.spoor page-faults)" $FAULTS $((FAULTS + 1000)) "the faults"

rm -f y.spoor
exits 0 "-n, of a group whose samples would have the counts" "$SPOOR" record -n --counters \
	-e '{context-switches,page-faults}:S,minor-faults:S' --counter-interval 10ms -o y.spoor -- "$FIXTURES/faults" $FAULTS
is "$("$SPOOR" counters --json y.spoor | jq -rs '[.[].counts[].event] | unique | join(" ")')" \
	'context-switches minor-faults:S page-faults' "without samples they are in rows as all others"
for event in page-faults minor-faults:S; do
	is "$(sum_of y.spoor $event)" "$(count_of y.spoor $event)" "$event: whose sum info tells"
	in_range "$(count_of y.spoor $event)" $FAULTS $((FAULTS + 1000)) "$event: the faults"
done

# --- all CPUs, over several files ---------------------------------------------------------------

cat >run.sh <<-EOF
	"$SPOOR" record -a --counters --counter-interval 100ms --switch-output=1s -o all.spoor >record.out 2>&1 &
	recorder=\$!
	files() { ls all.spoor.* 2>/dev/null | wc -l; }
	until [ \$(files) -ge 1 ]; do kill -0 \$recorder || exit 1; sleep 0.05; done
	"$FIXTURES/faults" $FAULTS
	until [ \$(files) -ge 2 ]; do kill -0 \$recorder || exit 1; sleep 0.05; done
	kill -INT \$recorder
	wait \$recorder
	[ \$? = 130 ]
EOF
perf stat -a -x, -e page-faults,context-switches -o stat.csv -- sh run.sh
is "$?" 0 "all CPUs, with perf stat around it"
set -- all.spoor.*
in_range $# 2 100 "in several files"
rows=0 faults=0 switches=0 exact=0
for file; do
	sum=$(sum_of "$file" page-faults)
	[ "$sum" = "$(count_of "$file" page-faults)" ] && exact=$((exact + 1))
	faults=$((faults + sum)) switches=$((switches + $(sum_of "$file" context-switches)))
	rows=$((rows + $("$SPOOR" counters --json "$file" | wc -l)))
done
is "$exact" $# "what info tells of a file is the sum of its intervals"
is "$faults" "$(last_of page-faults "$@")" "all files have together what the kernel counted"
is "$switches" "$(last_of context-switches "$@")" "of each event"
# perf stat has no count of a CPU that went offline meanwhile.
if [ "$(for file; do "$SPOOR" info --json -i "$file"; done | jq -s 'map(.loss.cpu_offline) | add')" -gt 0 ]; then
	skip "a CPU was offline meanwhile" 2
else
	in_range "$faults" $FAULTS "$(awk -F, '/page-faults/ { print $1 }' stat.csv)" \
		"at least the faults that were made, and no more than perf stat saw"
	in_range "$switches" 1 "$(awk -F, '/context-switches/ { print $1 }' stat.csv)" "no more switches than it saw"
fi
in_range "$rows" 4 4000 "rows of several intervals"
is "$("$SPOOR" counters --json "$1" | jq -s '. as $r | all(range(1; length); $r[. - 1].until_ns <= $r[.].from_ns)')" true \
	"one after another"

is "$("$SPOOR" counters --json "$1" | jq -s --argjson s "$("$SPOOR" info --json "$1" | jq .start_realtime_ns)" \
	'[.[] | .realtime_ns >= $s and .realtime_ns < $s + 60e9] | all and length > 0')" true "each with the time of day"
"$SPOOR" counters -x, "$1" >rows.csv
"$SPOOR" counters -A -x, "$1" >cpus.csv
same_sums() # FILE FIELDS: time, event and sum
{
	awk -F, -v n="$2" '$(n + 2) !~ /clock/ { sum[$1 " " $(n + 2)] += $n } END { for (k in sum) print k, sum[k] }' "$1" | sort
}
is "$(same_sums cpus.csv 3)" "$(same_sums rows.csv 2)" "-A: CPUs add up to the rows"
is "$(awk -F, '$4 == "cpu-clock" { print $3 }' rows.csv | sort -u)" msec "times are in ms, as in perf stat"
is "$(cut -d, -f6 rows.csv | sort -u)" 100.00 "nothing had to share a counter"
like "$("$SPOOR" counters "$1")" 'total +[0-9]+ +page-faults +# [0-9.]+( [KM])? a second' "lines for people end in the sum"
is "$("$SPOOR" counters --json --interval 10s "$1" | jq '.counts[] | select(.event == "page-faults") | .count')" \
	"$(sum_of "$1" page-faults)" "--interval adds readings up"
until=$("$SPOOR" counters --json "$1" | jq -s '.[0].until_ns + 1000 | . / 1e9')
is "$("$SPOOR" counters --json --time ",$until" "$1" | jq -s -c '[length, .[0].until_ns]')" \
	"$("$SPOOR" counters --json "$1" | jq -s -c '[1, .[0].until_ns]')" "an interval is of the time in which it ends"

exits 0 "a perf.data has the readings" "$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(perf script -D -i x.data 2>/dev/null | grep -c 'PERF_RECORD_READ: ')" "$("$SPOOR" info --json x.spoor | jq .records.READ)" \
	"all of them, which perf reads"
is "$(perf script -F event -i x.data 2>/dev/null | grep -c .)" "$("$SPOOR" info --json x.spoor | jq .samples)" \
	"and the samples beside them"
ok "it comes back" "$SPOOR" import x.data -o i.spoor
is "$(sum_of i.spoor page-faults)" "$(sum_of x.spoor page-faults)" "with the same counts"

# --- machines with a PMU, which share its counters ----------------------------------------------

shim() # COMMAND...
{
	SPOOR_MACHINE=plain LD_PRELOAD=$PRELOADS/libmachine.so "$@"
}
rm -f y.spoor
exits 0 "a PMU whose counters are shared" shim env SPOOR_SHARED=25 "$SPOOR" record -a --counters -o y.spoor -- \
	"$FIXTURES/faults" $FAULTS
is "$("$SPOOR" info --json y.spoor | jq -r '[.events[].name] | join(" ")')" \
	'cycles:P cpu-clock context-switches cpu-migrations page-faults cycles instructions branches branch-misses dummy:u' \
	"the events of perf stat"
is "$("$SPOOR" counters --json y.spoor | jq -s '[.[].counts[] | select(.event == "cycles" and .count > 0) |
	.count_scaled / .count | . > 3.99 and . < 4.01] | all and length > 0')" true "counts are scaled by the time that they had a counter"
"$SPOOR" counters y.spoor >lines
ok "which is told" grep -Eq ' cycles .*\(2[45]\.[0-9]+%\)' lines
ok "as are instructions per cycle" grep -Eq ' instructions +# [0-9.]+ per cycle' lines
like "$("$SPOOR" info y.spoor)" 'in 2[45]\.[0-9] % of the time' "by info, too"
rm -f y.spoor
exits 0 "a PMU with two counters" shim env SPOOR_COUNTERS=2 "$SPOOR" record --counters -o y.spoor -- "$FIXTURES/faults" $FAULTS
like "$(cat err)" 'group of cycles.*opened alone.* counts for itself' "the group is weak"
is "$("$SPOOR" info --json y.spoor | jq '[.events[] | select(.name == "branch-misses") | .count > 0] | all and length == 1')" true \
	"all of it is counted nevertheless"

# --- what is wrong ----------------------------------------------------------------------------------

exits 2 "an event that is none" "$SPOOR" record --counters=page-faults,nonsense -o z.spoor -- true
like "$(cat err)" "counters: page-faults,nonsense: at character 13: unknown event 'nonsense'" "is told with its place"
exits 2 "too often" "$SPOOR" record --counter-interval 1ms -o z.spoor -- true
exits 1 "hardware that is not there" shim "$SPOOR" record --counters=r99 -o z.spoor -- true
exits 2 "two forms at once" "$SPOOR" counters --json -x, x.spoor
ok "a recording without counters" "$SPOOR" record -o n.spoor -- true
exits 1 "has none to show" "$SPOOR" counters n.spoor
like "$(cat err)" 'spoor record --counters' "which says how there are some"
for kind in losses paths; do
	"$BUILD/tests/bench/bomb_maker" $kind 10 l.spoor || bail "no recording"
	"$SPOOR" dump l.spoor 2>&1 >/dev/null | grep -E 'lost|parsed' >wanted
	ok "what is lost, or cannot be read, is told ($kind)" test -s wanted
	"$SPOOR" counters l.spoor 2>&1 >/dev/null | grep -E 'lost|parsed' >got
	same "by counters as by dump ($kind)" wanted got
done
done_testing
