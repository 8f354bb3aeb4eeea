#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# What captures may take of the host: a program is timed with and without a member's worst captures, in
# pairs. It is timed by its CPU time, which is what interrupts take from it, so that a busy machine
# tells the same; what the daemon uses itself is subtracted.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/members.sh"
need_members "$FIXTURES/pace" <<END
max_use = 512M
max_captures = 8
END
start
wait_for 20 test -S socket || { diag_file log; bail "spoord does not come up"; }

captures() # how many run
{
	ctl captures --json | jq '.captures | map(select(.running)) | length'
}

ticks() # CPU time of the daemon
{
	awk '{ print $14 + $15 }' "/proc/$pid/stat"
}

# What is left of the pace of LOAD while COUNT captures with these arguments run, in parts of one: of
# the best of three pairs, since what disturbs one is not the captures, and of all.
left() # LOAD COUNT ARGUMENT...
{
	local load=$1 count=$2 before after used begun took i pair

	shift 2
	for pair in 1 2 3; do
		before=$("$TMP/pace" 400 "$load")
		for ((i = 0; i < count; i++)); do
			capture 65000 --duration 60s -o "$load.$i.spoor" "$@" 2>"capture.$i.err" &
		done
		wait_for 20 eval "[ \"\$(captures)\" = $count ]" || { cat capture.0.err >&2; return 1; }
		# What may be saved up is spent first.
		"$TMP/pace" 300 "$load" >/dev/null
		used=$(ticks)
		begun=$(date +%s%N)
		after=$("$TMP/pace" 1500 "$load")
		took=$((($(date +%s%N) - begun) / 1000000))
		used=$(($(ticks) - used))
		for i in $(ctl captures --json | jq '.captures[].id'); do
			ctl stop "$i"
		done
		for i in $(jobs -p); do
			[ "$i" = "$pid" ] || wait "$i"
		done
		echo "$before $after $used $took $(nproc)"
	done >pairs
	# Ticks of 10 ms.
	awk '{ left = $2 * (1 - $3 * 10 / $4 / $5); b += $1; a += left }
		left / $1 > best { best = left / $1 } END { printf "%.3f %.3f\n", best, a / b }' pairs
}

bounded() # NAME LOAD COUNT ARGUMENT...
{
	local name=$1 best all

	shift
	read -r best all <<<"$(left "$@")"
	in_range "$best" 0.85 2 "$name: what is left of the program's pace"
	diag "$name: $best, of all $all; $(tr '\n' ';' <pairs) $(tail -n 1 capture.0.err)"
	like "$(tail -n 1 capture.0.err)" ' s, [0-9]+ samples' "$name: the capture is a good one" || diag "$(cat capture.0.err)"
}

# Frequencies are lowered, which is said.
exits 0 "a frequency of 100000 Hz" capture 65000 --duration 300ms -F 100000 -e cpu-clock -o fast.spoor
like "$(cat err)" '^spoorctl: frequency lowered from 100000 to [0-9]+ Hz: capture_cpu$' "is lowered, and that is told"
is "$(grep -c lowered err)" 1 "once"
exits 0 "the same by a term" capture 65000 --duration 300ms -e 'cpu-clock,task-clock,cpu-clock:u' -F 90000 -o fast.spoor
shared=$(sed -n 's/.*lowered from 90000 to \([0-9]*\) Hz: capture_cpu.*/\1/p' err)
exits 0 "root's too" ctl capture --duration 300ms -F 100000 -e cpu-clock -o root.spoor
# 4000 Hz where an interrupt takes 16 us or less; fewer where it is measured to take more.
alone=$(sed -n 's/.*lowered from 100000 to \([0-9]*\) Hz: capture_cpu.*/\1/p' err)
in_range "${alone:-0}" 100 4000 "is lowered"
period=$((1000000000 / alone + 1)) # ns, the least that fits
# Of three that cost the same: what a page fault takes is measured apart, and may be more.
is "$shared" $((alone / 3)) "of three clocks each had a third"
exits 0 "the default frequency" capture 65000 --duration 300ms -o plain.spoor
unlike "$(cat err)" 'capture_cpu' "is not"
exits 1 "a period of the clock" capture 65000 --duration 300ms -c 1 -e cpu-clock -o fast.spoor
like "$(cat err)" 'cpu-clock with a period of 1 can be 100000 samples a second .* capture_cpu leaves '"$alone"': give a period of '"$period"' or more' \
	"that would be too many is refused, with one that would not"
exits 0 "which then" capture 65000 --duration 300ms -c $period -e cpu-clock -o fast.spoor
exits 1 "is too much with another one" capture 65000 --duration 300ms -c $period -e cpu-clock -e task-clock -o fast.spoor
exits 1 "events without end" capture 65000 --duration 300ms -c 1 -e "page-faults$(printf ',page-faults%.0s' {1..16})" -o fast.spoor
like "$(cat err)" '17 events; a capture has 16 at most' "are refused"

