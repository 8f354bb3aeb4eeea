#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A user has maps with long names, in many processes that share them. The state that a segment begins
# with, which has the maps of each process, neither fills the archive nor makes the next segment due.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

member_rotates()
{
	setpriv --reuid=65000 --regid=65000 --groups=0 "$TMP/bin/spoorctl" --socket "$socket" rotate
}

need_attacks
cp "$BUILD/spoorctl" bin
attacked "max_use = 1G"
busy first 1000
history_begin
watch
busy calm 3000
attack_state
# The model follows every few seconds.
sleep 6
before=$(status archive_bytes)
segments=$(status segments)
ok "a segment ends" ask 20 rotate
# Another one that is due would be so after two seconds.
busy hit 8000
in_range "$(($(status archive_bytes) - before))" 0 40000000 "the next one begins with 32 MiB at most"
in_range "$(($(status segments) - segments))" 1 2 "and is not full with that"
# Half of 1 GiB an hour are 149 KB a second.
ok "a member has one ended" member_rotates
exits 1 "another one has to wait" member_rotates
wait_s=$(sed -n 's/.*again in \([0-9]*\) s.*/\1/p' err)
in_range "${wait_s:-0}" 100 240 "for what that began with, by sideband_share" || diag_file err
ok "root does not" ask 20 rotate
attack_end
hold_watched "spoord"
ok "sync" ask 10 sync
hold_history "spoord"
in_range "$(samples_of "$archive" first)" 70 1e9 "what was sampled before is there"
stop
is $? 0 "it ends in order"
left_out=$(for f in "$archive"/*.spoor; do "$SPOOR" info --json "$f"; done | jq -s 'map(.loss.sideband_budget) | add')
in_range "$left_out" 1 1e12 "the maps that were left out are counted"
hold_samples "$archive" "spoord"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
