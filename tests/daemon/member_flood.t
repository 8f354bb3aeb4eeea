#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# member_log_flood, and floods of calls: a member does everything at once, for 20 seconds. What that makes the daemon do
# is bounded, root and other members are answered, and neither log nor warnings are his alone.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
. "$TOP/tests/members.sh"
need_command python3
need_members "$TOP/tests/varlink/member_flood.py" <<-END
	events = cpu-clock
	frequency = 19
	max_use = 64M
	sync_interval = 1h
END
: >log
start
wait_for 20 samples_over 0

daemon_ms() # of CPU time
{
	awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hz }' "/proc/$pid/stat"
}

# What a turn costs here: 60 of them are a capture that begins, whose thread reads /proc and /sys.
before=$(daemon_ms)
for i in {1..10}; do ctl capture --duration 10ms >/dev/null 2>&1 || fail "root's capture $i"; done
capture_ms=$((($(daemon_ms) - before) / 10 + 1))

flood() # SECONDS WAY...: in the background; its counts are then in $TMP/theirs/flood.out
{
	member 65000 python3 "$TMP/member_flood.py" "$socket" "$@" >theirs/flood.out 2>theirs/flood.err &
	flooder=$!
}

spent=$(daemon_ms)
began=$(date +%s)
flood 20 status refused captures keep sync list odd unread bytewise
capture 65001 --duration 5s -F 97 -o other.spoor >capture.out 2>&1 &
other=$!
asked=0
missed=0
while kill -0 $flooder 2>/dev/null; do
	ctl status >/dev/null || missed=$((missed + 1))
	member 65001 "$TMP/spoorctl" --socket "$socket" status >/dev/null || missed=$((missed + 1))
	asked=$((asked + 2))
	sleep 0.2
done
wait $flooder
spent=$(($(daemon_ms) - spent))
seconds=$(($(date +%s) - began + 1))
read -r calls connections theirs <theirs/flood.out || diag_file theirs/flood.err
diag "$calls calls answered on $connections connections in $seconds s; CPU: they ${theirs} ms, spoord $spent ms"
in_range "$asked" 2 1e9 "root and another member ask meanwhile"
is "$missed" 0 "and are answered each time"
ok "another member's capture is made" wait $other || diag_file capture.out
in_range "$("$SPOOR" info --json theirs/other.spoor | jq .samples)" 10 1e9 "and has samples"
# Each call takes a turn at least, and each connection: 600 are saved up, 150 come in a second.
in_range "$calls" 10 $((600 + 150 * seconds)) "the calls of a flood are answered, and are no more than a user's turns"
in_range "$spent" 0 $((2 * (600 + 150 * seconds) * capture_ms / 60 + 1000)) \
	"what spoord does is bounded by the turns, at $capture_ms ms for 60 of them, twice over"

# A line for each kind and minute of what is refused, ten of what is done, and what was left out by its number.
in_range "$(wc -l <log)" 2 $(((seconds / 60 + 2) * 60 + 20)) "member_log_flood: lines of log, with 20 of root's captures"
in_range "$(grep -c 'no capture for uid 65000: ' log)" 1 $((seconds / 60 + 2)) \
	"member_log_flood: refused captures have one line a minute, with the uid"
in_range "$(grep -c 'uid 65000 sends is not varlink' log)" 1 $((seconds / 60 + 2)) \
	"member_log_flood: so have messages that are none"
in_range "$(status 'warnings | map(select(test("uid 65000"))) | length')" 0 2 \
	"member_log_flood: of the warnings two are the flooder's at most"

# Nor has any of them a number.
begun=$(grep -c 'capture [0-9]* of uid .* begins' log)
numbers=$(grep -Eo 'capture [0-9]+ of uid' log | awk '$2 > n { n = $2 } END { print n }')
in_range "$numbers" "$begun" 1e9 "captures that begin have numbers"
ctl capture --duration 10ms -e no-such-event >/dev/null 2>&1
ctl capture --duration 10ms >/dev/null
first=$(grep -Eo 'capture [0-9]+ of uid 0 begins' log | tail -n 1)
for i in 1 2 3; do ctl capture --duration 10ms -e no-such-event >/dev/null 2>&1; done
ctl capture --duration 10ms >/dev/null
last=$(grep -Eo 'capture [0-9]+ of uid 0 begins' log | tail -n 1)
is "$(($(cut -d' ' -f2 <<<"$last") - $(cut -d' ' -f2 <<<"$first")))" 1 "member_log_flood: a refused capture has no number"

# Connections alone: what is beyond the turns of the user, and the places, is closed.
spent=$(daemon_ms)
flood 5 connect connect
wait $flooder
spent=$(($(daemon_ms) - spent))
read -r calls connections theirs <theirs/flood.out
diag "$connections connections; CPU: they ${theirs} ms, spoord $spent ms"
in_range "$spent" 0 $((2 * theirs)) "connections cost spoord no more than twice what they cost who makes them"
ok "root is answered at once" ctl status
# A name that no control group has, where there are many.
groups=$(cgroup_root)/spoor-flood.$$
if mkdir "$groups" 2>/dev/null; then
	at_exit "rmdir '$groups'/*/* '$groups'/* '$groups' 2>/dev/null"
	mkdir -p "$groups"/{0..29}/{0..99}
	one=$(daemon_ms)
	ctl capture --duration 10ms --cgroup none.service >/dev/null 2>&1
	one=$(($(daemon_ms) - one))
	spent=$(daemon_ms)
	flood 10 groups groups
	wait $flooder
	spent=$(($(daemon_ms) - spent))
	diag "captures of a group that is not there: spoord $one ms for one, and for those of 10 s $spent ms"
	# A tenth of the time of two captures, the two that are not over, and what spoord does by itself.
	in_range "$spent" 0 $((2 * 1000 + 2 * one + 1000)) "captures that are refused late cost a tenth of the time"
	ok "root's is not refused for it" ctl capture --duration 10ms
fi
exits 0 "an end in order" stop
like "$(cat log)" "no capture for uid 65000: .* lines like this in a minute" \
	"member_log_flood: how many were left out is told by then"

# In a user namespace of his own a member is as many users as subuid(5) gives him: all of them have his share.
if [ -e /etc/subuid ]; then
	echo 65000:300000:10 >subuid
	printf '#!/bin/sh\nmount --bind "%s" /etc/subuid && exec "%s" "$@"\n' "$TMP/subuid" "$spoord" >spoord.sub
	chmod 755 spoord.sub
	background unshare -m "$TMP/spoord.sub" -c spoord.conf --foreground 2>>log
	pid=$!
	wait_for 20 samples_over 0
	for uid in 65000 300001 300002; do
		member $uid python3 "$TMP/member_flood.py" "$socket" 4 hold >/dev/null 2>flood.err &
		flooders+=($!)
	done
	sleep 1
	missed=0
	for i in {1..10}; do
		member 65001 "$TMP/spoorctl" --socket "$socket" status >/dev/null 2>&1 || missed=$((missed + 1))
	done
	is "$missed" 0 "member_subordinates: a member's subordinate users have his share, and others have room"
	wait "${flooders[@]}"
	stop
fi

done_testing
