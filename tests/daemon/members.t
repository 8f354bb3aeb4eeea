#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# What one member of control_group can make the daemon do for everybody.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq setpriv
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "not root"
mkdir archive
chmod 755 "$TMP"
cp "$BUILD/spoorctl" .
group=$(getent group daemon | cut -d: -f3)
member=(setpriv --reuid 65000 --regid 65000 --groups "$group")
cat >spoord.conf <<-END
	archive_directory = $TMP/archive
	control_socket = $socket
	control_group = daemon
	events = cpu-clock
	frequency = 99
	block_age = 60s
	sync_interval = 1h
	max_use = 64M
	keep_free = 0
END
: >log
start
wait_for 20 samples_over 0

blocks() # of the segment that is written
{
	"$SPOOR" info --json archive/*.active 2>/dev/null | jq .blocks.RECORDS.blocks
}

# A sync ends a block, and waits for the disk: who asks again and again shares one a second with all who ask.
ctl sync
before=$(blocks)
began=$(date +%s%N)
for asker in {1..4}; do
	"${member[@]}" bash -c 'for ((i = 0; i < 10000; i++)); do
		[ $(($(date +%s%N) - '"$began"')) -lt 4000000000 ] || break
		./spoorctl --socket "$1" sync || exit 1
		echo
	done' - "$socket" >"asked.$asker" 2>"err.$asker" &
	askers+=($!)
done
failed=0
for asker in "${askers[@]}"; do
	wait "$asker" || failed=$((failed + 1))
done
seconds=$((($(date +%s%N) - began) / 1000000000 + 1))
is "$failed" 0 "member_sync: members' syncs are answered" || diag_file err.1
in_range "$(cat asked.* | wc -l)" 4 $((4 * (seconds + 1))) "member_sync: each of four askers about once a second"
in_range "$(($(blocks) - before))" 2 $(((seconds + 1) * 2)) "member_sync: by one sync for all of them"

# Root's are not put off. What is put off is as good: what was sampled before the question is in the file.
# Five that are put off take four seconds at least, in each of five rounds; others as long as the disk takes, in the best one.
best=1000000000000
for round in {1..5}; do
	began=$(date +%s%N)
	for i in {1..5}; do ctl sync || fail "root's sync $round.$i"; done
	took=$(($(date +%s%N) - began))
	[ $took -ge $best ] || best=$took
	[ $best -ge 4000000000 ] || break
done
ok "member_sync: root's are made at once" test $best -lt 4000000000
for i in 1 2; do
	sampled=$(status samples)
	"${member[@]}" ./spoorctl --socket "$socket" sync
	ok "member_sync: a member's sync $i has all that was sampled before it" \
		test "$("$SPOOR" info --json archive/*.active 2>/dev/null | jq .samples)" -ge "$sampled"
done

# member_keep: what members pin is never recorded over, and is half of max_use at most, for all of them together.
ctl rotate
for sealed in archive/2*.spoor; do :; done
boot=${sealed#*-}
for n in {1..6}; do
	cp "$sealed" "archive/20250101T00000$n.000000Z-$boot"
	truncate -s 8M "archive/20250101T00000$n.000000Z-$boot"
	touch -d "2025-01-01 00:00:0$n UTC" "archive/20250101T00000$n.000000Z-$boot"
done
keep() # UID UNTIL LABEL: of these
{
	setpriv --reuid "$1" --regid "$1" --groups "$group" ./spoorctl --socket "$socket" keep \
		--since '2025-01-01 00:00:00 UTC' --until "2025-01-01 00:00:0$2 UTC" --label "$3"
}
# The directories are read anew every few seconds, since others may put files there.
wait_for 20 eval 'ctl list | grep -q "20250101T000006"'
ok "root keeps three of six" keep 0 3 roots
ok "member_keep: a member keeps the same" keep 65000 3 mine
exits 1 "member_keep: another member does not get more than is left of the half" keep 65001 5 other
like "$(cat err)" "labels of members pin 25[0-9]* bytes, with this one 4[0-9]*: they may pin half of max_use, which is 33554432" \
	"member_keep: the error tells what is pinned, and the bound"
like "$(cat err)" "ask root to delete labels of members in $TMP/archive/kept" "member_keep: and what to do"
ok "member_keep: no directory is left" test ! -e archive/kept/other
exits 1 "member_keep: a label of root's takes nothing of a member's" keep 65001 1 roots
is "$(find archive/kept/roots -name '*.spoor' | wc -l)" 3 "member_keep: and has what it had"
ok "member_keep: root keeps on" keep 0 5 roots
rm -r archive/kept/mine
ok "member_keep: without that label there is room" keep 65001 2 other
exits 0 "an end in order" stop

done_testing
