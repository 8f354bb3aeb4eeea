#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# uprobe:PATH:SYMBOL and uretprobe: every call of a program of known calls, and none more; where symbols are, by nm.
. "$(dirname "$0")/../lib.sh"
need_command jq nm readelf objcopy taskset
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "probes need root"
[ -d /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no PMU uprobe"

program=$FIXTURES/probed
counts() # FILE: NAME SAMPLES of each event, without the path
{
	"$SPOOR" info --json -i "$1" | jq -r '.events[] | select(.name != "dummy:u") | "\(.name) \(.samples)"' |
		sed 's,:/[^:]*/,:,'
}

exits 0 "calls and returns of a command" "$SPOOR" record -o calls.spoor -e "uprobe:$program:probed_work" \
	-e "uretprobe:$program:probed_work,uprobe:$program:probed_twice:u,uprobe:$program:probed_alone" -- "$program" 5001
is "$(counts calls.spoor | sort | xargs)" \
	"uprobe:probed:probed_alone 0 uprobe:probed:probed_twice:u 2500 uprobe:probed:probed_work 5001 uretprobe:probed:probed_work 5001" \
	"each is counted once"
is "$("$SPOOR" report --json -i calls.spoor --event "uprobe:$program:probed_work" | jq -r '.rows[] | "\(.symbol) \(.samples)"')" \
	"probed_work 5001" "a probe's samples are in its function"
# Before the frame of the function is there, the kernel may miss the caller, but not the caller's.
like "$("$SPOOR" export -f folded -i calls.spoor --event "uprobe:$program:probed_twice:u")" \
	'^probed;.*main;(probed_work;)?probed_twice 2500$' "with callers"
is "$("$SPOOR" report --json -i calls.spoor --event "uretprobe:$program:probed_work" | jq -r '.rows[] | "\(.symbol) \(.samples)"')" \
	"main 5001" "a return is where it returns to"
is "$("$SPOOR" info --json -i calls.spoor | jq .lost)" 0 "nothing is lost"

# Blanks around commas and braces are no part of an event.
for events in "page-faults, uprobe:$program:probed_work" "{ uprobe:$program:probed_work , page-faults }"; do
	exits 0 "'${events//$program/PROGRAM}'" "$SPOOR" record -o blanks.spoor -e "$events" -- "$program" 321
	like "$(counts blanks.spoor)" '^uprobe:probed:probed_work 321$' "is of each call"
done
exits 0 "--counters" "$SPOOR" record -o counted.spoor --counters="page-faults, uprobe:$program:probed_work,uretprobe:$program:probed_twice:u" \
	-- "$program" 5001
is "$("$SPOOR" counters --json counted.spoor | jq -s -r '[.[].counts[]] | group_by(.event)[] | "\(.[0].event) \(map(.count) | add)"' |
	sed 's,:/[^:]*/,:,' | grep -v page-faults | xargs)" \
	"uprobe:probed:probed_work 5001 uretprobe:probed:probed_twice:u 2500" "each call is counted"

"$program" 999 # of no recording
exits 0 "on all CPUs" "$SPOOR" record -a -o all.spoor -e "uprobe:$program:probed_work" -- "$program" 1234
is "$(counts all.spoor)" "uprobe:probed:probed_work 1234" "the calls of all processes"
# Each CPU counts for itself.
# The kernel reads the place again when a task forks, from that task's memory.
for event in "uprobe:$program:probed_work" "{uprobe:$program:probed_work,page-faults}"; do
	exits 0 "a command that forks" "$SPOOR" record -o forks.spoor -e "$event" -- sh -c '"$1" 40 && (exit 3); [ $? = 3 ]' - "$program"
	like "$(cat err)" 'come later are not sampled' "can still fork, and it is said who is left out"
done

exits 0 "every tenth call" "$SPOOR" record -c 10 -o tenth.spoor -e "uprobe:$program:probed_work" -- taskset -c 0 "$program" 5000
is "$(counts tenth.spoor)" "uprobe:probed:probed_work 500" "are a tenth"

exits 0 "own settings, in terms" "$SPOOR" record -g -o terms.spoor -e "uprobe:$program:probed_work/period=10,call-graph=no,name='every ten'/u" \
	-e "{uretprobe:$program:probed_work/inherit,period=100/ , uprobe:$program:probed_twice/period=3/}" -- taskset -c 0 "$program" 6000
is "$(counts terms.spoor | sort | xargs)" \
	"every ten 600 uprobe:probed:probed_twice/period=3/ 1000 uretprobe:probed:probed_work/inherit,period=100/ 60" "each has its period"
is "$("$SPOOR" export -f folded -i terms.spoor --event "every ten")" "probed;probed_work 600" "the first has no callers"

# The place, as nm and readelf tell it.
place() # PROGRAM SYMBOL
{
	local address
	address=$((0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }')))
	readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3 }' | while read -r offset start; do
		printf '0x%x\n' $((address - start + offset))
	done
}
opened() # EVENT: its place in the attr
{
	"$SPOOR" record --dry-run --json -e "$1" -- true | jq -r '.[0].attr.bp_len'
}
is "$(opened "uprobe:$program:probed_work")" "$(place "$program" probed_work)" "the place of a function"
is "$(opened "uprobe:$program:probed_work+4")" "$(printf '0x%x' $(($(place "$program" probed_work) + 4)))" "and behind it"
is "$(opened "uprobe:$program:$(place "$program" probed_twice)")" "$(place "$program" probed_twice)" "a place as it is"
is "$(opened "uprobe:$program:here=$(place "$program" probed_twice)")" "$(place "$program" probed_twice)" "one with a name"
objcopy --only-keep-debug "$program" bare.debug
objcopy --strip-all --add-gnu-debuglink=bare.debug "$program" bare
is "$(opened "uprobe:bare:main")" "$(place "$program" main)" "a program that was stripped, by its debug file"
rm bare.debug
is "$(opened "uprobe:bare:probed_work")" "$(place "$program" probed_work)" "without it, what it exports"

refused() # EVENT CHARACTER SAID
{
	exits 2 "$1" "$SPOOR" record -e "$1" -o x.spoor -- true
	like "$(cat err)" "at character $2: .*$3" "is told"
}
refused "cs,uprobe:bare:nosuch" 16 "no function has that name"
refused "cs , uprobe:bare:nosuch , cs" 18 "no function has that name"
refused "uprobe:nofile:main" 8 "No such file"
refused "uprobe:$TMP/err:main" $((${#TMP} + 13)) "neither a program"
refused "uprobe:bare:main+x" 18 "not an offset"
refused "uprobe:bare:main+99999999999999999999" 18 "not an offset"
refused "uprobe:bare:main+0xffffffffffffffff" 18 "too large"
refused "uretprobe:bare:main+1" 20 "a return probe is of a whole function"
refused "uprobe:bare" 12 "PATH:SYMBOL"
[ -d /sys/bus/event_source/devices/kprobe ] || refused "kprobe:do_exit" 1 "this kernel has no kprobes"
nok "no recording is left" test -e x.spoor
done_testing
