#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @alone it counts on both CPUs
#
# Machines and kernels that this one is not, by a shim of the system call (tests/fixtures/libmachine.c)
# over a made sysfs: hybrid x86, big.LITTLE, AMD with IBS, PMUs of whole sockets; Linux 4.18 to 6.1.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq unshare
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "mounting a made sysfs needs root"
[ "$(nproc)" -ge 2 ] || skip_all "two kinds of CPU need two CPUs"

pmu() # NAME TYPE [FILE CPUS]
{
	mkdir -p "devices/$1/format" "devices/$1/events"
	echo "$2" >"devices/$1/type"
	echo config:0-7 >"devices/$1/format/event"
	[ $# -lt 3 ] || echo "$4" >"devices/$1/$3"
}

even=$(seq -s , 0 2 $(($(nproc) - 1)))
odd=$(seq -s , 1 2 $(($(nproc) - 1)))
machine() # NAME
{
	export SPOOR_MACHINE=$1 SPOOR_MACHINE_LOG=$TMP/opened
	rm -rf devices
	case $1 in
	hybrid)
		pmu cpu_core 4 cpus "$even"
		pmu cpu_atom 10 cpus "$odd"
		;;
	biglittle*)
		pmu armv8_cortex_a55 8 cpus "$even"
		pmu armv8_cortex_a76 9 cpus "$odd"
		;;
	amd*)
		pmu cpu 4
		pmu ibs_op 11
		;;
	esac
	pmu uncore_toy 20 cpumask 0
}

there() # COMMAND...: on that machine
{
	rm -f opened
	LD_PRELOAD=$PRELOADS/libmachine.so unshare --mount sh -c '
		mount --bind devices /sys/bus/event_source/devices && exec "$@"' - "$@"
}

# The open events of a recording: "CPU TYPE CONFIG PRECISE", each once.
opened() # PID
{
	awk -v pid="$1" '$1 == pid && $7 == 0 { print $2, $3, $4, $5 }' opened | sort -u | xargs
}

# One event, with samples of both kinds of CPU.
has_samples() # NAME
{
	is "$("$SPOOR" info --json -i x.spoor | jq -r '[.events[] | select(.samples > 0) | .name] | join(" ")')" \
		"cycles:P" "$1: is one event"
	is "$("$SPOOR" report --json --sort cpu x.spoor 2>/dev/null |
		jq '[.rows[].cpu] | sort | [.[0], .[1]] | @csv' -r)" 0,1 "$1: with samples of both kinds"
}

background taskset -c 0 "$FIXTURES/burn" 600000
background taskset -c 1 "$FIXTURES/burn" 600000
burning=$!

daemon_there() # NAME
{
	rm -rf archive
	mkdir archive
	printf 'archive_directory = %s\ncontrol_socket = %s\n' "$TMP/archive" "$socket" >spoord.conf
	spoord_of_here=$spoord
	spoord=$TMP/spoord_there
	printf '#!/bin/sh\nLD_PRELOAD=%s exec unshare --mount sh -c '\''mount --bind devices /sys/bus/event_source/devices && exec "$@"'\'' - "%s" "$@"\n' \
		"$PRELOADS/libmachine.so" "$spoord_of_here" >"$spoord"
	chmod +x "$spoord"
	: >log
	start
	ok "$1: spoord records" wait_for 20 samples_over 20 || diag_file log
	stop
	spoord=$spoord_of_here
	unlike "$(cat log)" 'cannot|failed' "$1: without a complaint"
}

