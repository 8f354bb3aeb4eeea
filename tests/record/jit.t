#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Code made at run time has the names that its process left in a perf map or a jitdump; what is
# not to be believed names nothing.
. "$(dirname "$0")/../lib.sh"

# Share of samples of the process in code of a name, in per mille; 0: none. Of those outside the kernel: beside busy
# others, a tenth of a process's time may be what interrupts and the scheduler do in it.
named_by() # SYMBOL [JSON]: of the report in that file, else in json
{
	jq --arg s "$1" '[.rows[] | select(.kernel | not)] | ([.[] | select(.symbol == $s) | .samples] | add // 0) * 1000 /
		([.[].samples] | add) | floor' "${2-json}"
}
share() # RECORDING SYMBOL [OPTION...]
{
	local recording=$1 symbol=$2
	shift 2
	"$SPOOR" report --json -i "$recording" "$@" 2>/dev/null | named_by "$symbol" -
}

record() # MODE: leaves $pid, and what follows it in "steps"
{
	"$SPOOR" record -F 997 -o "$1.spoor" -- "$FIXTURES/jit" "$1" >steps 2>err || diag_file err
	pid=$(head -n 1 steps)
	at_exit "rm -f /tmp/perf-$pid.map"
}

# A command where the files of this host are not: an empty /tmp, other processes.
elsewhere()
{
	rm -f /tmp/perf-"$pid".map jit-"$pid".dump
	if unshare -pm --fork true 2>/dev/null; then
		unshare -pm --fork --mount-proc bash -c 'mount -t tmpfs none /tmp && "$@"' - "$@"
	else
		"$@"
	fi
}

# Names are kept in the recording.
record map
in_range "$(share map.spoor 'alpha()')" 570 690 "alpha by the perf map"
in_range "$(share map.spoor 'beta <T>')" 280 380 "beta by the perf map"
"$SPOOR" report -i map.spoor >out 2>err
ok "the object is called as in perf" grep -q "\[JIT\] tid $pid  *\[\.\] alpha()" out
"$SPOOR" report --json -i map.spoor -s address,sym >json 2>err
ok "by address alpha is at more than one" test "$(jq '[.rows[] | select(.symbol == "alpha()")] | length' json)" -gt 1

if command -v perf >/dev/null; then
	"$SPOOR" export -f perf-data-file -i map.spoor -o map.data 2>err
	perf report -i map.data --stdio -g none --no-children -F sample,dso,sym 2>/dev/null |
		sed -n "s/^ *\([0-9]*\)  \[JIT\] tid $pid  *\[\.\] \(.*[^ ]\) *$/\1 \2/p" |
		awk '{ n = $1; sub(/^[0-9]* /, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' |
		sort >theirs
	"$SPOOR" report --json -i map.spoor 2>/dev/null |
		jq -r --arg d "[JIT] tid $pid" '.rows[] | select(.dso == $d) | "\(.symbol) \(.samples)"' |
		sort >ours
	ok "perf says the same" cmp theirs ours
	ok "and both name two functions" test "$(wc -l <ours)" -eq 2
	# As perf, a perf.data has them from the map that is there when it is read.
	perf_record -q -F 997 -e cpu-clock:u -o p.data -- "$FIXTURES/jit" map >steps 2>err || diag_file err
	at_exit "rm -f /tmp/perf-$(head -n 1 steps).map"
	in_range "$(share p.data 'alpha()')" 570 690 "alpha of a perf.data, by the perf map"
	in_range "$(share p.data 'beta <T>')" 280 380 "beta likewise"
else
	skip "no perf here" 4
fi

elsewhere "$SPOOR" report --json -i - <map.spoor 2>/dev/null >json
in_range "$(named_by 'alpha()')" 570 690 "alpha by the recording alone"
in_range "$(named_by 'beta <T>')" 280 380 "beta likewise"
is "$("$SPOOR" info --json -i map.spoor | jq .jit_symbols)" 3 "no more names are kept than were hit" ||
	diag "$(jq -c '.rows[]' json)"
