#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# spoor names asks runtimes for the names of their code, as the process's own user. What the process puts in the place of its
# runtime's socket, and what it answers, costs its own line alone.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

chmod 755 .
cp "$FIXTURES/runtime" .
for object in libjvm.so libcoreclr.so libnode.so.108 none.so; do
	head -c 8192 /dev/zero >$object
done
as_user=()
user=$(id -u)

start() # OBJECT MODE [PROGRAM]: leaves its number in $pid, and what it says in said.$pid
{
	# shellcheck disable=SC2016 # expanded in there
	background ${as_user[@]+"${as_user[@]}"} "${3-./runtime}" "$TMP/$1" "$2" >said 2>err.runtime
	pid=$!
	wait_for 10 grep -q . said || diag_file err.runtime
	mv said "said.$pid"
	at_exit "rm -f /tmp/.java_pid$pid /tmp/.attach_pid$pid /tmp/perf-$pid.map /tmp/dotnet-diagnostic-$pid-*"
}
names()
{
	"$SPOOR" names "$@"
}

exits 2 "what is asked has to be said" "$SPOOR" names
exits 2 "a number that is none" "$SPOOR" names -p 12,x
exits 2 "both all and some" "$SPOOR" names -a -p 1
exits 2 "a time that is none" "$SPOOR" names -a --every never

# --- a JVM's protocol, by a stub of it
start libjvm.so jvm
exits 0 "a JVM is asked" names -p "$pid"
like "$(cat out)" "^$pid .*runtime.*: named: 2 functions in its /tmp/perf-$pid.map$" "and its names are there"
is "$(grep -v peer "said.$pid" | tr '\n' ' ')" "$pid quit attach " "by SIGQUIT, with its .attach_pid file"
nnp=' 0000000000000000 1'
is "$(grep -c "peer $(id -u) $(id -g)$nnp" "said.$pid")" 1 "by a process without capabilities"
ok "which is gone again" test ! -e ".attach_pid$pid" -a ! -e "/tmp/.attach_pid$pid"
exits 0 "it is asked again" names -p "$pid"
is "$(grep -c quit "said.$pid")" 1 "without another signal"
good=$pid

# What is no JVM, or one that is not ready, never gets SIGQUIT.
start none.so plain
exits 0 "a process without a runtime is no failure" names -p "$pid"
like "$(cat out)" "^$pid .*no runtime" "and is told"
start libjvm.so plain
exits 1 "SIGQUIT that is not caught is not sent" names -p "$pid"
like "$(cat out)" "SIGQUIT" "which is told"
ok "the process lives" kill -0 "$pid"
as_user=(env JAVA_TOOL_OPTIONS="-Xmx1g -XX:+DisableAttachMechanism")
start libjvm.so deaf
as_user=()
exits 0 "a JVM that nobody may attach to is no failure" names -p "$pid"
like "$(cat out)" "DisableAttachMechanism" "and is told"
nok "it would have printed its threads" grep -q quit "said.$pid"

# --- hostile ones: one line each, and the good one is served beside them
hostile=()
for mode in silent endless refusing deaf; do
	start libjvm.so $mode
	hostile+=("$pid")
done
start libjvm.so deaf
ln -s "/tmp/.java_pid$good" "/tmp/.java_pid$pid"
hostile+=("$pid")
start libjvm.so deaf
mkfifo "/tmp/.java_pid$pid"
hostile+=("$pid")
rm "/tmp/perf-$good.map"
began=$SECONDS
exits 1 "hostile ones fail" names --timeout 3s -p "$(IFS=,; echo "${hostile[*]},$good")"
ok "within their deadlines" test $((SECONDS - began)) -lt 60
is "$(wc -l <out)" 7 "each has a line"
line() # N: of the Nth
{
	grep "^${hostile[$1]} " out
}
like "$(line 0)" "no answer within the time" "one that never answers"
like "$(line 1)" "answers without end" "one that answers without end"
like "$(line 2)" 'Unknown \\033\[31mcommand' "one that refuses, escaped"
like "$(line 3)" "does not listen" "one that does not begin to listen"
like "$(line 4)" "is not a socket" "a link in the place of the socket"
like "$(line 5)" "is not a socket" "a FIFO in its place"
like "$(grep "^$good " out)" "named: 2 functions" "the good one among them is named"
nok "no escape sequence comes through" grep -q $'\033' out
kill "${hostile[@]}"

