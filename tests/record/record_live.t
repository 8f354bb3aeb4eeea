#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Options of perf record whose effect is counted: beside perf, or against what a program is known to do.
# The command of a recording of others begins when the events are on, and so lets them go.
. "$(dirname "$0")/../lib.sh"
need_command perf
need_command python3
need_record_all

record() # OPTION...: of page faults, each
{
	timeout 60 "$SPOOR" record -e page-faults -c 1 -o x.spoor "$@" >out 2>err
}

dumped() # PATTERN: how many records
{
	"$SPOOR" dump x.spoor | grep -cE -- "$1"
}

samples_of() # COMM
{
	"$SPOOR" dump x.spoor --comm "$1" | grep -c ' SAMPLE '
}

# --- context switches ---------------------------------------------------------------------------------

cat >sleeper.py <<'EOF'
import resource, time
def switches():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
before = switches() # some are of the time before this program began
for _ in range(50):
    time.sleep(0.001)
print(switches() - before)
EOF
record --switch-events -- python3 sleeper.py
slept=$(cat out)
in_range "$slept" 50 100000 "a program slept 50 times: $slept switches of its own will"
in_range "$(dumped ' SWITCH misc=out ')" "$slept" 1000000 "--switch-events: a record of each"
in_range "$(dumped ' SWITCH misc=0 ')" 50 1000000 "and when it goes on"
"$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(perf script -i x.data --show-switch-events 2>/dev/null | grep -c 'SWITCH OUT')" "$(dumped ' SWITCH misc=out')" \
	"perf reads as many of ours"
perf_record -q --switch-events -e page-faults -c 1 -o p.data -- python3 sleeper.py >out 2>&1
in_range "$(perf script -i p.data --show-switch-events 2>/dev/null | grep -c 'SWITCH OUT')" "$(cat out)" 1000000 \
	"as with perf"
record -a --switch-events -- python3 sleeper.py
in_range "$(dumped ' SWITCH_CPU_WIDE misc=out ')" 50 10000000 "and of all CPUs"
record -- python3 sleeper.py
is "$(dumped SWITCH)" 0 "without it, none"

# --- counts ---------------------------------------------------------------------------------------------

record -n -- "$FIXTURES/faults" 5000
is "$(dumped ' SAMPLE ')" 0 "-n: no samples"
in_range "$("$SPOOR" dump x.spoor | grep ' READ ' | grep -o 'value=[0-9]*' | awk -F= '{ n += $2 } END { print n + 0 }')" \
	5000 6000 "-n: the count of a program of 5000 faults"
counted() # tasks that have counts, with the sum of each
{
	"$SPOOR" dump x.spoor | grep ' READ ' | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^tid=/) t = $i
		match($0, /value=[0-9]+/); n[t] += substr($0, RSTART + 6, RLENGTH - 6) }
		END { for (t in n) print n[t] }'
}
children="'$FIXTURES/faults' 3000; '$FIXTURES/faults' 3000; '$FIXTURES/faults' 3000; true"
record -- sh -c "$children"
is "$(counted | wc -l)" 1 "the command has counts"
record -s -- sh -c "$children"
# The kernel swaps the contexts of a task and of its child when one follows the other: not each child has a record.
in_range "$(counted | awk '$1 >= 3000 && $1 < 4000' | wc -l)" 1 3 "-s: children, 3000 faults each, have theirs"

# --- who ------------------------------------------------------------------------------------------------

mkfifo gate
cat >waits.sh <<'EOF'
read -r _ <gate
"$1" 2000
"$1" 2000
true
EOF
cat >lets_go.sh <<'EOF'
echo go >gate
while kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status"; do sleep 0.05; done
EOF
of_thread() # OPTION...
{
	background bash waits.sh "$FIXTURES/faults"
	record -t $! "$@" -- sh lets_go.sh $!
}
of_thread
is "$(samples_of faults)" 0 "-t: not what the thread forks"
in_range "$(samples_of bash)" 1 100000 "-t: the thread"
of_thread --inherit
in_range "$(samples_of faults)" 4000 6000 "-t --inherit: what it forks as well"
exits 2 "--inherit and -i" "$SPOOR" record --inherit -i -o n.spoor -- true

if [ "$(id -u)" -eq 0 ]; then
	cat >as_nobody.py <<'EOF'
import os, sys
os.setgid(65534)
os.setuid(65534)
sys.stdin.readline()
os.execv(sys.argv[1], [sys.argv[1], "2000"])
EOF
	cp "$FIXTURES/faults" faults && chmod 755 . faults
	background sh -c 'exec python3 as_nobody.py ./faults <gate'
	nobody=$!
	exec 7>gate
	ok "a process of another user" wait_for 20 grep -q '^Uid:.65534' /proc/$nobody/status
	record -u 65534 -- sh -c "echo go >&7; . ./lets_go.sh" sh $nobody 7>&7 &
	recorder=$!
	exec 7>&-
	wait $recorder
	in_range "$("$SPOOR" dump x.spoor --pid $nobody | grep -c ' SAMPLE ')" 2000 4000 "-u: a process of that user"
	is "$(samples_of sh)" 0 "-u: nobody else's"