# MACHINE, what each CPU opens for -a, and for a process.
while read -r name all task; do
	all=${all//_/ } task=${task//_/ }
	machine "$name"
	exits 0 "$name: record -a" there "$SPOOR" record -a -C 0,1 --duration 0.5s -o x.spoor
	has_samples "$name"
	is "$(opened -1)" "$all" "$name: each CPU has its own event"
	exits 0 "$name: record -p" there "$SPOOR" record -p $burning --duration 0.5s -o x.spoor
	is "$(opened "$burning" | cut -d ' ' -f 1-8)" "$task" "$name: of a process as well"
	exits 0 "$name: of a command" there "$SPOOR" record -o x.spoor -- "$FIXTURES/burn" 100
	in_range "$("$SPOOR" info --json -i x.spoor | jq .samples)" 50 1000 "$name: has its samples"
	daemon_there "$name"
done <<END
hybrid 0_0_0x400000000_3_1_0_0xa00000000_2 0_0_0x400000000_3_1_0_0xa00000000_2
biglittle 0_0_0x800000000_3_1_0_0x900000000_3 0_0_0x800000000_3_1_0_0x900000000_3
biglittle-old 0_0_0x0_3_1_0_0x0_3 0_0_0x0_3_1_0_0x0_3
amd-6.1 0_0_0x0_2_1_0_0x0_2 0_0_0x0_0_1_0_0x0_0
amd-6.2 0_0_0x0_2_1_0_0x0_2 0_0_0x0_2_1_0_0x0_2
alike 0_0_0x0_3_1_0_0x0_3 0_0_0x0_3_1_0_0x0_3
END

machine hybrid
exits 0 "an event of one kind of core" there "$SPOOR" record -a -e cpu_atom/event=0x3c/ --duration 0.5s -o x.spoor
is "$("$SPOOR" report --json --sort cpu x.spoor 2>/dev/null | jq -c '[.rows[].cpu] | map(select(. % 2 == 0))')" \
	'[]' "has samples of that kind alone"
exits 1 "on other CPUs" there "$SPOOR" record -C 0 -e cpu_atom/event=0x3c/ --duration 0.5s -o y.spoor
like "$(cat err)" 'cpu_atom/event=0x3c/: cpu_atom counts on other CPUs than those to be sampled' "it is told why not"
exits 0 "a raw event" there "$SPOOR" record -a -C 0,1 -e r3c --duration 0.2s -o x.spoor
is "$(opened -1)" "0 4 0x3c 0 1 10 0x3c 0" "is opened on each kind of core"
exits 0 "an event of the cache" there "$SPOOR" record -a -C 0,1 -e LLC-loads --duration 0.2s -o x.spoor
is "$(opened -1)" "0 3 0x400000002 0 1 3 0xa00000002 0" "too"
exits 0 "counters" there "$SPOOR" record -a -C 0,1 --counters --duration 0.5s -o x.spoor
is "$("$SPOOR" counters -A --json x.spoor | jq -rs '[.[] | select(any(.counts[]; .event == "instructions" and .count > 0)) | .cpu] |
	unique | join(" ")')" "0 1" "count on both kinds of core"
in_range "$(opened -1 | grep -o '[01] 0 0x[4a]00000001 0' | wc -l)" 2 2 "each by its own PMU"
exits 0 "an event of a socket" there "$SPOOR" record -a -e uncore_toy/event=1/ --duration 0.2s -o x.spoor
is "$(opened -1)" "0 20 0x1 0" "is opened once for it"
exits 2 "of a process" there "$SPOOR" record -p $burning -e uncore_toy/event=1/ --duration 0.2s -o y.spoor
like "$(cat err)" 'uncore_toy/event=1/ counts for whole CPUs, not for processes' "it cannot be, and this is said"
nok "nothing is left of what failed" test -e y.spoor
machine amd-6.1
exits 1 "precise cycles of a process, asked for where there are none" \
	there "$SPOOR" record -p $burning -e cycles:pp --duration 0.2s -o y.spoor
like "$(cat err)" 'cycles:pp: the kernel refuses this event or one of its modifiers' "are refused in words"
unset SPOOR_MACHINE SPOOR_MACHINE_LOG

# What is too old is named, with what is not.
machine alike
while read -r kernel refuses; do
	export SPOOR_KERNEL=$kernel
	exits 1 "Linux $kernel: record fails" there "$SPOOR" record -a --duration 0.2s -o y.spoor
	like "$(cat err)" "Linux $kernel\.0-shim refuses $refuses: spoor needs Linux 4.18 or newer" \
		"Linux $kernel: is named, with what it refuses"
	nok "Linux $kernel: no file is left" test -e y.spoor
done <<END
none the dummy event \(Function not implemented\)
3.10 the dummy event \(Invalid argument\)
3.16 CLOCK_MONOTONIC in events \(Invalid argument\)
END
unset SPOOR_KERNEL

# Older kernels do without what they lack, and say so.
notes_of() # FILE: what it does without, in words
{
	"$SPOOR" info --json -i "$1" | jq -r .notes | sort | sed 's/.*gives //' | xargs -d '\n' printf '%s; '
}
for kernel in 4.18 5.4 5.10 6.1; do
	machine alike
	export SPOOR_KERNEL=$kernel
	cp "$FIXTURES/burn" "burn-$kernel"
	exits 0 "Linux $kernel: record -a" there "$SPOOR" record -a -o x.spoor -- "./burn-$kernel" 300
	"$SPOOR" info --json -i x.spoor >about
	like "$(jq -r .release about)" "^$kernel\." "Linux $kernel: it is that kernel"
	in_range "$(jq .samples about)" 200 10000 "Linux $kernel: has samples"
	in_range "$(jq .build_ids about)" 1 100000 "Linux $kernel: and build-ids"
	is "$("$SPOOR" report --json --comm "burn-$kernel" --sort sym x.spoor 2>/dev/null |
		jq -r '.rows[0].symbol')" burn_hot "Linux $kernel: and names"
	notes=$(notes_of x.spoor)
	case $kernel in
	4.18) is "$notes" "samples do not tell their control group: not in this kernel; no BPF programs; no names of control groups that come later; no names of kernel code that comes later (BPF); " "Linux $kernel: says what it lacks" ;;
	5.4) is "$notes" "samples do not tell their control group: not in this kernel; no names of control groups that come later; " "Linux $kernel: says what it lacks" ;;
	5.10 | 6.1) is "$notes" "; " "Linux $kernel: lacks nothing that is told" ;;
	esac
	daemon_there "Linux $kernel"
	is "$(notes_of "$(find archive -name '*-000001.spoor')")" "$notes" "Linux $kernel: spoord's files say the same"
	unset SPOOR_KERNEL
