#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A user maps files of an overlayfs on a FUSE file system that does not answer any more. A build-id
# is wanted of each, and who opens or reads the file waits for as long as the user likes.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

need_attacks
need_fuse

# --- the attack is one ------------------------------------------------------------------------
attack_silent_fs open
user=$(processes 'name == "silent_user"')
map=$(find "/proc/$user/map_files" -lname '*/overlay/*' | head -n 1)
cat "$map" >/dev/null &
reader=$!
sleep 0.5
ok "who opens the file waits" kill -0 $reader
attack_end
wait $reader
isnt $? 0 "until the server is gone"

# --- spoord -----------------------------------------------------------------------------------
attacked ""
history_begin
watch
for ops in open read,getattr open,read,getattr,lookup; do
	busy calm 1500
	attack_silent_fs $ops
	busy hit 2000
	[ $ops = open,read,getattr,lookup ] || attack_end
done
hold_watched "spoord"
ok "sync" ask 10 sync
hold_log "${attackers[0]}" "the log says once whose file it is"
hold_told "${attackers[0]}" "files that nobody answers for"
# Each has helpers of its own, and knows whom the others have met.
helpers=$(processes 'name == "spoor-helper"' | wc -l)
for _ in 1 2 3 4; do
	ctl capture --duration 3s -o capture.spoor >/dev/null 2>&1 || fail "a capture"
done
in_range "$(processes 'name == "spoor-helper"' | wc -l)" 1 "$helpers" "captures leave no helper behind"
hold_restart "the mount is there before"
hold_history "spoord"
attack_end
stop
is $? 0 "it ends in order"
hold_samples "$archive" "spoord"

# --- by who is gone -----------------------------------------------------------------------------
attacked ""
helpers=$(processes 'name == "spoor-helper"' | wc -l)
attack_passers_by 4
ok "the log says whose it was" grep -q "of user ${attackers[0]}: a file that it has mapped" log
in_range "$(processes 'name == "spoor-helper"' | wc -l)" 1 $((helpers + 2)) \
	"the second file that a user lets nobody open is not asked for"
attack_end
stop
is $? 0 "it ends in order"

# --- answers that are late, each in time ------------------------------------------------------
attacked ""
mkdir new
for i in $(seq 20); do
	cp "$FIXTURES/burn" "new/$i"
done
attack_silent_fs late,open
sleep 10
for i in $(seq 20); do
	"new/$i" 100 >/dev/null
done
sleep 1
ok "sync" ask 10 sync
hold_log "${attackers[0]}" "the log says once who is left alone"
attack_end
stop
is $? 0 "it ends in order"
for f in "$archive"/*.spoor; do "$BUILD/tests/bench/ids" -v "$f"; done >ids
in_range "$(awk '$2 != "-" && $3 ~ "/new/[0-9]+$" { known[$3] } END { print length(known) }' ids)" \
	20 20 "files of others, that are mapped meanwhile, have their build-ids"

# --- spoor record -----------------------------------------------------------------------------
attack_silent_fs open
hold_once
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