else
	skip "-u needs another user" 3
fi
exits 2 "-u: no such user" "$SPOOR" record -u no-such-user -o n.spoor -- true
exits 2 "-u and -p" "$SPOOR" record -u 0 -p 1 -o n.spoor -- true
exits 2 "-p and -u" "$SPOOR" record -p 1 -u 0 -o n.spoor -- true
exits 1 "-G: several, of which one is not there" "$SPOOR" record -e cpu-clock,faults -G a,b -o n.spoor -- true
like "$(cat err)" 'control group a: No such' "-G: told which"

# --- rings of threads -----------------------------------------------------------------------------------

record --per-thread -- "$FIXTURES/faults" 5000
in_range "$(samples_of faults)" 5000 5200 "--per-thread: a program of 5000 faults"
perf_record -q --per-thread -e page-faults -c 1 -o p.data -- "$FIXTURES/faults" 5000 >/dev/null 2>&1
in_range "$(perf script -i p.data -F comm,event 2>/dev/null | grep -c page-faults)" 5000 5200 "as with perf"
record --per-thread -- sh -c "'$FIXTURES/faults' 3000; true"
is "$(samples_of faults)" 0 "--per-thread: not what it forks"
cat >threads.py <<'EOF'
import mmap, sys, threading
go = threading.Event()
def work():
    go.wait()
    pages = mmap.mmap(-1, 3000 * 4096)
    for i in range(3000):
        pages[i * 4096] = 1
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads:
    t.start()
print(*[t.native_id for t in threads], file=open("tids", "w"), flush=True)
sys.stdin.readline()
go.set()
for t in threads:
    t.join()
EOF
of_threads()
{
	rm -f tids
	background sh -c 'exec python3 threads.py <gate'
	threads=$!
	exec 7>gate
	wait_for 30 test -s tids
	# shellcheck disable=SC2016 # the command's own parent
	record --per-thread -p $threads -- \
		sh -c 'ls -l /proc/$PPID/fd | grep -c perf_event; echo go >&7; . ./lets_go.sh' sh $threads
	exec 7>&-
}
of_threads
is "$(cat out)" 8 "--per-thread: two events of four threads, however many CPUs there are"
read -ra ids <tids
for tid in "${ids[@]}"; do
	in_range "$("$SPOOR" dump x.spoor --tid "$tid" | grep -c ' SAMPLE ')" 3000 3300 "thread $tid has its 3000 faults"
done
# Rings of one page, and nobody who empties them: what is lost has one account for all threads.
cat >stops.sh <<'EOF'
kill -STOP $PPID
# A thread that runs on another CPU stops a moment later.
while cat /proc/$PPID/task/*/status | grep '^State:' | grep -qv 'State:.T'; do sleep 0.01; done
echo go >&7
. ./lets_go.sh
kill -CONT $PPID
EOF
rm -f tids
background sh -c 'exec python3 threads.py <gate'
threads=$!
exec 7>gate
wait_for 30 test -s tids
"$SPOOR" record --per-thread -m 1 -e page-faults -c 1 -p $threads -o x.spoor -- sh stops.sh $threads >out 2>err
exec 7>&-
lost=$("$SPOOR" info --json x.spoor | jq '.lost')
in_range "$lost" 1 100000 "a ring of a page loses: $lost"
is "$(($("$SPOOR" info --json x.spoor | jq .samples) + lost))" \
	"$("$SPOOR" dump x.spoor | grep ' READ ' | grep -o 'value=[0-9]*' | awk -F= '{ n += $2 } END { print n }')" \
	"samples and lost are what was counted"
for bad in -a '-C 0' '-G x' '--inherit -t 1'; do
	# shellcheck disable=SC2086
	exits 2 "--per-thread $bad" "$SPOOR" record --per-thread $bad -o n.spoor -- true
done

# --- rings ----------------------------------------------------------------------------------------------

ring_bytes() # OPTION...: the largest
{
	# shellcheck disable=SC2016 # the command's own parent
	record "$@" -- sh -c 'grep perf_event /proc/$PPID/maps'
	awk '{ split($1, a, "-"); print a[1], a[2] }' out |
		while read -r start end; do echo $((0x$end - 0x$start)); done | sort -n | tail -n 1
}
page=$(getconf PAGESIZE)
is "$(ring_bytes -m 1M)" $((1048576 + page)) "-m 1M: rings of a megabyte, and their first page"
is "$(ring_bytes -m 600K)" $((1048576 + page)) "-m 600K: the next power of two"
like "$(cat err)" 'next power of two' "-m 600K: is told"
is "$(ring_bytes -m 64)" $((64 * page + page)) "-m 64: pages"
is "$(ring_bytes -m 32 --switch-events)" $((32 * page + page)) "--switch-events: no larger ring than -m says"
for bad in 0M 1T M 4M,4M 99999G; do
	exits 2 "-m $bad" "$SPOOR" record -m $bad -o n.spoor -- true
done
like "$("$SPOOR" record -m 16,16 -- true 2>&1)" 'AUX' "-m N,AUX: told"

# --- call chains -----------------------------------------------------------------------------------------

frames() # the most that a sample has
{
	"$SPOOR" dump x.spoor | grep -o 'callchain=\[[^]]*' | sed 's/.*\[//; s/[A-Z][A-Z_]*//g' |
		awk 'NF > n { n = NF } END { print n + 0 }'
}
record -g -- "$FIXTURES/faults" 10
in_range "$(frames)" 4 1000 "call chains have more than 3 frames"
record --max-stack 3 -- "$FIXTURES/faults" 10
is "$(frames)" 3 "--max-stack 3: three at most"
record --call-graph fp,2 -- "$FIXTURES/faults" 10
is "$(frames)" 2 "--call-graph fp,2"
more=$(($(cat /proc/sys/kernel/perf_event_max_stack) + 1))
exits 1 "--max-stack over the kernel's" "$SPOOR" record --max-stack $more -e page-faults -o n.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'EOVERFLOW.*perf_event_max_stack' "told so"
exits 2 "--max-stack 0" "$SPOOR" record --max-stack 0 -o n.spoor -- true
# A software event has no LBR: the kernel's refusal.
exits 1 "--call-graph lbr of page faults" "$SPOOR" record --call-graph lbr -e page-faults -o n.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'no branches.*lbr' "told so"
exits 2 "--call-graph lbr and -b" "$SPOOR" record -b --call-graph lbr -o n.spoor -- true
for both in "-b -e cs/call-graph=lbr/" "--call-graph lbr -e cs/branch_type=any/" "-e cs/call-graph=lbr,branch_type=any/"; do
	# shellcheck disable=SC2086 # words
	exits 2 "$both" "$SPOOR" record $both -o n.spoor -- true
	like "$(tr -s '\n ' ' ' <err)" 'cs.*: call graphs by lbr and branches .* exclude each other' "told so"
