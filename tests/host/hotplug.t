#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU goes and comes back while everything is recorded: it is sampled again, the time without
# it is in the file, and everybody who reads the file says so.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq

cpu1=/sys/devices/system/cpu/cpu1/online
if [ ! -w $cpu1 ] || [ "$(cat $cpu1)" != 1 ]; then
	skip_all "CPU 1 cannot be taken offline here"
fi
at_exit "echo 1 >$cpu1"

background sh -c "exec \"$SPOOR\" record -a -F 499 -e '{cpu-clock,minor-faults}:S' --counters='{context-switches,page-faults}' --counter-interval 200ms -o x.spoor >record.out 2>&1"
recorder=$!
wait_for 20 test -s x.spoor || bail "nothing is recorded: $(cat record.out)"
sleep 1
echo 0 >$cpu1 2>/dev/null || skip_all "CPU 1 cannot be taken offline here"
sleep 0.5
echo 1 >$cpu1
# Busy: an idle CPU that was offline once is not sampled by cpu-clock in every VM, whoever asks.
background taskset -c 1 sh -c 'while :; do :; done'
sleep 2
kill -INT $recorder
wait $recorder
is "$?" 130 "the recording goes on and ends in order, by SIGINT"
diag "$(cat record.out)"
exits 0 "the file is clean" "$SPOOR" verify -i x.spoor

info=$("$SPOOR" info --json -i x.spoor)
is "$(jq -c '.gaps | map([.cause, .cpu])' <<<"$info")" '[["cpu_offline",1]]' "one gap, of CPU 1"
gap=$(jq '.gaps[0] | (.end_ns - .start_ns) / 1e6 | floor' <<<"$info")
in_range "$gap" 100 2500 "it is about as long as the CPU was away"
is "$(jq '.loss.cpu_offline' <<<"$info")" "$(jq '.gaps[0] | .end_ns - .start_ns' <<<"$info")" \
	"the ledger has the same"
end=$(jq '.gaps[0].end_ns' <<<"$info")
n=$("$SPOOR" dump --json -i x.spoor 2>/dev/null | jq -cn --argjson after "$end" '
	reduce inputs as $r (0; if $r.type == "SAMPLE" and $r.cpu == 1 and $r.time > $after
		then . + 1 else . end)')
in_range "$n" 100 3000 "CPU 1 is sampled again"

# The kernel takes a group apart when its CPU goes: each of it is read then, and no count is lost.
start=$(jq '.gaps[0].start_ns' <<<"$info")
is "$("$SPOOR" dump --json -i x.spoor 2>/dev/null | jq -rs --argjson t "$start" '[.[] | select(.type == "READ" and .cpu == 1 and .time == $t) |
	.fields.read.values[] | .event // "cpu-clock"] | unique | join(" ")')" 'context-switches cpu-clock minor-faults page-faults' \
	"all of the CPU that goes is read to the last"
"$SPOOR" counters --json -i x.spoor >rows 2>err
unlike "$(cat err)" 'less than' "its counts only grow"
for event in context-switches page-faults; do
	is "$(jq -s --arg e $event '[.[].counts[] | select(.event == $e) | .count] | add' rows)" \
		"$(jq --arg e $event '.events[] | select(.name == $e) | .count' <<<"$info")" "$event: its intervals have all counts"
done
is "$("$SPOOR" dump --json -i x.spoor 2>/dev/null | jq -s '[.[] | select(.type == "READ") | .fields.read.values[] |
	select(.event == "minor-faults")] | group_by(.id) | map(max_by(.value).value) | add')" \
	"$(jq '.events[] | select(.name == "minor-faults") | .count' <<<"$info")" "minor-faults: a member of a sampled group, too"
like "$("$SPOOR" info -i x.spoor)" "gaps +CPU 1, .*offline" "info tells it"
like "$("$SPOOR" report -i x.spoor 2>&1)" "# Gap: CPU 1, " "so does the report"

done_testing
