#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Many events on all CPUs in one recording, and several recorders at once: each counts what a program of known work
# (tests/fixtures/works.c) did, to the last one.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command perf jq
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "probes and tracepoints need root"
[ -d /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no PMU uprobe"
[ -r /sys/kernel/tracing/events/syscalls/sys_enter_times/id ] || skip_all "no tracepoints of system calls"

works=wk_$$ # nobody else's name, which the filters know it by
cp "$FIXTURES/works" $works
address=0x2a5a5a0040
calls='getppid getpgid getsid getuid geteuid getgid getegid gettid times sched_getscheduler getpriority
	sched_get_priority_max umask sched_get_priority_min getgroups munlockall sched_getattr timer_getoverrun
	timer_delete membarrier getcpu clock_getres ioprio_get mlock munlock msync'
mine="comm == \"$works\""

# --- 64 events, on all CPUs ---------------------------------------------------------------------------

n=50
cpus=$(nproc)
written=$((n * cpus))
if ! breakpoints_hit; then
	diag "this machine opens breakpoints and delivers none, as perf stat says: none are expected"
	written=0
fi
probes='' points=''
: >known # EVENT COUNT
for i in $(seq 0 5); do
	probes+=,uprobe:$TMP/$works:work_$i
	echo "uprobe:$TMP/$works:work_$i $(((n + i) * cpus))" >>known
done
i=0
for call in $calls; do
	points+=,syscalls:sys_enter_$call,syscalls:sys_exit_$call
	echo "syscalls:sys_enter_$call $(((n + i) * cpus))" >>known
	echo "syscalls:sys_exit_$call $(((n + i) * cpus))" >>known
	i=$((i + 1))
done
printf '%s\n' "mem:$address/4:w $written" "mem:$((address + 8))/4:rw $written" >>known
# Others may sample faults and switches of everybody; Linux 6.18 gives samples of one's the id of the other's.
software=minor-faults,cpu-migrations,cgroup-switches,dummy

# Rings of names and maps are as large as those of samples with --switch-events: others may do what they like.
exits 0 "64 events on all CPUs" "$SPOOR" record -a -c 1 --call-graph none -m 4M --switch-events -o x.spoor -e $software \
	-e "mem:$address/4:w,mem:$((address + 8))/4:rw" -e "${probes#,}" -e "${points#,}" --filter "$mine" -- \
	"./$works" $n $address
read -r of_cpus faults pid_of_it <out
is "$of_cpus" "$cpus" "the program worked on each CPU"
"$SPOOR" info --json x.spoor >info.json
is "$(json info.json '[.events[] | select(.name != "dummy:u")] | length')" 64 "they are 64"
is "$(json info.json '[.lost, .bad_records] | join(" ")')" "0 0" "nothing is lost, and all can be read"
json info.json '.events[] | select(.name | test("^(uprobe|syscalls|mem):")) | "\(.name) \(.samples)"' | sort >got
sort -o known known
same "60 of them have each hit and no other" known got
"$SPOOR" report --json -s event,cpu --pid "$pid_of_it" x.spoor >report.json
json report.json '.rows[] | select(.event | test("^(uprobe|syscalls|mem):")) | "\(.event) \(.cpu) \(.samples)"' | sort >got
for ((cpu = 0; cpu < cpus; cpu++)); do
	awk -v cpu=$cpu -v cpus="$cpus" '$2 { print $1, cpu, $2 / cpus }' known
done | sort >want
same "on each CPU as many" want got

of_program() # EVENT [SYMBOL]: its samples
{
	"$SPOOR" report --json -s event,pid,sym --event "$1" --pid "$pid_of_it" x.spoor |
		jq --arg s "${2-}" '[.rows[] | select($s == "" or .symbol == $s) | .samples] | add // 0'
}
is "$(of_program minor-faults touch_pages)" $((n * cpus)) "minor-faults: each new page"
in_range "$(of_program minor-faults)" $((n * cpus + 1)) $((faults + 20)) "no more than the program had"
in_range "$(of_program cpu-migrations)" $((cpus - 1)) 1000 "cpu-migrations: from one CPU to the next"
is "$(of_program dummy)" 0 "dummy counts nothing"

# --- two recordings, a daemon with a capture, and perf, of the same and of other events, at once ---------

place=$("$SPOOR" record --dry-run --json -e "uprobe:$TMP/$works:work_2" -- true | jq -r '.[0].attr.bp_len')
common=syscalls:sys_enter_getppid
cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
events = cpu-clock,$common/period=1/,syscalls:sys_exit_getpgid/period=1/
END
mkdir archive
start
wait_for 20 samples_over 0 || bail "no daemon: $(cat log)"
background ctl capture -c 1 -e "uprobe:$TMP/$works:work_2=$place" -e "$common,cpu-clock/freq=99/" -o capture.spoor --duration 10min 2>capture.err
capture=$!
capture_samples() { [ "$(ctl captures --json | jq '.captures[0].samples')" -gt 0 ]; }
ok "a capture beside spoord" wait_for 20 capture_samples
exits 0 "perf, two spoor record and a program, each in the other" \
	perf record -q -a -m 1024 -c 1 -e "$common,syscalls:sys_enter_getsid" --filter "$mine" -o p.data -- \
	"$SPOOR" record -q -a -c 1 -m 4M --switch-events -o a.spoor -e "uprobe:$TMP/$works:work_1,minor-faults,cpu-clock/freq=499/" \
	-e $common,syscalls:sys_enter_getuid --filter "$mine" -- \
	"$SPOOR" record -q -c 1 -o b.spoor -e "uprobe:$TMP/$works:work_1,minor-faults,mem:$address/4:w,$common" -- \
	"./$works" $n $address
ok "the capture ends" ctl stop "$(ctl captures --json | jq '.captures[0].id')"
wait $capture
ok "spoord ends" stop
mv archive/*-000001.spoor d.spoor

read -r _ _ pid_of_it <out
hits() # FILE: the program's, of what is counted exactly
{
	"$SPOOR" report --json -s event,sym --pid "$pid_of_it" "$1" | jq -r '[.rows[] |
		select((.event | startswith("cpu-clock") | not) and (.event != "minor-faults" or .symbol == "touch_pages"))] |
		group_by(.event)[] | "\(.[0].event) \(map(.samples) | add)"' | sed "s,uprobe:.*:,," | sort | xargs
}
is "$(hits a.spoor)" "minor-faults $((n * cpus)) syscalls:sys_enter_getppid $((n * cpus)) syscalls:sys_enter_getuid $(((n + 3) * cpus)) work_1 $(((n + 1) * cpus))" \
	"the first has what the program did"
of_writes=
[ $written -eq 0 ] || of_writes="mem:$address/4:w $written "
is "$(hits b.spoor)" "${of_writes}minor-faults $((n * cpus)) syscalls:sys_enter_getppid $((n * cpus)) work_1 $(((n + 1) * cpus))" \
	"the second as well"
is "$(hits capture.spoor)" "syscalls:sys_enter_getppid $((n * cpus)) work_2 $(((n + 2) * cpus))" "so has the capture"
is "$(hits d.spoor)" "syscalls:sys_enter_getppid $((n * cpus)) syscalls:sys_exit_getpgid $(((n + 1) * cpus))" "and spoord"
is "$(perf script -i p.data -F event 2>perf.err | tr -d " " | sort | uniq -c | sort -k 2 | xargs)" \
	"$((n * cpus)) syscalls:sys_enter_getppid: $(((n + 2) * cpus)) syscalls:sys_enter_getsid:" "and perf"
is "$(cat perf.err)$(perf report -i p.data --stats 2>/dev/null | grep LOST)" "" "which reads all of its records, and lost none"
for file in a b capture d; do
	is "$("$SPOOR" info --json $file.spoor | jq -r '[.lost, .bad_records] | join(" ")')" "0 0" \
		"$file.spoor: nothing is lost, and all can be read"
done
done_testing