"$SPOOR" verify map.spoor >out 2>err
is $? 0 "and verify has nothing to say"

# What has no names of its own has them from the files of this host.
record here
in_range "$(share here.spoor 'alpha()')" 0 0 "a map that is nowhere names nothing"
like "$("$SPOOR" report -i here.spoor 2>err)" "jit \(pid $pid\): [0-9.]+% of its samples are code made at run time; .*/tmp/perf-$pid.map" \
	"a report says whose code it is, and where its names would be"
mv "perf-$pid.map" kept
mv here.spoor map.spoor
# A link, another's file, one of before the process, a FIFO: none of them is its map.
ln -s "$TMP/kept" "/tmp/perf-$pid.map"
in_range "$(share map.spoor 'alpha()')" 0 0 "a link is not followed"
rm "/tmp/perf-$pid.map"
mkfifo "/tmp/perf-$pid.map"
in_range "$(share map.spoor 'alpha()')" 0 0 "a FIFO is not opened"
rm "/tmp/perf-$pid.map"
cp kept "/tmp/perf-$pid.map"
touch -d 2001-01-01 "/tmp/perf-$pid.map"
in_range "$(share map.spoor 'alpha()')" 0 0 "a file of another boot is another process's"
touch "/tmp/perf-$pid.map"
in_range "$(share map.spoor 'alpha()')" 570 690 "and as it was it is believed"
if [ "$(id -u)" -eq 0 ]; then
	chown 12345 "/tmp/perf-$pid.map"
	in_range "$(share map.spoor 'alpha()')" 0 0 "another user's file is refused"
else
	skip "another user's file: not root"
fi

# A hostile map: names do not reach the terminal as they are, and what is no line costs itself alone.
rm -f "/tmp/perf-$pid.map"
{ head -c 100000 /dev/urandom; printf '\n'; sed 's/alpha()/al\x1b[31mpha/' kept; } >"/tmp/perf-$pid.map"
"$SPOOR" report -i map.spoor >out 2>err
ok "names are escaped" grep -q 'al.*\[31mpha' out
nok "no escape sequence comes through" grep -q $'\033' out

record dump
in_range "$(share dump.spoor 'alpha()')" 570 690 "alpha by the jitdump, at both its places"
in_range "$(share dump.spoor 'beta <T>')" 280 380 "beta where alpha was"
# Each step is a third of the CPU time; of the time that it all took, a busy host makes another part of it.
mapfile -t times < <(sed -n '2,$s/ /,/p' steps)
in_range "$(share dump.spoor 'alpha()' --time "${times[0]}")" 900 1000 "alpha at first"
in_range "$(share dump.spoor 'beta <T>' --time "${times[1]}")" 900 1000 "beta at the same address, in its time"
in_range "$(share dump.spoor 'alpha()' --time "${times[2]}")" 900 1000 "alpha at last, where it moved to"
elsewhere "$SPOOR" report --json -i - <dump.spoor 2>/dev/null >json
in_range "$(named_by 'alpha()')" 570 690 "alpha by the recording alone, at both its places"
in_range "$(named_by 'beta <T>')" 280 380 "beta likewise, where alpha was"
elsewhere "$SPOOR" report --json -i - --time "${times[1]}" <dump.spoor 2>/dev/null >json
in_range "$(named_by 'beta <T>')" 900 1000 "beta in its time"