exits 1 "each switch as side-band" capture 65000 --duration 300ms --switch-events -o fast.spoor
like "$(cat err)" 'no bound: they are for root' "is for root"
exits 0 "root" ctl capture --duration 300ms --switch-events -o root.spoor

bounded "the highest frequency" work 1 -F 100000 -e cpu-clock
bounded "three captures at once" work 3 -F 100000 -e cpu-clock
bounded "each fault" faults 1 -c 1 -e page-faults,context-switches,minor-faults,cpu-migrations
in_range "$("$SPOOR" info --json theirs/faults.0.spoor | jq '.losses.paused // .loss.paused // 0' 2>/dev/null)" 1 1e12 "what was paused is in the ledger" ||
	"$SPOOR" info --json theirs/faults.0.spoor | jq -c . >&2
like "$(tail -n 1 capture.0.err)" 'lost: paused [0-9.]+ s' "and is told"
bounded "sixteen events of each fault" faults 1 -c 1 -e "$(printf 'page-faults,%.0s' {1..15})page-faults"
bounded "each switch" switches 1 -c 1 -e context-switches
if [ -d /sys/kernel/tracing/events/kmem/mm_page_alloc ]; then
	bounded "each page" faults 1 -c 1 -e kmem:mm_page_alloc -e kmem:mm_page_free
	bounded "pages that make no sample" faults 1 -c 1000000000 -e kmem:mm_page_alloc -e kmem:mm_page_free \
		-e kmem:mm_page_alloc -e kmem:mm_page_free -e kmem:mm_page_alloc -e kmem:mm_page_free
else
	skip "no tracepoints" 4
fi
if [ -d /sys/kernel/tracing/events/raw_syscalls/sys_enter ]; then
	exits 1 "system calls, which are slower while they are traced" capture 65000 --duration 300ms -e raw_syscalls:sys_enter -o calls.spoor
	like "$(cat err)" 'raw_syscalls:sys_enter makes each system call of the host slower, .* for root' "are for root"
	exits 0 "who may" ctl capture --duration 300ms -e raw_syscalls:sys_enter -o calls.spoor
else
	skip "no tracepoints of system calls" 3
fi
address=$(nm "$TMP/pace" | awk '$3 == "pace_step" { print $1 }')
if capture 65000 --duration 100ms -e "mem:0x$address/8:x" -o probe.spoor 2>/dev/null; then
	bounded "each execution of a function" work 1 -c 1 -e "mem:0x$address/8:x"
	bounded "executions that make no sample" work 1 -c 1000000000 -e "mem:0x$address/8:x"
else
	skip "no breakpoints" 4
fi

# Short captures, one after the other: none of them gets what the one before had too much of.
"$TMP/pace" 4000 faults >/dev/null &
load=$!
begun=0
for ((until = $(date +%s%N) + 3000000000; $(date +%s%N) < until; )); do
	capture 65000 --duration 50ms -c 1 -e page-faults,minor-faults -o short.spoor 2>>short.err && begun=$((begun + 1))
done
in_range "$begun" 2 24 "captures of 50 ms, in three seconds"
like "$(grep captures short.err)" 'captures of uid 65000 had more of the CPUs than capture_cpu allows: no more for [0-9.]+ s' \
	"others are refused"
wait $load
sleep 1
exits 0 "and then no more" capture 65000 --duration 50ms -o short.spoor

# What clients ask for, without end, is not for the samples to pay. The governor looks at ten seconds. Members have turns
# (member_flood.t), so that root has to ask for so much.
calls() # UID SECONDS: four connections that ask as fast as they are answered
{
	member "$1" timeout "$2" python3 - "$socket" <<'END'
import socket, sys, threading
def ask():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    while True:
        s.sendall(b'{"method":"io.spoor.Recorder.GetStatus"}\0')
        while not s.recv(65536).endswith(b'\0'):
            pass
for _ in range(4):
    threading.Thread(target=ask).start()
END
}
asked_hz=$(ctl status --json | jq .frequency_hz)
calls 0 25 &
sleep 24
in_range "$(ctl status --json | jq .cpu_percent)" 5 10000 "calls take more of a CPU than the budget"
is "$(ctl status --json | jq .frequency_hz)" "$asked_hz" "and do not lower the frequency"
wait $!

# Who wants none of it.
echo 'capture_cpu = 0' >>spoord.conf
ok "a reload" ctl reload
exits 0 "without a bound" capture 65000 --duration 300ms -c 100000 -e cpu-clock -o fast.spoor
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
