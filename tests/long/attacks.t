#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An hour (ATTACK_SECONDS) of all attacks of local users in turns, on one spoord that nobody starts
# again, in 128 MiB. A busy program is sampled before each attack and during it.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/attack.sh"

seconds=${ATTACK_SECONDS:-3600}
attacks=("attack_silent_fs open" "attack_silent_fs open,read,getattr,lookup" "attack_silent_fs late,open"
	"attack_passers_by 2" attack_stuck_exec attack_maps attack_forks attack_cgroups attack_state
	attack_captures attack_history attack_storm attack_groups)

attack_captures() # as many as there may be, each with a picture of a host with very many maps
{
	attack_state
	capture_four 10s
	attack_pids+=("${captures[@]}")
}

need_attacks
need_fuse
# All samples of an hour fit: what is deleted is an attack's doing.
attacked "max_use = 256M" "segment_age = 5m"
history_begin
watch
begun=$SECONDS
alone=$pid
turn=0
unwritten=0
until [ $((SECONDS - begun)) -ge "$seconds" ]; do
	attack=${attacks[turn++ % ${#attacks[@]}]}
	busy calm 4000
	$attack
	busy hit 8000
	# What waits in memory is not yet written.
	ask 10 sync || unwritten=$((unwritten + 1))
	attack_end
	kill -0 "$alone" 2>/dev/null || break
	diag "after $((SECONDS - begun)) s: $attack; RSS $(rss_all) KiB, $(status samples) samples, $(status frequency_hz) Hz"
done
ok "it is the same process after $turn attacks" kill -0 "$alone"
hold_watched "$turn attacks"
hold_history "$turn attacks"
for uid in "${attackers[@]}"; do
	diag "the log has of user $uid: $(grep -cE "(user|uid) $uid\\b" log) lines"
done
is $unwritten 0 "sync returns during each of them"
stop
is $? 0 "it ends in order"
hold_samples "$archive" "$turn attacks"
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