# A child that executed no program runs its parent's code, or that of the parent's parent, which is gone.
record fork-map
"$SPOOR" report -s pid,dso,sym -i fork-map.spoor >out 2>err
ok "the samples are of another process than the names" grep -q "\[JIT\] tid $pid  *\[\.\] alpha()" out
nok "which ran none of it" grep -q "^ *[0-9.]*% *$pid .*alpha()" out
elsewhere "$SPOOR" report --json -i - <fork-map.spoor 2>/dev/null >json
in_range "$(named_by 'alpha()')" 570 690 "a copy's alpha, by the recording alone"
in_range "$(named_by 'beta <T>')" 280 380 "and beta"
record fork-here
in_range "$(share fork-here.spoor 'alpha()')" 0 0 "a map that is nowhere names nothing in a copy either"
mv "perf-$pid.map" "/tmp/perf-$pid.map"
in_range "$(share fork-here.spoor 'alpha()')" 570 690 "alpha by the map of this host"
record fork-dump
in_range "$(share fork-dump.spoor 'alpha()')" 570 690 "alpha by the jitdump of what it is a copy of"
elsewhere "$SPOOR" report --json -i - <fork-dump.spoor 2>/dev/null >json
in_range "$(named_by 'beta <T>')" 280 380 "beta, by the recording alone"

record none
in_range "$(share none.spoor 'alpha()')" 0 0 "without a file there is no name"

# Runtimes that are here: as many samples have names as perf gives them.
named() # per mille of the samples in json that have a name
{
	jq '([.rows[] | select(.symbol | test("^(\\[|0x)") | not) | .samples] | add // 0) * 1000 /
		([.rows[].samples] | add) | floor' json
}

runtime() # NAME FUNCTION COMMAND...
{
	local name=$1 function=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		skip "no $1 here" 2
		return
	fi
	"$SPOOR" record -F 997 -o "$name.spoor" -- "$@" >/dev/null 2>err || diag_file err
	pid=$("$SPOOR" report --json -i "$name.spoor" 2>/dev/null |
		jq -r '[.rows[].dso | capture("JIT. tid (?<pid>[0-9]+)").pid] | first')
	rm -f ./jit-*.dump
	elsewhere "$SPOOR" report --json -i - <"$name.spoor" 2>/dev/null >json
	in_range "$(named)" 990 1000 "$name: samples are named by the recording alone"
	in_range "$(named_by "$function")" 100 1000 "$name: its own function is among them"
}

echo 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 1500; while (Date.now() < end) fib(24);' >fib.js
echo 'public class Fib {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] x) {
		long end = System.currentTimeMillis() + 2000, t = 0;
		while (System.currentTimeMillis() < end) t += fib(24);
		System.exit(t == 0 ? 1 : 0);
	}
}' >Fib.java
runtime node "JS:*fib $TMP/fib.js:1:13" node --perf-basic-prof fib.js
runtime node-dump "JS:*fib $TMP/fib.js:1:13" node --perf-prof fib.js
if command -v javac >/dev/null && javac Fib.java 2>err; then
	runtime java "int Fib.fib(int)" java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Fib
else
	skip "no javac here" 2
fi

# Containers: other numbers, another /tmp. inside: what is done in there.
container() # RECORDING: of all, until a while after it has ended; leaves json, as read elsewhere
{
	# shellcheck disable=SC2016
	"$SPOOR" record -a -F 997 -o "$1" -- bash -c 'exec 9<"$0"
		unshare -pm --fork --mount-proc bash inside; sleep 0.5' "$FIXTURES/jit" >out 2>err ||
		diag_file err
	pid=none
	elsewhere "$SPOOR" report --json -i - --comm jit,9,exe <"$1" 2>/dev/null >json
}

if ! unshare -pm --fork true 2>/dev/null || [ "$(id -u)" -ne 0 ]; then
	skip "containers: no namespaces here" 7
	done_testing
fi
echo 'mount -t tmpfs none /tmp && cd / && exec /proc/self/fd/9 map 60' >inside
# The recorder is there first, however long it takes, and ends when the work is done, of which the program then tells.
cat >lives.sh <<'SH'
unshare -pm --fork --kill-child --mount-proc bash inside 9<"$FIXTURES/jit" >done &
echo $! >lives
for _ in {1..600}; do [ ! -s done ] || exit 0; sleep 0.05; done
exit 1
SH
export FIXTURES
at_exit '[ ! -s lives ] || kill -KILL "$(cat lives)"'
"$SPOOR" record -a -F 997 -o inside.spoor -- bash lives.sh 2>err || diag_file err
"$SPOOR" report --json -i inside.spoor 2>/dev/null |
	jq '[.rows[] | select(.symbol == "alpha()") | .samples] | add // 0' >samples
