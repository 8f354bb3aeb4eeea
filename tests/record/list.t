#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor list: what perf list has, what sysfs has, and what the kernel opens.
. "$(dirname "$0")/../lib.sh"
need_command jq perf unshare setpriv
[ "$(id -u)" -eq 0 ] || skip_all "tracepoints and a made sysfs need root"

of_kind() # KIND
{
	jq -r --arg kind "$1" '.[] | select(.kind == $kind) | .name' all
}

by_perf() # KIND WORDS: names and aliases
{
	perf list "$1" 2>/dev/null | sed -n "s/^  *\(.*[^ ]\)  *\[$2\]\$/\1/p" | sed 's/ OR /\n/g' | sed 's/ *$//' | sort
}

exits 0 "everything there is" "$SPOOR" list --json
mv out all
of_kind tracepoint | sort >ours
by_perf tracepoint 'Tracepoint event' >theirs
is "$(($(wc -l <ours) > 100))" 1 "there are tracepoints"
ok "they are perf's" cmp ours theirs
is "$(jq -r '.[] | select(.kind == "software") | .name, .alias // empty' all | grep -vx off-cpu | sort | xargs)" \
	"$(by_perf sw 'Software event' | grep -v bpf-output | xargs)" "software events are perf's, but for bpf-output"
is "$("$SPOOR" list --names off-cpu)" off-cpu "and the one of ours"
is "$(of_kind pmu | sort | xargs)" \
	"$(cd /sys/bus/event_source/devices && for f in */events/*; do [ ! -e "$f" ] || echo "${f%%/*}/${f##*/}/"; done | grep -v '\.' | sort | xargs)" \
	"events of PMUs are those of sysfs"
is "$(of_kind term | sort | xargs)" \
	"$(cd /sys/bus/event_source/devices && for f in */format/*; do [ ! -e "$f" ] || echo "${f%%/*}/${f##*/}=/"; done | sort | xargs)" \
	"terms too"

# What is said to be refused is; what is said to be opened is. cycles has a clock instead.
jq -r '.[] | select(.kind == "hardware" or .kind == "software" or .kind == "cache") | "\(.available) \(.name)"' all |
	while read -r available name; do
		"$SPOOR" record --dry-run -e "$name" -- true >/dev/null 2>&1 && opens=true || opens=false
		[ "$name" = cycles ] || [ "$available" = "$opens" ] || echo "$name: $available, $opens"
	done >wrong
is "$(cat wrong)" "" "what can be opened is told"

# A machine with counters, by the shim.
mkdir -p devices/cpu/events devices/cpu/format
echo 4 >devices/cpu/type
echo config:0-7 >devices/cpu/format/event
echo event=0x3c >devices/cpu/events/cpu-cycles
echo event=0x3d >devices/cpu/events/other
echo 0.5 >devices/cpu/events/other.scale
# shellcheck disable=SC2016 # that shell's
SPOOR_MACHINE=amd-6.2 LD_PRELOAD=$PRELOADS/libmachine.so unshare --mount sh -c \
	'mount --bind devices /sys/bus/event_source/devices && exec "$@"' - "$SPOOR" list --json >shim
is "$(jq '[.[] | select(.kind == "hardware" or .kind == "cache") | .available] | unique' shim -c)" "[true]" \
	"where there are counters, they are told"
is "$(jq -r '.[] | select(.kind == "pmu" or .kind == "term") | "\(.name) \(.says) \(.available)"' shim | xargs)" \
	"cpu/cpu-cycles/ event=0x3c true cpu/other/ event=0x3d true cpu/event=/ config:0-7 true" "and what the PMU has"

exits 0 "a pattern" "$SPOOR" list 'sched:sched_process_*' faults
is "$(sed '/^#/d' out | awk '{ print $2 }' | sort | uniq -c | xargs)" \
	"5 software $(perf list tracepoint | grep -cE ' sched:sched_process_|faults') tracepoint" "names that match, parts of names"
is "$("$SPOOR" list 'cpu-mi?rations' --names)" cpu-migrations "one that is a whole name"
is "$("$SPOOR" list migrations --json | jq -r '.[] | select(.kind == "software") | .alias')" migrations "an alias"
is "$("$SPOOR" list --names breakpoint term raw | grep -c =)" 0 "--names has what is an event as it stands"
is "$("$SPOOR" list --names software | sort | xargs)" "$(of_kind software | sort | xargs)" "of a kind"
exits 1 "nothing matches" "$SPOOR" list nosuchevent
like "$(cat err)" 'no event matches' "is said"
exits 0 "without root" setpriv --reuid 65534 --regid 65534 --clear-groups "$SPOOR" list
like "$(cat err)" 'tracepoints are not shown: that needs root' "tracepoints are missed"
like "$(cat out)" 'page-faults +software +or faults' "the rest is there"
done_testing
