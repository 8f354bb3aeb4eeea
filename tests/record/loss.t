#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# Rings of one page at the highest rate: what is recorded and what is lost add up, to the
# sample, to what the events' own counters say, and everybody says what was lost.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq

burn=$FIXTURES/burn
faults=$FIXTURES/faults
writes=$FIXTURES/writes

# Per event: samples, losses and counts of the READ records at the end, in one object.
account() # FILE
{
	"$SPOOR" dump --json -i "$1" 2>/dev/null | jq -cn '
		reduce inputs as $r ({ samples: 0, value: 0, lost: 0, overflows: 0 };
			if $r.type == "SAMPLE" then .samples += 1
			elif $r.type == "READ" then
				.value += $r.fields.read.values[0].value
				| .lost += $r.fields.read.values[0].lost
				| .overflows += ($r.fields.read.values[0].value / '"$2"' | floor)
			else . end)'
}

check() # NAME PERIOD: on x.spoor
{
	local name=$1 a lost

	a=$(account x.spoor "$2")
	diag "$name: $a"
	lost=$(jq .lost <<<"$a")
	is "$("$SPOOR" info --json -i x.spoor | jq '.samples, .lost' | xargs)" \
		"$(jq '.samples, .lost' <<<"$a" | xargs)" "$name: the ledger says what the counters say"
	if [ "$("$SPOOR" info --json -i x.spoor | jq .loss.throttled)" -eq 0 ]; then
		is "$(jq '.samples + .lost' <<<"$a")" "$(jq .overflows <<<"$a")" \
			"$name: samples + lost = count / period"
	else
		in_range "$(jq '.samples + .lost' <<<"$a")" 1 "$(jq .overflows <<<"$a")" \
			"$name: throttled: samples + lost < count / period"
	fi
	if [ "$lost" -gt 0 ]; then
		like "$("$SPOOR" report -i x.spoor 2>&1)" "[Ll]ost[^0-9]*$lost" "$name: the report prints it"
	else
		like "$("$SPOOR" report -i x.spoor 2>&1)" "Lost Samples: 0" "$name: the report says 0"
	fi
}

for period in 1 7; do
	exits 0 "page faults, a sample every $period" \
		"$SPOOR" record -m 1 -e page-faults -c $period -o x.spoor -- "$faults" 400000
	check "every $period" $period
done
# Several CPUs, tasks that come and go: children count into their parent's events.
exits 0 "page faults of many processes" "$SPOOR" record -m 1 -e page-faults -c 1 -o x.spoor -- \
	sh -c "for i in 1 2 3 4 5 6; do '$faults' 60000 & done; wait"
check "children" 1

# Everybody: tasks that the recorder has begun and tasks that it has not, on all CPUs. They write to
# an address that nobody else has, so that their number is known without asking the kernel. Faults of
# everybody would not do: the kernel counts some that it makes no sample of (docs/ARCHITECTURE.md,
# "Counts and samples").
address=0x2a5a5a0000
storm="i=0; while [ \$i -lt 250 ]; do $writes $address 100 | $writes $address 100; i=\$((i+1)); done"
if [ -d /sys/bus/event_source/devices/breakpoint ] && breakpoints_hit; then
	background sh -c "until [ -e go ]; do sleep 0.01; done; $storm; : >done"
	exits 0 "writes of everybody" "$SPOOR" record -a -m 1 -e mem:$address/4:w -c 1 -o x.spoor -- \
		sh -c ": >go; $storm; until [ -e done ]; do sleep 0.01; done"
	check "everybody" 1
	# What is written on a CPU while somebody takes it offline, nobody can count; the ledger says so.
	if [ "$("$SPOOR" info --json -i x.spoor | jq .loss.cpu_offline)" -eq 0 ]; then
		is "$(account x.spoor 1 | jq .value)" $((2 * 250 * 2 * 100)) "everybody: every write is counted"
	else
		skip "a CPU was offline meanwhile" 1
	fi
else
	skip "this kernel has no breakpoints, or delivers none: perf stat counts none either" 5
fi

# At the highest frequency there is no counter of ticks; but counts and ledger are one. The recorder is stopped until its
# rings of one page are full: how many samples a second a clock has here does not matter then.
background sh -c "exec '$burn' 60000 $(nproc) >/dev/null"
exits 0 "the highest frequency" "$SPOOR" record -a -m 1 -F max -o x.spoor -- sh -c 'kill -STOP $PPID; sleep 2; kill -CONT $PPID'
a=$(account x.spoor 1)
diag "highest frequency: $a"
in_range "$(jq .lost <<<"$a")" 1 999999999 "samples are lost"
is "$("$SPOOR" info --json -i x.spoor | jq '.samples, .lost' | xargs)" \
	"$(jq '.samples, .lost' <<<"$a" | xargs)" "the ledger says what the counters say"
is "$("$SPOOR" info --json -i x.spoor | jq '[.loss_by_cpu[] | .kernel_samples // 0] | add')" \
	"$(jq .lost <<<"$a")" "CPU by CPU"
like "$("$SPOOR" report -i x.spoor 2>&1)" "[Ll]ost[^0-9]*$(jq .lost <<<"$a")" "the report prints it"

# With rings that are large enough nothing is lost.
exits 0 "large rings" "$SPOOR" record -a -m 1024 -F 1999 --duration 1s -o x.spoor
is "$("$SPOOR" info --json -i x.spoor | jq .lost)" 0 "lose nothing"

done_testing
