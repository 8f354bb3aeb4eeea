#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The helper that scans /proc gets no CPU while the recording goes on, as on a host with ten programs for
# each CPU: the recorder waits for the names of the processes that were there before it, or says that they lack.
. "$(dirname "$0")/../lib.sh"
need_record_all
"$FIXTURES/burn" 3600000 >/dev/null &
burn=$!
at_exit "kill $burn"
NOTE='the scan of /proc was not over when the file ended'

held() # FILE OPTION...: records; the number of the helper is in ./pid, and it is stopped
{
	local file=$1
	shift
	rm -f pid
	LD_PRELOAD=$PRELOADS/libheld.so HELD=$PWD/pid "$SPOOR" record -a -F 99 -o "$file" "$@" 2>record.err &
	recorder=$!
	wait_for 30 test -s pid
	wait_for 30 grep -q '^State:.T' "/proc/$(cat pid)/status"
}

of_burn() # FILE OPTION...: its samples
{
	"$SPOOR" dump "$@" | grep -c ' SAMPLE '
}

all_named() # FILE: there are samples of it, and all have its name
{
	[ "$(of_burn "$1" --pid "$burn")" -gt 0 ] &&
		[ "$(of_burn "$1" --pid "$burn" --comm burn)" -eq "$(of_burn "$1" --pid "$burn")" ]
}

# --- until after the end ------------------------------------------------------------------------------

held kept.spoor --duration 1s
pause_for 3
ok "the recorder waits for the helper" kill -0 "$recorder"
kill -CONT "$(cat pid)"
exits 0 "the recording" wait "$recorder"
ok "whose processes are named" all_named kept.spoor
unlike "$("$SPOOR" info -i kept.spoor)" "$NOTE" "which lacks nothing"

# --- for ever -----------------------------------------------------------------------------------------

held late.spoor --duration 1s
exits 0 "one without its names" wait "$recorder"
like "$(cat record.err)" "$NOTE: samples of processes that it had not reached have no names" "says so"
like "$("$SPOOR" info -i late.spoor)" "$NOTE" "so does its file"
ok "samples are there" test "$(of_burn late.spoor --pid "$burn")" -gt 0
ok "the helper ends with it" wait_for 10 eval '! kill -0 "$(cat pid)" 2>/dev/null'

# --- while one file follows another -------------------------------------------------------------------

held two.spoor --switch-output=signal
pause_for 1
kill -USR2 "$recorder"
wait_for 20 grep -q '^spoor: recorded ' record.err
kill -CONT "$(cat pid)"
pause_for 3
kill -INT "$recorder"
exits 130 "a recording of two files" wait "$recorder"
files=(two.spoor.*)
first=${files[0]} last=${files[-1]}
like "$("$SPOOR" info -i "$first")" "$NOTE" "the file that ended too early says so"
unlike "$("$SPOOR" info -i "$last")" "$NOTE" "the other does not"
ok "there all are named" all_named "$last"
done_testing
