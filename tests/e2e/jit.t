#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Code made at run time has the names that its process left in a perf map or a jitdump; what is
# not to be believed names nothing.
. "$(dirname "$0")/../lib.sh"

# Share of samples of the process in code of a name, in per mille; 0: none.
share() # RECORDING SYMBOL [OPTION...]
{
	local recording=$1 symbol=$2
	shift 2
	"$SPOOR" report --json -i "$recording" "$@" 2>/dev/null |
		jq --arg s "$symbol" '([.rows[] | select(.symbol == $s) | .samples] | add // 0) * 1000 /
			([.rows[].samples] | add) | floor'
}

record() # MODE: leaves $pid
{
	"$SPOOR" record -F 997 -o "$1.spoor" -- "$FIXTURES/jit" "$1" >pid 2>err || diag_file err
	pid=$(cat pid)
	at_exit "rm -f /tmp/perf-$pid.map"
}

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
else
	skip "no perf here" 2
fi

printf '1 1 x\n' >bad
# A link, another's file, one of before the process, a FIFO: none of them is its map.
cp "/tmp/perf-$pid.map" kept
rm "/tmp/perf-$pid.map"
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
in_range "$(share dump.spoor 'alpha()' --time 5%-28%)" 900 1000 "alpha at first"
in_range "$(share dump.spoor 'beta <T>' --time 40%-60%)" 900 1000 "beta at the same address, in its time"
in_range "$(share dump.spoor 'alpha()' --time 72%-95%)" 900 1000 "alpha at last, where it moved to"
: >"jit-$pid.dump"
in_range "$(share dump.spoor 'alpha()')" 0 0 "an empty jitdump names nothing"

record none
in_range "$(share none.spoor 'alpha()')" 0 0 "without a file there is no name"

# Runtimes that are here: as many samples have names as perf gives them.
named() # RECORDING: per mille of samples with a name, ours
{
	"$SPOOR" report --json -i "$1" 2>/dev/null |
		jq '([.rows[] | select(.symbol | test("^(\\[|0x)") | not) | .samples] | add) * 1000 /
			([.rows[].samples] | add) | floor'
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
	in_range "$(named "$name.spoor")" 990 1000 "$name: samples are named"
	in_range "$(share "$name.spoor" "$function")" 100 1000 "$name: its own function is among them"
	rm -f /tmp/perf-"$("$SPOOR" report --json -i "$name.spoor" 2>/dev/null |
		jq -r '[.rows[].dso | capture("JIT. tid (?<pid>[0-9]+)").pid] | first')".map
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

# In a container: another number, another /tmp.
if unshare -pm --fork true 2>/dev/null; then
	echo 'mount -t tmpfs none /tmp && cd / && exec /proc/self/fd/9 map 60' >inside
	background unshare -pm --fork --kill-child --mount-proc bash inside 9<"$FIXTURES/jit"
	"$SPOOR" record -a -F 997 --duration 1s -o inside.spoor 2>err || diag_file err
	"$SPOOR" report --json -i inside.spoor 2>/dev/null |
		jq '[.rows[] | select(.symbol == "alpha()") | .samples] | add // 0' >samples
	ok "a container's map is found in its file system" test "$(cat samples)" -gt 50
else
	skip "a container's map: no namespaces here"
fi

done_testing
