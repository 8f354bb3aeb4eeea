#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @alone perf 6.1 aborts beside a recorder that asks for build-ids, and its attrs are compared
#
# Event strings of every kind: the attrs of spoor record --dry-run beside those of perf record of the same strings
# (perf evlist -v). Compared are the fields in `fields` below, and of sample_type what terms ask for. Meant to differ:
#
#	sample_type	perf asks for CPU, ID, PERIOD by what it was asked for; spoor always for IDENTIFIER, CPU, CGROUP
#	read_format	spoor reads the times as well, to tell what was multiplexed
#	use_clockid	spoor's times are CLOCK_MONOTONIC's
#	watermark	spoor is woken by bytes
#	mmap, comm...	spoor has these on an event of its own (side-band)
#	exclude_guest	perf 6.1 forgets it with any modifiers but u, G and H
#	READ of S	comes with groups
#	terms given twice  perf 6.1 ORs the value of an alias with the one that is given; here the latter holds
#	mem:A::u, PMU/x/:u	are spoor's: perf wants mem:A:u, PMU/x/u
#	cpu/cycles/	is not in perf 6.1; test_event_spec.c has it as later perfs do
. "$(dirname "$0")/../lib.sh"
need_command perf unshare
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "tracepoints and a made sysfs need root"

fields='type config { sample_period, sample_freq } pinned exclusive exclude_user exclude_kernel exclude_hv
	exclude_idle freq inherit enable_on_exec precise_ip exclude_host exclude_guest exclude_callchain_user
	bp_type { bp_addr, config1 } { bp_len, config2 } sample_regs_user sample_stack_user sample_max_stack'

# STRINGS: a file of event strings, one a line; stdin: lines of attrs in their order
attrs()
{
	awk -v wanted="$fields" -v strings="$1" '
		BEGIN {
			gsub(/{ sample_period, sample_freq }/, "rate", wanted)
			gsub(/{ bp_addr, config1 }/, "config1", wanted)
			gsub(/{ bp_len, config2 }/, "config2", wanted)
			n = split(wanted, names)
		}
		/^#/ || / \(side-band\): / { next }
		{
			if ((getline string <strings) <= 0)
				string = "none"
			sub(/^.*: type: /, "type: ") || sub(/^.*: size: /, "size: ")
			gsub(/{ sample_period, sample_freq }/, "rate")
			gsub(/{ bp_addr, config1 }/, "config1")
			gsub(/{ bp_len, config2 }/, "config2")
			split("", is)
			count = split($0, parts, /, /)
			for (i = 1; i <= count; i++) {
				split(parts[i], pair, /: /)
				is[pair[1]] = pair[2]
			}
			out = ""
			for (i = 1; i <= n; i++)
				if (names[i] in is)
					out = out " " names[i] "=" is[names[i]]
			count = split(is["sample_type"], types, "|")
			for (i = 1; i <= count; i++)
				if (types[i] ~ /^(CALLCHAIN|RAW|REGS_USER|STACK_USER)$/)
					out = out " " types[i]
			# What perf forgets.
			mods = string
			sub(/^mem:[^:]*/, "", mods) && sub(/^:[rwx]+/, "", mods)
			if (!sub(/^.*[:\/]/, "", mods) || string ~ /^[a-z]+:[a-z_]+$/ && string !~ /:[ukhGHIDpPeSWb]+$/)
				mods = ""
			if (mods ~ /^[khIDpPeSWb]+$/)
				sub(/ exclude_guest=1/, "", out)
			print string ":" out
		}'
}

by_perf() # STRING...
{
	local all=()
	for string; do all+=(-e "$string"); done
	"${machine[@]}" perf record -q -F 999 -o p.data "${all[@]}" -- true >perf.out 2>&1 </dev/null &&
		perf evlist -v -i p.data 2>>perf.out
}

by_spoor() # STRING...
{
	local all=()
	for string; do all+=(-e "$string"); done
	"${machine[@]}" "$SPOOR" record --dry-run --call-graph none -F 999 "${all[@]}" -- true 2>spoor.err
}