ok "a container's map is found in its file system" test "$(cat samples)" -gt 50

# Its process has ended, and its mounts with it, before the recording does.
echo 'mount -t tmpfs none /tmp && cd / && /proc/self/fd/9 map' >inside
container gone.spoor
# Of each step a busy host may take the samples of an interrupt that came late: two thirds are meant, not all.
in_range "$(named_by 'alpha()')" 500 750 "names of a container that is gone"

# Another user's file, which root of the container has written to.
echo 'mount -t tmpfs -o mode=755 none /tmp && cd / && touch /tmp/perf-{1..99}.map &&
	chown 12345 /tmp/perf-*.map; /proc/self/fd/9 map; stat -c "%u %s" /tmp/perf-*.map' >inside
container foreign.spoor
ok "the map was written" grep -q "12345 [1-9]" out
in_range "$(named_by 'alpha()')" 0 0 "a map of another user is refused"

# What would be waited for, is not.
echo 'mount -t tmpfs none /tmp && cd / && mkfifo /tmp/perf-{1..99}.map; /proc/self/fd/9 none' >inside
container fifo.spoor
is "$(jq '[.rows[] | select(.dso | startswith("[JIT]"))] | length' json)" 0 "a FIFO names nothing"
in_range "$(jq '[.rows[].samples] | add // 0' json)" 300 100000 "and the recorder does not wait for it"

# A file system that answers to nobody lies there.
if command -v python3 >/dev/null && [ -c /dev/fuse ]; then
	echo "python3 '$TOP/tests/oracles/stuckfs.py' /tmp 1 3 4 14 27 & sleep 1; kill -USR2 %1
		/proc/self/fd/9 none; kill -USR1 %1; kill %1" >inside
	container stuck.spoor
	in_range "$(jq '[.rows[].samples] | add // 0' json)" 300 100000 "a stuck /tmp does not stop the recorder"
	unlike "$(cat err)" 'did not answer' "nor does anybody wait for it"
else
	skip "no FUSE here" 2
fi

# One number, two processes: the names of the first are not the second's. ns_last_pid belongs to the PID namespace: in
# one of its own, no other program takes the number first.
numbers=(unshare -pm --fork --kill-child --mount-proc)
numbered() # RECORDING: records the script "inside"
{
	exits 0 "$1: a number is used again" "${numbers[@]}" "$SPOOR" record -F 997 -o "$1" -- \
		bash inside "$FIXTURES/jit" || diag_file err
}
if ! "${numbers[@]}" sh -c 'test -w /proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	skip "no process number can be chosen here" 8
	done_testing
	exit
fi
# shellcheck disable=SC2016
echo 'for i in {1..20}; do
		"$1" map >first
		sleep 1 # its map is read when it has ended
		rm -f "/tmp/perf-$(cat first).map"
		echo $(($(cat first) - 1)) >/proc/sys/kernel/ns_last_pid
		"$1" none >second
		cmp -s first second && exit
	done
	exit 1' >inside
numbered twice.spoor
"$SPOOR" report --json -i twice.spoor --pid "$(cat first)" 2>/dev/null >json
in_range "$(named_by 'alpha()')" 200 420 "a number that is used again has not the names of before"

# Nor are the names of the second those of the first, which ended before it was asked for the last time.
# shellcheck disable=SC2016
echo 'for i in {1..20}; do
		setarch -R "$1" none >first
		echo $(($(cat first) - 1)) >/proc/sys/kernel/ns_last_pid
		setarch -R "$1" map >second
		cmp -s first second && exit
	done
	exit 1' >inside
for i in 1 2 3; do
	numbered after.spoor
	"$SPOOR" report --json -i after.spoor --pid "$(cat first)" 2>/dev/null >json
	in_range "$(named_by 'alpha()')" 200 420 "nor those of the next one ($i)"
	rm -f "/tmp/perf-$(cat second).map"
done

done_testing