start none.so plain
kill "$pid"
wait "$pid" 2>/dev/null
exits 1 "one that is no more" names -p "$pid"
like "$(cat out)" "^$pid: there is no such process" "is told"

# Of a user whose processes do not answer no more are asked.
many=()
for _ in {1..12}; do
	background ./runtime "$TMP/libjvm.so" silent >>many
	many+=($!)
	at_exit "rm -f /tmp/.java_pid$!"
done
wait_for 10 eval '[ "$(grep -cx "[0-9]*" many)" -eq 12 ]'
exits 1 "a dozen that are silent" names --timeout 1s -p "$(IFS=,; echo "${many[*]}")"
in_range "$(grep -c "not asked: processes of its user" out)" 1 8 "cost others no more than four times the deadline"
is "$(wc -l <out)" 12 "and each has a line"
kill "${many[@]}"

# --- .NET
start libcoreclr.so plain
cat >dotnet.py <<'PY'
import os, socket, struct, sys
path, mode, pid = sys.argv[1:4]
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen(5)
print("listens", flush=True)
while True:
    c, _ = s.accept()
    request = c.recv(24, socket.MSG_WAITALL)
    head = struct.pack("<14sHBBH", b"DOTNET_IPC_V1", 24, 4, 5, 0)
    if request != head + struct.pack("<I", 3):
        print("another request", request, flush=True)
    elif mode == "old":
        c.sendall(struct.pack("<14sHBBHI", b"DOTNET_IPC_V1", 24, 0xff, 0xff, 0, 0x80131385))
    elif mode == "garbage":
        c.sendall(b"\x1b]0;" * 400)
    elif mode == "long":
        c.sendall(struct.pack("<14sHBBH", b"DOTNET_IPC_V1", 65535, 0xff, 0, 0))
    else:
        open(f"/tmp/perf-{pid}.map", "w").write("1000 10 Main\n")
        c.sendall(struct.pack("<14sHBBHI", b"DOTNET_IPC_V1", 24, 0xff, 0, 0, 0))
    c.close()
