#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Events that cannot be opened: one ends the recording before anything is written, and says which, where and why;
# with --skip-missing the others are recorded, and the recording says what is not in it.
. "$(dirname "$0")/../lib.sh"
need_command jq
need_record_all
[ "$(nproc)" -ge 2 ] || skip_all "a CPU that refuses beside one that does not: needs two"

events() # EVENTS in x.spoor, "NAME IDS" each
{
	"$SPOOR" info --json -i x.spoor | jq -r '[.events[] | "\(.name) \(.ids)"] | join(", ")'
}

names()
{
	"$SPOOR" info --json -i x.spoor | jq -r '[.events[].name] | join(" ")'
}

notes()
{
	"$SPOOR" info --json -i x.spoor | jq -r .notes
}

# Every one of them fails a recording as a whole.
for missing in nosuch nosuch/event=1/ nosuch:nosuch; do
	exits 2 "$missing" "$SPOOR" record -e "cs,$missing" -o x.spoor -- touch executed
	like "$(tr -s '\n ' ' ' <err)" "cs,$missing: at character (4|11): " "is named, with its place"
done
nok "nothing is recorded" test -e x.spoor
nok "nothing is executed" test -e executed
exits 2 "what is malformed" "$SPOOR" record --skip-missing -e cs,faults:Q -o x.spoor -- true
like "$(cat err)" "at character 11: unknown modifier 'Q'" "is an error with --skip-missing, too"

exits 0 "--skip-missing" "$SPOOR" record --skip-missing -m 4M --call-graph none -c 1 -e 'faults,{cs,nosuch,migrations},nosuch/event=1/' -e nosuch:nosuch \
	-o x.spoor -- "$FIXTURES/faults" 5000
is "$(names)" 'faults cs migrations dummy:u' "records the others"
in_range "$("$SPOOR" info --json -i x.spoor | jq '.events[] | select(.name == "faults") | .samples')" 5000 6000 \
	"and their samples are there"
is "$(notes | grep -c '^left out: ')" 3 "the recording says what it lacks"
is "$(tr -s '\n ' ' ' <err | grep -o 'left out: ' | wc -l)" 3 "and so does spoor"
exits 2 "nothing left of them" "$SPOOR" record --skip-missing -e nosuch -o y.spoor -- true
like "$(cat err)" "unknown event 'nosuch'" "is an error"
nok "nothing is recorded" test -e y.spoor

# What the kernel refuses, by a shim of the system call.
there()
{
	LD_PRELOAD=$PRELOADS/libmachine.so SPOOR_MACHINE=alike "$@"
}
exits 1 "an event that no machine counts" there "$SPOOR" record -a -e cs,77:1 --duration 0.1s -o y.spoor
like "$(tr -s '\n ' ' ' <err)" 'perf_event_open: ENOENT: 77:1 on CPU 0: this machine cannot count it' "names itself and the CPU"
exits 0 "is left out" there "$SPOOR" record --skip-missing -a -e 77:1,cs --duration 0.1s -o x.spoor
is "$(events)" "cs $(nproc), dummy:u $(nproc)" "the other one is on each CPU"
like "$(notes)" '^left out: perf_event_open: ENOENT: 77:1' "and this is noted"

leads() # GROUP: NAME PINNED EXCLUSIVE of each that is left of it
{
	there "$SPOOR" record --skip-missing -a --dry-run --json -e "$1" 2>err |
		jq -r '[.[] | select(.name != "dummy:u") | "\(.name) \(.attr.pinned // 0) \(.attr.exclusive // 0)"] | join(", ")'
}
is "$(leads '{77:1,task-clock,cs}:D')" 'task-clock 1 0, cs 0 0' "what is pinned is the group, whoever leads it"
is "$(leads '{77:1:D,78:1,task-clock,cs}:e')" 'task-clock 1 1, cs 0 0' "also where two are left out"
is "$(leads '{task-clock,77:1,cs}:D,faults')" 'task-clock 1 0, cs 0 0, faults 0 0' "and who led it before leads on"
is "$(leads '{77:1}:D,{task-clock,cs}')" 'task-clock 0 0, cs 0 0' "another group has nothing of it"

export SPOOR_COUNTERS=2
group='{cycles,instructions,branches,cs}:S'
exits 1 "a group that is too large" there "$SPOOR" record -a -e "$group" --duration 0.1s -o y.spoor
like "$(tr -s '\n ' ' ' <err)" 'EINVAL: branches: refused on CPU 0 in the group of cycles' "names the event that is one too many"
exits 0 "is smaller" there "$SPOOR" record --skip-missing -a -e "$group" --duration 0.3s -o x.spoor
is "$(names)" "cycles instructions cs dummy:u" "by that"
is "$("$SPOOR" dump --json x.spoor | jq -r 'select(.type == "READ") | [.fields.read.values[].event] | join(" ")' | sort -u)" \
	'cycles instructions cs' "and counted as a group"
unset SPOOR_COUNTERS

export SPOOR_BUSY_CPU=1
exits 1 "a CPU that refuses" there "$SPOOR" record -a -e cycles,instructions,cs --duration 0.1s -o y.spoor
like "$(tr -s '\n ' ' ' <err)" 'EBUSY: cycles on CPU 1: another event has the counters to itself' "is named"
nok "nothing is recorded" test -e y.spoor
exits 0 "of the others" there "$SPOOR" record --skip-missing -a -e cycles,instructions,cs --duration 0.3s -o x.spoor
is "$(events)" "cycles $(($(nproc) - 1)), instructions $(($(nproc) - 1)), cs $(nproc), dummy:u $(nproc)" \
	"events are open there that can be"
is "$(notes | grep -c 'on CPU 1: another')" 2 "each that is not is told, once"
exits 1 "all of them, on the only CPU" there "$SPOOR" record --skip-missing -C 1 -e cycles,instructions --duration 0.1s -o y.spoor
like "$(tr -s '\n ' ' ' <err)" 'EBUSY: instructions on CPU 1' "is an error"
nok "nothing is recorded" test -e y.spoor
done_testing
