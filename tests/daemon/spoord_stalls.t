#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 90s
#
# Captures whose file takes nothing, and of a task that is stuck in execve(2), cost their user and nobody
# else: slots are free by the clock, the daemon answers, and ends within seconds.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/members.sh"
need_command python3
# shellcheck disable=SC2119 # no more files
need_members <<END
max_use = 64M
max_captures = 4
capture_cpu = 0
END
mkdir slow exec

mounted() # DIRECTORY
{
	grep -q " $TMP/$1 fuse " /proc/mounts
}

filesystem() # DIRECTORY OPCODE: $server is whoever serves it
{
	background python3 "$TOP/tests/oracles/stuckfs.py" "$TMP/$1" "$2" 2>>server.log
	server=$!
	at_exit "umount -l '$TMP/$1' 2>/dev/null"
	# First of all: nothing that waits for it can be ended before.
	at_exit "kill -USR1 $server 2>/dev/null; sleep 0.2"
	wait_for 10 mounted "$1"
}

if [ ! -c /dev/fuse ] || ! filesystem slow 16; then
	skip_all "no file system can be mounted by /dev/fuse here: $(tail -n 1 server.log)"
fi
slow=$server
filesystem exec 25 || bail "the second file system is not mounted"
exec=$server
start
wait_for 20 ctl status || { diag_file log; bail "spoord does not come up"; }

into_slow() # UID ARGUMENT...: the descriptor is of the file that takes nothing
{
	local uid=$1

	shift
	# Not truncated: that waits for whoever writes.
	capture "$uid" -o - "$@" 1<>slow/file
}

answers() # within a second
{
	timeout 1 "$BUILD/spoorctl" --socket "$socket" status
}

# Two slots at most, of four, are one user's.
begun() # COUNT: so many have begun since the log was that long
{
	[ "$(tail -n "+$logged" log | grep -c 'of uid 65000 begins')" = "$1" ]
}

into_slow_begun() # DURATION COUNT: so many in the background, and then the file takes nothing
{
	local i

	kill -USR1 "$slow"
	logged=$(($(wc -l <log) + 1))
	for ((i = 0; i < $2; i++)); do
		into_slow 65000 --duration "$1" 2>/dev/null &
	done
	wait_for 10 begun "$2" || fail "$2 captures have begun"
	kill -USR2 "$slow"
}

logged=1
into_slow 65000 --duration 4s 2>a.err &
a=$!
into_slow 65000 --duration 50s 2>b.err &
b=$!
wait_for 10 begun 2 || fail "two captures into a file"
kill -USR2 "$slow"
exits 1 "a third of the same user" capture 65000 --duration 1s -o x.spoor
like "$(cat err)" '2 captures of uid 65000 are running: .* half of max_captures' "is refused"
exits 0 "others have theirs" capture 65001 --duration 500ms -o x.spoor
ok "the daemon answers" answers
wait_for 10 eval '[ "$(status captures)" = 1 ]'
is "$(status captures)" 1 "the slot of one whose time is over is free"
id=$(ctl captures --json | jq '[.captures[] | select(.duration_s > 10)][0].id')
ok "the other one is stopped" ctl stop "$id"
is "$(status captures)" 0 "and its slot is free at once"
wait "$a"
is $? 1 "the first one is given up"
like "$(cat a.err)" 'the file does not take the rest' "which is told"
wait "$b"
is $? 1 "so is the other one"
# These cannot even begin.
for i in 1 2; do
	into_slow 65000 --duration 200ms 2>"late.$i" &
done
wait_for 30 eval '[ "$(grep -c "is given up: " log)" = 4 ]' || { fail "four are given up"; diag_file late.1; diag_file late.2; }
exits 1 "who has left four so" capture 65000 --duration 1s -o x.spoor
like "$(cat err)" 'uid 65000 has too many finished captures that wait' "has no more"
exits 0 "but others have" capture 65001 --duration 200ms -o x.spoor
kill -USR1 "$slow"
wait_for 10 eval '[ "$(grep -c "which was given up, has been let go of" log)" = 4 ]' || fail "when the file takes it they end"
exits 0 "and the user has captures again" capture 65000 --duration 200ms -o x.spoor

# Events of a task that is stuck in execve(2) wait for it.
kill -USR2 "$exec"
background python3 -c '
import os, sys
os.setgroups([])
os.setresgid(65000, 65000, 65000)
os.setresuid(65000, 65000, 65000)
os.open(sys.argv[1], os.O_RDONLY | os.O_CLOEXEC)
print(os.getpid(), flush=True)
os.execv("/bin/sleep", ["sleep", "600"])' "$TMP/exec/file" >stuck.pid
wait_for 10 test -s stuck.pid
sleep 0.5
background setpriv --reuid 65001 --regid 65001 --clear-groups sleep 600
other=$!
begun=$(date +%s)
capture 65000 --duration 1s -p "$(cat stuck.pid)" -o y.spoor 2>c.err &
c=$!
capture 65000 --duration 1s --call-graph dwarf -p "$(cat stuck.pid)" -o z.spoor 2>d.err &
d=$!
sleep 1
ok "a capture of a task that is stuck: the daemon answers" answers
exits 0 "and captures for others" capture 65001 --duration 500ms -p "$other" -o x.spoor
wait "$c"
is $? 1 "it is given up"
like "$(cat c.err)" 'it could not be begun in 15 s' "which is told"
wait "$d"
like "$(cat d.err)" 'it could not be begun in 15 s' "as with stacks"
in_range "$(($(date +%s) - begun))" 14 25 "after 15 seconds"
kill -USR1 "$exec"
wait_for 10 eval '[ "$(grep -c "which was given up, has ended" log)" = 2 ]' || fail "when the task goes on, the threads end"

# A file that takes all and cannot be closed: also its client waits for that, and whoever has it open.
logged=$(($(wc -l <log) + 1))
{
	exec 7<>exec/file
	kill -USR2 "$exec"
	capture 65000 --duration 300ms -o - 1>&7 2>/dev/null
} &
e=$!
ended()
{
	tail -n "+$logged" log | grep -Eq 'capture [0-9]+ ends: [0-9]+ samples, [0-9]+ lost$'
}
ok "a file that cannot be closed has its capture" wait_for 20 ended
ok "and the daemon answers" answers
kill -USR1 "$exec"
wait "$e"

# Files that are none.
if setpriv --reuid 65000 --regid 65000 --clear-groups sh -c 'exec 3<>/proc/self/comm' 2>/dev/null; then
	member 65000 sh -c "'$TMP/spoorctl' --socket '$socket' capture -e cpu-clock --duration 300ms -o - 1<>/proc/self/comm" 2>err
	like "$(cat err)" "one of the kernel's own" "a capture into a file of proc is refused"
else
	skip "/proc/self/comm cannot be opened" 1
fi

# A socket that was removed.
rm socket
nok "nobody gets in" answers
kill -HUP "$pid"
ok "after a reload the socket is there again" wait_for 5 answers
is "$(stat -c '%a %G' socket)" "660 daemon" "as it was"

# The end, with files that take nothing.
into_slow_begun 50s 1
sleep 6
begun=$(date +%s)
kill "$pid"
ok "it ends within seconds" wait_for 10 grep -q ' stopped$' log
ok "and has given the archive back" sh -c 'flock -n archive true && flock -n archive/.lock true'
# A request that its server has read is waited for in the kernel, also by who is killed.
kill -USR1 "$slow"
stop
is $? 0 "in order"
[ "$tests_failed" -eq 0 ] || diag_file log 100
done_testing
