#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# What spoor record refuses --dry-run refuses, with the same status and the same last word; and it leaves nothing behind.
. "$(dirname "$0")/../lib.sh"
need_command setpriv

touch not-executable
mkdir directory
echo not a recording >older
"$SPOOR" record -o kept.spoor -- true >out 2>err || diag_file err
cp kept.spoor kept

# Recording tells more on its way there: notes of what was opened already.
both() # NAME [STATUS] -- OPTION...
{
	local name=$1 status=${2/--/} recorded tried
	shift
	[ "$1" = -- ] || shift
	shift
	"${as[@]}" "$SPOOR" record "$@" >out 2>recorded.err </dev/null
	recorded=$?
	"${as[@]}" "$SPOOR" record --dry-run "$@" >out 2>tried.err </dev/null
	tried=$?
	is "$tried" "${status:-$recorded}" "$name: its status"
	is "$recorded" "$tried" "$name: recording has the same"
	is "$(tail -n 1 tried.err)" "$(tail -n 1 recorded.err)" "$name: in the same words" || diag_file tried.err
}

as=(env)
both "a directory that is not there" 1 -- -o missing/x.spoor -- true
both "no place for files" 1 -- -o /proc/x.spoor -- true
both "a directory" 1 -- -o directory -- true
both "no such command" 127 -- -o x.spoor -- no-such-command
both "a command that is no program" 126 -- -o x.spoor -- ./not-executable
both "a directory as a command" 126 -- -o x.spoor -- ./directory
both "a process that is not there" 1 -- -o x.spoor -p 4194305
both "an event that is not there" 2 -- -o x.spoor -e no-such-event -- true
both "a CPU that is not there" 1 -- -o x.spoor -C 8191 --duration 1s
both "--control by what is no FIFO" 2 -- -o x.spoor --control older -- true
both "--control by what is not open" 1 -- -o x.spoor --control fd:99 -- true
both "several files by a stream" 2 -- -o - --switch-output -- true
both "objects beside a stream" 2 -- -o - --store-objects -- true
both "sizes without files" 2 -- -o x.spoor --overwrite --max-size 1M -- true
both "objects in a directory that is not there" 1 -- -o missing/x.spoor --store-objects -- true

both "a pack of what is no regular file" 2 -- -o /dev/null --pack -- true
exec 8<>kept.spoor
flock 8
both "a file that another recorder writes" 1 -- -o kept.spoor -- true
exec 8>&-
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	background sleep 1000
	both "a file where this user may write none" 1 -- -o x.spoor -- true
	both "another user's process" 1 -- -o /dev/null -p $! --duration 1s
	both "all that runs" 1 -- -o /dev/null -a --duration 1s
	as=(env)
else
	skip "not root: another user's" 9
fi

# It leaves nothing, and what is there as it was.
rm -f x.spoor
before=$(ls -1)
"$SPOOR" record --dry-run -o x.spoor -- touch was-run >out 2>err
is $? 0 "nothing to refuse" || diag_file err
"$SPOOR" record --dry-run --store-objects -o y.spoor -- touch was-run >out 2>err
"$SPOOR" record --dry-run -o kept.spoor -- touch was-run >out 2>err
"$SPOOR" record --dry-run --switch-output=1M -o older -- touch was-run >out 2>err
is "$(ls -1)" "$before" "no file came or went"
ok "a recording is as it was" cmp kept kept.spoor
is "$(cat older)" "not a recording" "and what is none"

done_testing
