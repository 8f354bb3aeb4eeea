#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 45s
#
# What membership of the control group does not give: contents of other people's processes. A program
# keeps a text on its stack, and it is looked for in what the member gets.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/members.sh"
case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "--call-graph dwarf is for x86-64 and arm64" ;; esac
need_command python3
need_members "$FIXTURES/keeper" <<END
max_use = 64M
END
start
wait_for 20 test -S socket || { diag_file log; bail "spoord does not come up"; }

dwarf() # ARGUMENT...
{
	rm -f theirs/x.spoor
	capture 65000 --duration 700ms --call-graph dwarf -e cpu-clock -F 499 -o x.spoor "$@"
}

keep() # NAME COMMAND...: $kept is the pid of a keeper of NAME's own
{
	local name=$1 command=()

	shift
	while [ $# -gt 0 ] && [ "$1" != keeper ]; do
		command+=("$1")
		shift
	done
	shift
	background ${command[@]+"${command[@]}"} "$TMP/keeper" "text-of-$name" "$@" >"$name.pid" 2>"$name.err"
	wait_for 10 test -s "$name.pid" || bail "$name: $(cat "$name.err")"
	kept=$(cat "$name.pid")
}

# The text as it is on the stack.
shifted() # NAME
{
	printf 'text-of-%s' "$1" | tr '\055-\175' '\056-\176'
}

has() # NAME FILE: does the recording have the text of that keeper?
{
	"$SPOOR" export -f perf-data-file -o has.data "$2" && grep -aqF "$(shifted "$1")" has.data
}

as=(setpriv --reuid 65000 --regid 65000)
keep root keeper
root=$kept
keep own "${as[@]}" --clear-groups keeper
own=$kept
keep hidden "${as[@]}" --clear-groups keeper nodump
hidden=$kept
keep group setpriv --reuid 65000 --regid 65001 --clear-groups keeper
group_pid=$kept
keep able "${as[@]}" --clear-groups --inh-caps +net_bind_service --ambient-caps +net_bind_service keeper
able=$kept
background python3 -c 'import os, time
os.setgroups([]); os.setresgid(65000, 65000, 65000); os.setresuid(65000, 65000, 0)
print(os.getpid(), flush=True); time.sleep(600)' >saved.pid
wait_for 10 test -s saved.pid
saved=$(cat saved.pid)

# That the text would be found.
exits 0 "root records the stack of root" ctl capture --duration 700ms --call-graph dwarf -e cpu-clock -F 499 -p "$root" -o root.spoor
ok "the text is in it" has root root.spoor
exits 0 "a member records the stack of a process of its own" dwarf -p "$own"
ok "whose text is in it" has own theirs/x.spoor
exits 0 "and of its threads" dwarf -t "$own"
ok "too" has own theirs/x.spoor

refused() # NAME REASON ARGUMENT...
{
	local name=$1 reason=$2

	shift 2
	exits 1 "a member does not record the stack of $name" dwarf "$@"
	like "$(cat err)" "$reason.*call graph fp" "and is told why, and what to do"
	[ ! -s theirs/x.spoor ] || fail "nothing is written"
}

refused "a process of root" "process $root: it is another user's" -p "$root"
refused "a thread of root" "process $root: it is another user's" -t "$root"
refused "its own and one of root" "process $root: it is another user's" -p "$own,$root"
refused "a process of another group" "process $group_pid: its group is another one" -p "$group_pid"
refused "one that is not dumpable" "process $hidden: it is not dumpable" -p "$hidden"
refused "one with capabilities" "process $able: it has capabilities" -p "$able"
refused "one with another saved uid" "process $saved: it is another user's" -p "$saved"
refused "all CPUs" "of all that runs on a CPU"
refused "a CPU" "of all that runs on a CPU" -C 0
croot=$(cgroup_root)
if [ -n "$croot" ] && mkdir -p "$croot/spoor-rights.$$" 2>/dev/null; then
	at_exit "rmdir '$croot/spoor-rights.$$'"
	refused "a control group" "control group only root" --cgroup "spoor-rights.$$"
	refused "a control group for each event" "control group only root" -e cs,cs --cgroup "spoor-rights.$$,spoor-rights.$$"
else
	skip "no control group can be made here" 4
fi
if "${as[@]}" --clear-groups unshare -U true 2>/dev/null; then
	keep space "${as[@]}" --clear-groups unshare -U keeper
	refused "one in another user namespace" "process $kept: it is in a user namespace of its own" -p "$kept"
else
	skip "no user namespaces for everybody" 2
fi

# What is executed meanwhile is another process.
cp "$FIXTURES/keeper" suid && chown root suid && chmod 4755 suid
executed()
{
	[ "$(wc -l <executes.pid)" -ge 2 ]
}
# Time enough for the capture to begin before it, also on a busy machine, and to go on after it.
keep executes "${as[@]}" --clear-groups keeper exec 4000 "$TMP/suid" text-of-suid
exits 0 "a member records a process that executes a setuid program" dwarf --duration 7s -p "$kept"
ok "its own text is in it" has executes theirs/x.spoor
ok "it was executed" wait_for 20 executed
if [ "$(stat -c %u "/proc/$kept")" = 0 ]; then
	nok "the text of the setuid program is not" has suid theirs/x.spoor
else
	skip "programs on this file system get no user" 1
fi

# Into the archive, which members read.
exits 1 "a member has no stacks recorded into the archive" capture 65000 --duration 700ms --call-graph dwarf -e cpu-clock -p "$own"
like "$(cat err)" 'give one \(-o\)' "but into a file"
exits 0 "root does" ctl capture --duration 300ms --call-graph dwarf -e cpu-clock -p "$root"
is "$(stat -c %a "archive/$(cat out)")" 600 "for root's eyes"
exits 0 "without stacks" ctl capture --duration 300ms -e cpu-clock -p "$root"
is "$(stat -c %a "archive/$(cat out)")" 640 "for members as well"

# Fields of tracepoints, by the kernel's rule for everybody.
fields() # FILE: samples with fields
{
	"$SPOOR" dump --json "$1" | jq -s '[.[] | select(.fields.raw?)] | length'
}
if [ -d /sys/kernel/tracing/events/sched/sched_switch ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ]; then
	exits 0 "root records a tracepoint" ctl capture --duration 500ms -e sched:sched_switch -o trace.spoor
	in_range "$(fields trace.spoor)" 1 1e9 "with its fields"
	exits 0 "a member records a tracepoint" capture 65000 --duration 700ms -e sched:sched_switch -o y.spoor
	like "$(cat err)" '^spoorctl: sched:sched_switch: samples without the tracepoint.s fields: .*perf_event_paranoid = -1$' \
		"and is told that it has no fields"
	is "$(fields theirs/y.spoor)" 0 "which it has not"
	in_range "$("$SPOOR" info --json theirs/y.spoor | jq .samples)" 1 1e9 "but samples"
	# tracefs is root's: what the daemon reads there of a tracepoint is not for who may not have its fields.
	is "$(grep -c -a 'field:.*next_comm' trace.spoor) $(grep -c -a 'field:.*next_comm' theirs/y.spoor)" "1 0" \
		"nor has the file the tracepoint's format, as root's has"
else
	skip "no tracepoints, or for everybody" 7
fi

# Events that keep others from sampling, and those that reach past what their names are checked for.
denied() # EVENT REASON NAME
{
	exits 1 "$3" capture 65000 --duration 700ms -e "$1" -o z.spoor
	like "$(cat err)" "$1: $2.* for root" "is for root"
}
for mods in D e uD; do
	denied "cpu-clock:$mods" 'modifiers D and e keep others off the counters' "an event that takes the counters ($mods)"
done
exits 0 "which root takes" ctl capture --duration 100ms -e cpu-clock:D -o z.spoor
id=$(cat /sys/kernel/tracing/events/raw_syscalls/sys_enter/id 2>/dev/null)
if [ -n "$id" ] && [ -d /sys/bus/event_source/devices/tracepoint ]; then
	denied "tracepoint/config=$id,period=1000/" 'terms of the PMU tracepoint are' "a tracepoint of system calls, by its number"
	exits 1 "and under another name" capture 65000 --duration 700ms -e "tracepoint/config=$id,name=sched:sched_switch/" -o z.spoor
	like "$(cat err)" 'sched:sched_switch: terms of the PMU tracepoint are for root' "are for root"
	exits 0 "which root records" ctl capture --duration 100ms -e "tracepoint/config=$id,period=1000/" -o z.spoor
else
	skip "no tracepoints" 5
fi
# Not all kernels have all of them; kprobe goes the way of uprobe.
for pmu in breakpoint kprobe uprobe; do
	[ ! -d "/sys/bus/event_source/devices/$pmu" ] ||
		denied "$pmu/config1=0x1000,config2=4/" "terms of the PMU $pmu are" "terms of $pmu"
done
for_root() # EVENT SAID
{
	exits 1 "$2" capture 65000 --duration 700ms -e "$1" -o z.spoor
	like "$(cat err)" "$2" "is told"
}
for_root 2:1 '2:1: events by number, and branch_type, are for root'
for_root cs/branch_type=any/ 'events by number, and branch_type, are for root'
for_root cs/call-graph=dwarf/ 'call-graph=dwarf of one event is for root'
for_root cycles/call-graph=lbr/ 'call-graph=lbr is for root'
[ -z "$id" ] || for_root raw_syscalls:sys_enter/name=x/ 'x makes each system call of the host slower'
[ -z "$id" ] || for_root ftrace:function 'ftrace:function makes each function of the kernel slower'
# One that root has defined, and may have left there: it slows the program while an event of it is open, on or off.
tracing=/sys/kernel/tracing
if echo "p:spoor_test_$$/at $TMP/keeper:0x1139" >>$tracing/uprobe_events 2>/dev/null; then
	at_exit "echo -:spoor_test_$$/at >>$tracing/uprobe_events"
	for_root "spoor_test_$$:at" "spoor_test_$$:at is a probe, whose trap slows whoever runs into it"
	for_root "spoor_test_$$:at/name=x/" 'x is a probe, whose trap slows'
	exits 0 "a probe that root records by its name" ctl capture --duration 100ms -e "spoor_test_$$:at" -o z.spoor
else
	skip "no probes of user space" 5
fi
for_root "$(printf 'cs,%.0s' $(seq 65))cs" '66 events, more than 64, are for root'
if [ -d /sys/bus/event_source/devices/uprobe ]; then
	for_root uprobe:/bin/true:0x1139 'uprobe:/bin/true:0x1139: terms of the PMU uprobe are for root'
	for_root usdt:/bin/true:lab:plain=0x1139+0x1140 'usdt:/bin/true:lab:plain: terms of the PMU uprobe are for root'
fi
exits 1 "two lists of branches" ctl capture --duration 100ms -e cs/call-graph=lbr,branch_type=any/ -o z.spoor
like "$(cat err)" 'cs.*: call graphs by lbr and branches .* exclude each other' "are refused to root as well"
exits 0 "terms of another PMU" capture 65000 --duration 700ms -e 'software/config=0,period=10000000/' -o z.spoor

# Descriptors: 100 threads on each CPU, twice (the event, and side-band), are more than a member's part.
ok "the daemon ends" stop
printf '#!/bin/sh\nulimit -n %d\nexec "%s" "$@"\n' $((512 + 200 * $(nproc))) "$spoord" >limited
chmod 755 limited
spoord=$TMP/limited
start
wait_for 20 ctl status >/dev/null || { diag_file log; bail "spoord does not come up again"; }
background python3 -c 'import os, threading, time
for _ in range(99): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print(os.getpid(), flush=True); time.sleep(600)' >threads.pid
wait_for 10 test -s threads.pid
threads=$(cat threads.pid)
many="100 threads on $(nproc) CPUs with 1 events need"
exits 1 "a member's capture of many threads" capture 65000 --duration 700ms -e cpu-clock -p "$threads" -o many.spoor
like "$(cat err)" "$many $((200 * $(nproc))) file descriptors; the limit is [0-9]+: name fewer" "is refused, with what to do"
exits 1 "with stacks" capture 65000 --duration 700ms -e cpu-clock -p "$threads" --call-graph dwarf -o many.spoor
like "$(cat err)" "$many $((200 * $(nproc) + 200)) file descriptors; the limit" "it takes more"
exits 0 "one thread of them" capture 65000 --duration 700ms -e cpu-clock -t "$threads" -o one.spoor
exits 0 "root's capture of all" ctl capture --duration 100ms -e cpu-clock -p "$threads" -o many.spoor
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
