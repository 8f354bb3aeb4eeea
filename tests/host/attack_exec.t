#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Tasks of several users are in an exec that never ends: a FUSE server does not answer the FLUSH of a
# descriptor that closes with it. Who reads their maps in /proc waits for the end of the exec.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
need_fuse

# --- the attack is one ------------------------------------------------------------------------
attack_stuck_exec
hung=0
for p in $(processes 'name == "silent_user"'); do
	timeout 0.2 cat "/proc/$p/maps" >/dev/null 2>&1
	[ $? -ne 124 ] || hung=$((hung + 1))
done
is $hung 16 "who reads the maps of 16 tasks waits"
attack_end

# --- they come later --------------------------------------------------------------------------
attacked ""
history_begin
watch
busy calm 2000
attack_stuck_exec
busy hit 3000
hold_watched "such tasks later"
ok "sync" ask 10 sync
hold_log "${attackers[0]}" "the log says once whose task it is"
hold_told "${attackers[0]}" "tasks that cannot be looked at"
hold_history "spoord"

# --- they are there before --------------------------------------------------------------------
hold_restart "such tasks before"
watch
busy hit 2000
hold_watched "such tasks before"
attack_end
busy calm 2000
stop
is $? 0 "it ends in order"
hold_samples "$archive" "spoord"

# --- spoor record -----------------------------------------------------------------------------
attack_stuck_exec
hold_once
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