done

# Deferred call chains (Linux 6.19), as perf asks for them; without them, the usual ones.
attrs() # COMMAND...: NAME defer_callchain defer_output of each event
{
	"$@" record --dry-run --json -a -e cs,faults:k,cpu-clock/call-graph=no/ --call-graph fp,defer |
		jq -r '.[] | "\(.name) \(.attr.defer_callchain // 0)\(.attr.defer_output // 0)"' | xargs
}
export SPOOR_KERNEL=6.19
is "$(attrs there "$SPOOR" 2>err)" "cs 10 faults:k 10 cpu-clock/call-graph=no/ 00 dummy:u 01" "fp,defer: is asked for"
unlike "$(cat err)" deferred "of a kernel that has it"
exits 0 "and recorded" there "$SPOOR" record -a -e faults --call-graph fp,defer -o x.spoor -- "$FIXTURES/faults" 1000
is "$("$SPOOR" info --json -i x.spoor | jq '.events[0].samples > 0')" true "with samples"
unset SPOOR_KERNEL
export SPOOR_KERNEL=5.10
is "$(attrs there "$SPOOR" 2>err)" "cs 00 faults:k 00 cpu-clock/call-graph=no/ 00 dummy:u 00" "an older kernel: is not"
like "$(tr -s '\n ' ' ' <err)" 'call chains are not deferred: this kernel' "and told"
unset SPOOR_KERNEL

# A pinned event that found no counter: read(2) gives nothing. Once, by its name and where.
machine alike
export SPOOR_PINNED_FAILS=1
exits 0 "a pinned event in error" there "$SPOOR" record -a -e cpu-clock:D -e page-faults -o x.spoor -- sleep 1.5
is "$(grep -c 'no counter was free' err)" 1 "it is told once"
like "$(tr -s '\n ' ' ' <err)" 'cpu-clock:D: no counter was free for it on CPU 0 and [0-9]+ more: pinned' "by its name and CPU"
is "$("$SPOOR" dump x.spoor | sed -n 's/.* READ .* event="\([^"]*\)".*/\1/p' | sort -u)" page-faults \
	"and has no count at the end, which the other one has"
unset SPOOR_PINNED_FAILS

done_testing