compared=0
compare() # NAME BATCH: strings on stdin, one a line
{
	local name=$1 batch=$2 taken=() before=$compared
	: >perf.attrs
	: >spoor.attrs
	while mapfile -t -n "$batch" taken && [ ${#taken[@]} -gt 0 ]; do
		printf '%s\n' "${taken[@]}" >asked
		by_perf "${taken[@]}" | attrs asked >>perf.attrs || diag_file perf.out
		by_spoor "${taken[@]}" | attrs asked >>spoor.attrs || diag_file spoor.err
		compared=$((compared + ${#taken[@]}))
	done
	is "$(wc -l <perf.attrs)" "$((compared - before))" "$name: perf opens them"
	if ! ok "$name: as perf has them" cmp spoor.attrs perf.attrs; then
		diff perf.attrs spoor.attrs >differ
		diag_file differ
		diag_file spoor.err
		diag_file perf.out
	fi
}

with() # SUFFIX...: of each line
{
	while read -r name; do
		for suffix; do
			echo "$name$suffix"
		done
	done
}

# As perf has them: what the interrupts of many clocks may take of a CPU is not asked here.
echo 100 >percent
bind='mount --bind percent /proc/sys/kernel/perf_cpu_time_max_percent'
machine=(unshare --mount sh -c "$bind"' && exec "$@"' -)
software='cpu-clock task-clock page-faults faults context-switches cs cpu-migrations migrations minor-faults
	major-faults alignment-faults emulation-faults dummy cgroup-switches'
# shellcheck disable=SC2086 # words
compare "software events and modifiers" 80 < <(printf '%s\n' $software | with '' :u :k :h :uk :ukh :I :D :G :GH :uG)
compare "other modifiers" 30 < <(printf '%s\n' cpu-clock cs | with :p :pp :ppp :upp :H :P :e :S :W :b : :kI :hG :uDI)
compare "terms and numbers" 30 < <(printf '%s\n' cpu-clock/period=1000000/ cpu-clock/period=0xf4240/u cpu-clock/freq=99/ cs/period=1,name=x/k \
	'task-clock/call-graph=fp/' 'cpu-clock/call-graph=no/' 'cs/call-graph=dwarf/' \
	'cs/call-graph=dwarf,stack-size=4096/u' 'cs/max-stack=7/' 'faults/no-inherit/' 'faults/inherit/' \
	'cpu-clock/config=1/' 'cpu-clock/config1=2,config2=0x3/' cs// cpu-clock//u 1:3 1:0x2:u 1:1 \
	'software/config=3/' 'software/config=2/u' software/config=2,period=5/k 1:5:k)
# There are four of them in a CPU.
compare "breakpoints on data" 4 < <(printf '%s\n' mem:0x1000 mem:0x1000/1 mem:4096/2 mem:0x1000/8 | with '' :w:u :rw)
compare "breakpoints on code, with modifiers" 4 < <(printf '%s\n' mem:0x1000:x mem:0x1000:x:u mem:0x1000/8:x mem:0x1000:u mem:0x1000:k mem:0x1000/8:w:uk \
	mem:0xffffffff81000000:w:k mem:0x1000:rw:p)
compare "tracepoints" 50 < <(printf '%s\n' sched:sched_switch sched:sched_wakeup sched:sched_process_exit skb:kfree_skb syscalls:sys_enter_write \
	irq:softirq_entry timer:hrtimer_start | with '' :u :k :G /max-stack=3/ /call-graph=fp/u)

# A pattern is several events, in no order of perf's.
for pattern in 'sched:sched_process_*' 'irq:softirq_*:u' 'syscalls:sys_e*_read' 'timer:hrtimer_[se]*'; do
	echo "$pattern" >asked
	by_perf "$pattern" | attrs asked | sed 's/^[^ ]* //' | sort >perf.attrs
	by_spoor "$pattern" | attrs asked | sed 's/^[^ ]* //' | sort >spoor.attrs
	ok "$pattern: $(wc -l <perf.attrs) as perf has them" cmp spoor.attrs perf.attrs
	is "$(($(wc -l <spoor.attrs) > 1))" 1 "several"
done

# A machine with counters, by a shim: what it opens, this one opens as a clock.
pmu=devices/cpu
mkdir -p $pmu/format $pmu/events
echo 4 >$pmu/type
echo config:0-7,32-35 >$pmu/format/event
echo config:8-15 >$pmu/format/umask
echo config:18 >$pmu/format/edge
echo config1:0-15 >$pmu/format/ldlat
echo event=0x3c >$pmu/events/cpu-cycles
echo event=0xcd,umask=0x1,ldlat=3 >$pmu/events/mem-loads
echo event=0xd1,edge >$pmu/events/stalls
export SPOOR_MACHINE=amd-6.2 SPOOR_SILENT=1
# shellcheck disable=SC2016 # that shell's
machine=(env "LD_PRELOAD=$PRELOADS/libmachine.so" unshare --mount sh -c
	"$bind"' && mount --bind devices /sys/bus/event_source/devices && exec "$@"' -)
compare "hardware events" 80 < <(printf '%s\n' cycles cpu-cycles instructions cache-references cache-misses branches branch-instructions \
	branch-misses bus-cycles ref-cycles stalled-cycles-frontend idle-cycles-frontend stalled-cycles-backend | with '' :u :k :G :D)
compare "caches" 70 < <(printf '%s\n' L1-dcache L1-icache LLC dTLB iTLB branch node |
	with -loads -load-misses '' -read -load-refs -miss -misses-read -access -ops | grep -v '^branch-misses')
compare "caches by other names" 30 < <(printf '%s\n' l1d L1-data l1-d L2 d-tlb Data-TLB node |
	with -stores -write-miss -prefetches -speculative-read-misses)
compare "raw events and a PMU" 30 < <(printf '%s\n' r1a8 r0 r41003c rffffffff r1a8:u r1a8/period=1000/ 'cpu/event=0x3c/' 'cpu/event=0x13c,umask=1/' \
	'cpu/event=0x3c,umask=0xff,edge/u' 'cpu/event=1,edge=0/k' 'cpu/ldlat=30,event=0xcd/' cpu/cpu-cycles/ \
	cpu/mem-loads/ 'cpu/mem-loads,ldlat=7/' cpu/mem-loads/u cpu/stalls/ 'cpu/stalls,period=9/' stalls stalls:u \
	mem-loads 'cpu/config=0x1234,config1=5,config2=6/' 'cpu/event=1,freq=50/' 'cpu/event=1,name=one/uk' \
	'cpu/event=1,call-graph=fp/')

# AMD's IBS, with the terms that its driver has.
mkdir -p devices/ibs_op/format devices/ibs_fetch/format
echo 11 >devices/ibs_op/type
echo config:19 >devices/ibs_op/format/cnt_ctl
echo config:16 >devices/ibs_op/format/l3missonly
echo 12 >devices/ibs_fetch/type
echo config:57 >devices/ibs_fetch/format/rand_en
echo config:59 >devices/ibs_fetch/format/l3missonly
compare "IBS" 1 < <(printf '%s\n' ibs_op// ibs_op/cnt_ctl=1/ ibs_op/cnt_ctl=1,l3missonly=1/ ibs_op/cnt_ctl/ ibs_fetch// ibs_fetch/rand_en=1/ \
	ibs_fetch/rand_en=1,l3missonly=1/ ibs_op/cnt_ctl=1,period=65536/ ibs_op/cnt_ctl=1,freq=50/ ibs_fetch/config=0x200000000000000/ \
	ibs_op/cnt_ctl=1,name=ops/)

# config3 is of perf 6.3, and config4 is newer: what is wanted is by hand, of the format files.
echo config3:0-7,32-35 >$pmu/format/third
echo config4:63 >$pmu/format/fourth
echo event=0x21,third=0x1ff >$pmu/events/wide
while read -r string want; do
	"${machine[@]}" "$SPOOR" record --dry-run --json -e "$string" -- true 2>err |
		jq -r '.[0].attr | [.size, .config // "0", .config3 // "0", .config4 // "0"] | join(" ")' >got
	is "$(cat got)" "$want" "$string"
done <<'EOF'
cpu/event=1/ 128 0x1 0 0
cpu/event=1,third=0xf5a/ 136 0x1 0xf0000005a 0
cpu/third=0x5a/u 136 0 0x5a 0
cpu/fourth/ 144 0 0 0x8000000000000000
cpu/event=2,third=3,fourth=1/ 144 0x2 0x3 0x8000000000000000
cpu/config3=7,config=5/ 136 0x5 0x7 0
cpu/config4=9/ 144 0 0 0x9
cpu/wide/ 136 0x21 0x1000000ff 0
cpu/wide,third=2/ 136 0x21 0x2 0
EOF
exits 2 "more bits than a term has" "${machine[@]}" "$SPOOR" record --dry-run -e cpu/third=0x1000/ -- true
like "$(cat err)" 'cpu/third=0x1000/: at character [0-9]+: .*third' "is told with its place"
machine=(unshare --mount sh -c "$bind"' && exec "$@"' -)
unset SPOOR_MACHINE
"$SPOOR" record --dry-run --json -e cycles:P -- true 2>err | jq -r '.[0] | select(.attr.type == 1) | .attr.precise_ip // 0' >out
is "$(tr -d "0\n" <out)" '' "where cycles:P is a clock, for want of a counter, that has no precision"
is "$((compared >= 200))" 1 "$compared strings of one event"

# Nothing is executed, recorded or left behind.
exits 0 "a dry run" "$SPOOR" record --dry-run --json -e cs:u,sched:sched_switch -c 7 -- touch executed
is "$(jq -r '.[] | [.name, .sideband, .attr.type, .attr.config // 0, .attr.sample_period // 0, .attr.exclude_kernel // 0] | join(" ")' <out |
	sed "s/$(cat /sys/kernel/tracing/events/sched/sched_switch/id)/ID/")" \
	"$(printf '%s\n' 'cs:u false 1 0x3 7 1' 'sched:sched_switch false 2 ID 7 0' 'dummy:u true 1 0x9 0 1' |
		sed "s/ID/$(printf '0x%x' "$(cat /sys/kernel/tracing/events/sched/sched_switch/id)")/")" "--json has the attrs"
nok "nothing is executed" test -e executed
"$SPOOR" record --dry-run -e cs:u,faults -c 7 -- true >lines
exits 0 "-v" "$SPOOR" record -v -q -e cs:u,faults -c 7 -o verbose.spoor -- true
same "-v: what is opened is what --dry-run prints" err lines
exits 0 "--dry-run -v" "$SPOOR" record --dry-run -v -e cs:u,faults -c 7 -- true
sed 's/^  \({[^}]*}\|[^ ]*\) */\1: /' out | awk '!/: / { if (NR > 1) print line; line = $0; sep = " "; next }
	{ line = line sep $0; sep = ", " } END { print line }' >joined
same "--dry-run -v: the same, a field a line" joined lines
nok "nothing is recorded" test -e recording.spoor
exits 2 "what is wrong with an event" "$SPOOR" record --dry-run -e cs:u,faults:z -- true
like "$(cat err)" "cs:u,faults:z: at character 13: unknown modifier 'z'" "is told with its place"
exits 2 "--json of a recording" "$SPOOR" record --json -e cs -- true
# What a PMU but counts, and what no sysfs tells.
if [ -e /sys/bus/event_source/devices/msr/events/tsc ]; then
	for run in "" --dry-run; do
		exits 1 "record $run of a PMU that but counts" "$SPOOR" record ${run:+"$run"} -e msr/tsc/ -o x.spoor -- true
		is "$(tr -s '\n ' ' ' <err)" "spoor record: msr/tsc/ can only be counted, not sampled: --counters=msr/tsc/ " "names the option"
	done
	exits 0 "which counts it" "$SPOOR" record --counters=msr/tsc/ -o counted.spoor -- true
fi
if [ "$(id -u)" -eq 0 ] && unshare --mount umount -l /sys 2>/dev/null; then
	exits 1 "without /sys" unshare --mount sh -c 'umount -l /sys && exec "$@"' - "$SPOOR" record -e cs -o x.spoor -- true
	like "$(tr -s '\n ' ' ' <err)" '/sys/devices/system/cpu/online: No such file or directory: mount -t sysfs sysfs /sys $' "names its file"
	exits 2 "without PMUs in it" unshare --mount sh -c 'mount -t tmpfs none /sys/bus/event_source && exec "$@"' - \
		"$SPOOR" record -e msr/tsc/ -o x.spoor -- true
	like "$(tr -s '\n ' ' ' <err)" 'no PMUs: there is no /sys/bus/event_source/devices: mount -t sysfs' "is told as that"
fi

# More than a limit lets be opened: raised as far as it goes, or said before anything is opened.
cpus=$(nproc)
exits 1 "more events than descriptors" sh -c 'ulimit -n 256 && exec "$@"' - "$SPOOR" record -e 'syscalls:*' -o x.spoor -- true
like "$(cat err)" "^spoor record: [0-9]+ events, of 1 threads or control groups on $cpus CPUs, need [0-9]+ file descriptors, and the hard limit is 256: raise it" \
	"are told"
nok "and nothing is recorded" test -e x.spoor
exits 0 "the soft limit is raised" sh -c 'ulimit -Sn 64 && exec "$@"' - "$SPOOR" record -e "$(printf 'cs,%.0s' $(seq 100))cs" \
	-o many.spoor -- true
exits 0 "a hundred events by name" "$SPOOR" record -e "$(printf 'cs,%.0s' $(seq 100))cs" -o many.spoor -- true
is "$("$SPOOR" info --json -i many.spoor | jq '.events | length')" 102 "are recorded"
done_testing