done
# Of an event that the CPU keeps no such stack for, the branches alone.
exits 1 "branches of the kernel" "$SPOOR" record --call-graph lbr --all-kernel -b -e cs -o n.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'records no branches' "get as far as the kernel"

# --- registers, clocks, what is said -----------------------------------------------------------------------

record --user-regs="$("$SPOOR" record -I'?' | head -n 2 | xargs | tr ' ' ,)" -- true
like "$("$SPOOR" dump x.spoor | grep -m 1 ' SAMPLE ')" 'regs_user=\{abi=2 [a-z0-9]+=0x[0-9a-f]+ [a-z0-9]+=0x[0-9a-f]+\}' \
	"--user-regs: those that were named"
[ "$(uname -m)" != x86_64 ] ||
	is "$("$SPOOR" record --intr-regs='?' | tr '[:lower:]' '[:upper:]' | sort | xargs)" \
		"$(perf record -I'?' 2>&1 | grep 'available registers' | cut -d: -f2 | tr ' ' '\n' | grep -v XMM | sort | xargs)" \
		"-I? lists what perf lists"
exits 2 "no register" "$SPOOR" record -Iax,zz -o n.spoor -- true
like "$(cat err)" "'zz'|'ax'" "is told"
if [ "$(uname -m)" = x86_64 ]; then
	for register in zmm0 ymm15,ax; do
		exits 2 "$register" "$SPOOR" record -I$register -o n.spoor -- true
		like "$(cat err)" "'.mm[0-9]*': .* no bits for registers of AVX and AVX-512: .* xmm0 to xmm15" "is told why"
	done
	exits 2 "a vector register of user space" "$SPOOR" record --user-regs=ax,xmm3 -o n.spoor -- true
	like "$(cat err)" "'xmm3': the kernel copies no vector registers of user space: --intr-regs" "is told why"
fi
for clock in realtime monotonic_raw CLOCK_BOOTTIME tai 0 11; do
	exits 2 "another clock, $clock" "$SPOOR" record -k $clock -o n.spoor -- true
	like "$(cat err)" 'CLOCK_MONOTONIC' "is told why"
done
for clock in sundial 99 -1; do
	exits 2 "no clock, $clock" "$SPOOR" record -k $clock -o n.spoor -- true
	like "$(cat err)" 'no clock' "is told"
done
exits 2 "a level that is none" "$SPOOR" record -z23 -o n.spoor -- true
record -q -- true
is "$(cat err)" "" "-q: no summary"
exits 1 "-q: an error is one" "$SPOOR" record -q -p 2147483646 -o n.spoor -- true
isnt "$(cat err)" "" "and is said"
limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
exits 1 "--strict-freq" "$SPOOR" record --strict-freq -F $((limit + 1)) -e page-faults -o n.spoor -- true
like "$(tr -s '\n ' ' ' <err)" "$limit Hz" "tells the limit"
exits 0 "--strict-freq below it" "$SPOOR" record --strict-freq -F 50 -e cpu-clock -o x.spoor -- true
record --no-buffering -- true
"$SPOOR" export -f perf-data-file -o x.data x.spoor
unlike "$(perf evlist -v -i x.data | grep -v dummy)" 'watermark: 1,' "--no-buffering: woken by samples, not by bytes"

done_testing