PY
socket=/tmp/dotnet-diagnostic-$pid-$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)-socket
dotnet() # MODE
{
	rm -f "$socket"
	background python3 dotnet.py "$socket" "$1" "$pid" >served 2>&1
	server=$!
	wait_for 10 grep -q listens served || diag_file served
}
exits 1 "a .NET without its socket" names -p "$pid"
like "$(cat out)" "DOTNET_EnableDiagnostics" "is told what switches it off"
for mode in ok:0 old:0 garbage:1 long:1; do
	dotnet ${mode%:*}
	names -p "$pid" >"out.${mode%:*}" 2>err
	is $? ${mode#*:} ".NET: ${mode%:*}"
	kill $server
done
like "$(cat out.ok)" ": named: 1 function in its /tmp/perf-$pid.map" ".NET is named"
like "$(cat out.old)" "DOTNET_PerfMapEnabled" "one that does not know the command: what it takes at its start"
like "$(cat out.garbage out.long)" "not the protocol" "what is no answer is told"
nok "and does not come through" grep -q $'\033' out.garbage

# --- Python: an interpreter of its version, in its place
cp runtime python3.14
start none.so plain ./python3.14
exits 0 "a Python 3.14 is asked" names -p "$pid"
like "$(cat out)" "named: 2 functions" "by an interpreter of its own"
cp runtime python3.12
start none.so plain ./python3.12
exits 0 "a Python 3.12 cannot be asked" names -p "$pid"
like "$(cat out)" "-X perf" "which is told, with what it takes at its start"

# One that is a program with Python in it: the interpreter is the one beside its library.
mkdir -p prefix/lib prefix/bin
cp none.so prefix/lib/libpython3.14.so.1.0
cp runtime prefix/bin/python3.14
start prefix/lib/libpython3.14.so.1.0 plain
exits 0 "a program with Python's library is asked" names -p "$pid"
like "$(cat out)" "named: 2 functions" "by the interpreter beside it"
if [ "$(id -u)" -eq 0 ]; then
	for how in "chown 65003" "chmod g+w" "chmod o+w" "ln -sf $TMP/runtime"; do
		cp --remove-destination runtime prefix/bin/python3.14
		$how prefix/bin/python3.14
		rm "/tmp/perf-$pid.map"
		exits 1 "an interpreter that is not root's alone is not executed as root: ${how% *}" names -p "$pid"
		like "$(cat out)" "not executed as root" "which is told"
		nok "nor has it run" test -e "/tmp/perf-$pid.map"
		touch "/tmp/perf-$pid.map"
	done
	kill "$pid"
	chown 65003 python3.14
	start none.so plain ./python3.14
	exits 1 "nor is the program of root's process, where it is a user's" names -p "$pid"
	like "$(cat out)" "not executed as root" "which is told"
	nok "nor has it run" test -e "/tmp/perf-$pid.map"
	chown 0 python3.14
else
	skip "not root" 15
fi

# A sandbox is not left: neither a seccomp filter nor a namespace, be it that of a network without a way out.
filter='import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
os.execv(sys.argv[1], sys.argv[1:])'
as_user=(python3 -c "$filter")
start none.so plain ./python3.14
as_user=()
exits 0 "a Python with a seccomp filter cannot be asked" names -p "$pid"
like "$(cat out)" "seccomp sandbox.*-X perf" "which is told, with what it takes at its start"
nok "no interpreter has run" test -e "/tmp/perf-$pid.map"
spaces() # PROCESS: those of the interpreter, and whether that one has them
{
	for space in $(tail -n 1 "/tmp/perf-$pid.map" | cut -d' ' -f3-); do
		[ "$space" = "$(readlink "/proc/$1/ns/${space%%:*}")" ] && echo same || echo other
	done | tr '\n' ' '
}
start none.so plain ./python3.14
exits 0 "a Python in the caller's namespaces is asked" names -p "$pid"
is "$(spaces self)" "same same same " "in these"
if [ "$(id -u)" -eq 0 ] && unshare -niu true 2>/dev/null; then
	as_user=(unshare -niu)
	start none.so plain ./python3.14
	as_user=()
	exits 0 "one in namespaces of its own is asked" names -p "$pid"
	is "$(spaces self)" "other other other " "outside of the caller's"
else
	skip "not root, or no namespaces here" 2
fi
# Who is not root has the right to in a user namespace that is his.
plain=(setpriv --reuid 65003 --regid 65004 --clear-groups)
[ "$(id -u)" -eq 0 ] || plain=()
if ${plain[@]+"${plain[@]}"} unshare -rniu true 2>/dev/null; then
	cp "$SPOOR" spoor
	chmod 777 .
	as_user=(${plain[@]+"${plain[@]}"} unshare -rniu)
	start none.so plain ./python3.14
	as_user=()
	exits 0 "a user asks one in namespaces of his own" ${plain[@]+"${plain[@]}"} ./spoor names -p "$pid"
	is "$(spaces self)" "other other other " "outside of his"
else
	skip "no user namespaces here" 2
fi

# An interpreter that ends, or stops, the process that waits for it does not outlive the answer.
if [ "$(id -u)" -eq 0 ]; then
	chmod 777 .
	for how in ending stopping; do
		cp none.so $how.so
		as_user=(setpriv --reuid 65003 --regid 65004 --clear-groups)
		start $how.so plain ./python3.14
		as_user=()
		exits 1 "one that is $how whoever asks it fails" names --timeout 2s -p "$pid"
		interpreter=$(tail -n 1 "/tmp/perf-$pid.map" | cut -d' ' -f3)
		like "$interpreter" '^[0-9]+$' "it has run"
		nok "and is gone" kill -0 "$interpreter"
		kill "$pid"
	done
else
	skip "not root" 6
fi

# Nor do those of one user that answer just in time hold up a round as long as there are some.
cp none.so slow.so
as_user=(setpriv --reuid 65003 --regid 65004 --clear-groups)
[ "$(id -u)" -eq 0 ] || as_user=()
many=()
: >many
for _ in {1..32}; do
	background ${as_user[@]+"${as_user[@]}"} ./python3.14 "$TMP/slow.so" plain >>many
	many+=($!)
	at_exit "rm -f /tmp/perf-$!.map"
done
as_user=()
wait_for 10 eval '[ "$(grep -cx "[0-9]*" many)" -eq 32 ]'
exits 1 "32 that answer within 1.5 of 2 seconds" names --timeout 2s -p "$(IFS=,; echo "${many[*]}")"
in_range "$(grep -c "not asked: processes of its user" out)" 8 24 "have no more than 16 seconds, of those begun by then"
is "$(wc -l <out)" 32 "and each has a line"
kill "${many[@]}"

# --- others
start libnode.so.108 plain
exits 0 "a Node cannot be asked" names -p "$pid"
like "$(cat out)" "--perf-basic-prof" "which is told, with what it takes at its start"

# --- users and namespaces
if [ "$(id -u)" -eq 0 ]; then
	as_user=(setpriv --reuid 65003 --regid 65004 --clear-groups)
	chmod 777 .
	start libjvm.so jvm
	exits 0 "root asks another user's" names -p "$pid"
	is "$(grep peer "said.$pid")" "peer 65003 65004$nnp" "as that user, without capabilities"
	cp "$SPOOR" spoor
	exits 1 "who is not root asks no other's" setpriv --reuid 65005 --regid 65005 --clear-groups ./spoor names -p "$pid"
	like "$(cat out)" "another user's" "and is told"
	exits 0 "its own user may" setpriv --reuid 65003 --regid 65004 --clear-groups ./spoor names -p "$pid"
	# A socket of another user than the process.
	as_user=(setpriv --reuid 65006 --regid 65006 --clear-groups)
	start libjvm.so deaf
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "/tmp/.java_pid$pid"
	chown 65003 "/tmp/.java_pid$pid"
	exits 1 "a socket of another user's is refused" names -p "$pid"
	like "$(cat out)" "another user" "and told"
	as_user=()
else
	skip "not root" 8
fi
# In namespaces of its own: its numbers, its /tmp, its root.
inside() # PROGRAM OBJECT MODE: leaves its number out here in $pid, and what is there of it in $map
{
	rm -f said
	# shellcheck disable=SC2016 # expanded in there
	background unshare -pm --fork --propagation private bash -c '
		mkdir -p "$1" && mount --rbind / "$1" && mount -t proc proc "$1/proc" && mount -t tmpfs none "$1/tmp" &&
		mkdir -p "$1$2" && cp "$2/runtime" "$2/python3.14" "$2/libjvm.so" "$2/none.so" "$1$2/" && chmod 1777 "$1/tmp" &&
		exec chroot "$1" setpriv --reuid 65003 --regid 65004 --clear-groups "$2/$3" "$2/$4" "$5"' - "$TMP/inner" "$TMP" "$@" >said 2>&1
	wait_for 10 grep -qx "[0-9]*" said || diag_file said
	pid=$(pgrep -P $!)
	map=/proc/$pid/root/tmp/perf-1.map
}
if [ "$(id -u)" -eq 0 ] && unshare -pm --fork true 2>/dev/null; then
	inside runtime libjvm.so jvm
	exits 0 "a JVM in a container is asked" names -p "$pid"
	like "$(cat out)" "^$pid .*2 functions in its /tmp/perf-1.map" "by the number that it has in there"
	like "$(cat said)" "^peer 65003 65004 " "as its user"
	kill -KILL "$pid"
	inside python3.14 none.so plain
	exits 0 "a Python in a container is asked" names -p "$pid"
	like "$(cat out)" "^$pid .*2 functions in its /tmp/perf-1.map" "by an interpreter in there"
	is "$(stat -c %u:%g "$map")" 65003:65004 "as its user"
	kill -KILL "$pid"
else
	skip "not root, or no namespaces here" 6
fi

# --- all that there are, and again and again
if unshare -pm --fork true 2>/dev/null; then
	unshare -pm --fork --mount-proc bash -c '
		"$1"/runtime "$1"/libjvm.so listening >listening &
		"$1"/runtime "$1"/libnode.so.108 plain >plain &
		wait_for() { for _ in {1..200}; do ! eval "$1" || return 0; sleep 0.1; done; }
		wait_for "grep -q . listening && grep -q . plain"
		"$SPOOR" names -a >all && "$SPOOR" names -a --json >json
		"$SPOOR" names -p "$(head -n 1 listening)" --every 1s >every &
		wait_for "test \$(grep -c named every) -ge 2"' - "$TMP" 2>err
	is "$(sed 's/^[0-9]* //' all | sort | tr '\n' ';' | sed 's/perf-[0-9]*/perf/')" "$(printf '%s;' \
		'runtime (Java): named: 2 functions in its /tmp/perf.map' \
		'runtime (Node.js): cannot be asked while it runs; it takes node --perf-basic-prof at its start')" \
		"of all those that have a runtime" || diag_file err
	is "$(jq -c '[.[] | .verdict] | sort' json)" '["cannot","named"]' "as JSON"
	ok "again and again" test "$(grep -c named every)" -ge 2
else
	skip "no namespaces here" 3
fi

# --- those of a control group, and of the groups in it
root=$(cgroup_root)
top=spoor-names-$$
if [ -n "$root" ] && mkdir -p "$root/$top/inner" 2>/dev/null; then
	at_exit "rmdir '$root/$top/inner' '$root/$top'"
	start libnode.so.108 plain
	echo "$pid" >"$root/$top/inner/cgroup.procs"
	exits 0 "a control group is asked" names --cgroup "/$top"
	is "$(cut -d' ' -f1 out)" "$pid" "those that are in it"
	kill "$pid"
	wait "$pid" 2>/dev/null
	wait_for 10 eval '! grep -q . "$root/$top/inner/cgroup.procs"'
	exits 1 "a group that is not there" names --cgroup "/$top/other"
else
	skip "no control group can be made" 3
fi

# --- a real JVM, which a recording began to watch before
if command -v java >/dev/null && [ "$(id -u)" -eq 0 ]; then
	cat >Main.java <<'JAVA'
public class Main {
	static long alpha(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i ^ (s >>> 3); return s; }
	static long beta(int[] a) { long s = 0; for (int i = 0; i < a.length; i++) { a[i] = a[i] * 31 + i; s += a[i]; } return s; }
	public static void main(String[] args) {
		int[] a = new int[4096];
		long s = 0;
		for (long n = 0; s != 1; n++) { s += alpha(5000) + beta(a); if (n == 20000) System.out.println("warm"); }
	}
}
JAVA
	background java -XX:TieredStopAtLevel=1 -Xmx64m Main.java >said 2>err.java
	pid=$!
	at_exit "rm -f /tmp/.java_pid$pid /tmp/.attach_pid$pid /tmp/perf-$pid.map"
	wait_for 60 grep -q warm said || diag_file err.java
	background "$SPOOR" record -q -p "$pid" -F 499 --duration 3s -o java.spoor
	recorder=$!
	wait_for 10 test -s java.spoor
	exits 0 "a real JVM is asked" names -p "$pid"
	wait $recorder
	kill "$pid"
	in_range "$("$SPOOR" report --json -i java.spoor 2>/dev/null | jq '[.rows[] | select(.kernel | not)] |
		([.[] | select(.symbol | test("^(long|void) Main[.]")) | .samples] | add // 0) * 1000 / ([.[].samples] | add) | floor')" \
		950 1000 "its functions have their names in a recording that began before"
else
	skip "no java here, or not root" 2
fi
done_testing
