#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 70s
#
# What somebody does to the archive under spoord's hands: files and directories that are removed, moved,
# renamed, replaced. It says so within five seconds, goes on in a new file, tells in that what went
# with the old one; sync fails once for it. Two daemons never share a directory.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq

archive=$TMP/archive
mkdir -m 710 "$archive"
[ "$(id -u)" -ne 0 ] || chown 65534:65533 "$archive"
cat >spoord.conf <<-EOC
	archive_directory = $archive
	control_socket = $socket
	control_group = root
	frequency = 499
	max_use = 64M
	keep_free = 1
	block_age = 1s
	cpu_budget = 0
	sync_interval = 1h
EOC

# By the file that it is: links, and files of the same name, are others.
active_inode()
{
	find "$archive" -maxdepth 1 -name '*.spoor.active' -printf '%i\n'
}

active()
{
	find "$archive" -maxdepth 1 -name '*.spoor.active' -print -quit
}

new_active() # OLD: an active file that is not this one
{
	local now
	now=$(active_inode)
	[ -n "$now" ] && [ "$now" != "$1" ]
}

said() # PATTERN
{
	grep -Eq -- "$1" log
}

times() # PATTERN: how often it was said
{
	grep -Ec -- "$1" log
}

info() # FILTER: of the file being written
{
	"$SPOOR" info --json "$(active)" 2>/dev/null | jq "$1"
}

# What is lost is known before it is: by reading the file, which is then not written any more
# until it is gone but for a moment.
samples_in_file()
{
	ctl sync && info .samples
}

# after NAME OLD-INODE LEAST SAID: a file was taken that had at least so many samples.
after()
{
	local name=$1 old=$2 least=$3 said=$4 before removed

	ok "$name: said within five seconds" wait_for 5 said "$said" || diag_file log
	ok "$name: recording goes on in a new file" wait_for 5 new_active "$old"
	before=$(status samples)
	exits 1 "$name: sync fails" ctl sync
	like "$(cat err)" "$said: what was recorded from 20.*Z to 20.*Z is lost" "$name: for what is gone"
	exits 0 "$name: once" ctl sync
	ok "$name: samples come" wait_for 20 samples_over "$before"
	exits 0 "$name: and are synced" ctl sync
	is "$(times "$said")" 1 "$name: it was said once"
	is "$(info '"\(.damaged_blocks) \(.damaged_bytes)"')" '"0 0"' "$name: the new file is not damaged"
	removed=$(info .loss.removed)
	in_range "$removed" "$least" 1e9 "$name: its ledger has what went"
	is "$(info '[.gaps[] | select(.cause == "removed")] | length')" 1 "$name: and so has a gap"
	in_range "$(info '[.gaps[] | select(.cause == "removed")][0].samples')" "$removed" 1e9 \
		"$name: of all of them"
	in_range "$(info .samples)" 1 1e9 "$name: samples are in it"
	like "$(ctl status)" "removed [1-9][0-9]*" "$name: status has the count"
	like "$(ctl status)" "$said: what was recorded" "$name: and the words"
}

background "$FIXTURES/burn" 3600000 1 20 >/dev/null 2>&1
start
ok "it records" wait_for 20 samples_over 200 || diag_file log
is "$(status lost_files)" 0 "nothing is lost"
is "$(status lost_file)" "" "nor is there a word on it"

# --- the file being written -----------------------------------------------------------------
had=$(samples_in_file)
old=$(active_inode) name=$(active)
rm "$name"
after "rm of the file" "$old" "$had" "$name was removed"
is "$(status lost_files)" 1 "one file is lost"
in_range "$(status lost.removed)" "$had" 1e9 "status has the count"
in_range "$(status lost_samples)" "$had" 1e9 "among the samples that are lost"

: >log
had=$(samples_in_file)
old=$(active_inode) name=$(active)
rm "$name"
cp "$FIXTURES/burn" "$name"
after "another file of its name" "$old" "$had" "$name was removed"
ok "the other one is set aside" test -e "${name%.active}~"
rm "${name%.active}~"

: >log
had=$(samples_in_file)
old=$(active_inode) name=$(active)
mv "$name" "$TMP/elsewhere.spoor"
after "mv out of the archive" "$old" "$had" "$name was moved away"
exits 0 "what was moved reads" "$SPOOR" report "$TMP/elsewhere.spoor"

# Sync is asked before anybody has looked.
: >log
old=$(active_inode) name=$(active)
rm "$name"
exits 1 "sync right after rm fails" ctl sync
like "$(cat err)" "$name was removed: what was recorded" "and says why"
exits 0 "but the next one" ctl sync
ok "which is of a new file" new_active "$old"
is "$(times "was removed")" 1 "said once"

# --- what is no loss ------------------------------------------------------------------------
: >log
lost=$(status lost_samples)
ln "$(active)" "$TMP/link.spoor"
had=$(samples_in_file)
old=$(active_inode)
sleep 5
is "$(active_inode)" "$old" "a hard link more is nobody's business"
is "$(grep -c 'removed\|moved\|renamed' log)" 0 "and not a word worth" || diag_file log

name=$(active)
mv "$name" "$archive/incident.spoor"
ok "a file that is renamed in its directory is told of" wait_for 5 said "$name was renamed to incident.spoor"
ok "recording goes on in a new one" wait_for 5 new_active "$old"
exits 0 "sync does not fail" ctl sync
is "$(status lost_samples)" "$lost" "nothing is lost"
ok "what was renamed has an end" wait_for 5 "$SPOOR" verify -q "$archive/incident.spoor"
in_range "$("$SPOOR" info --json "$archive/incident.spoor" | jq .samples)" "$had" 1e9 "and all its samples"
is "$(info '[.gaps[] | select(.cause == "removed" and .samples > 0)] | length')" 0 "the new one has no gap of it"
ok "it is a segment of the archive" wait_for 7 \
	sh -c "'$BUILD/spoorctl' --socket '$socket' list | grep -q 'incident.spoor'"

ctl rotate
: >log
segments=$(status segments)
rm "$archive/incident.spoor"
gone()
{
	[ "$(status segments)" -lt "$segments" ]
}
ok "a sealed segment that is removed is counted no more" wait_for 7 gone
sleep 2
is "$(grep -c . log)" 0 "without a word" || diag_file log
exits 0 "and sync is content" ctl sync
ctl vacuum --max-segments 1 >/dev/null
exits 0 "as after what it removes itself" ctl sync
is "$(status lost_samples)" "$lost" "of which nothing is lost"

# --- directories ------------------------------------------------------------------------------
: >log
had=$(samples_in_file)
old=$(active_inode) name=$(active)
rm -rf "${archive:?}"/*
after "rm of all files" "$old" "$had" "$name was removed"
is "$(stat -c %a "$archive/captures" "$archive/kept" | uniq -c | sed 's/^ *//')" "2 750" "captures/ and kept/ are there again"
like "$(cat log)" "$archive/captures was removed or moved away: it is made again" "which is said"

: >log
chmod 2700 "$archive/kept"
had=$(samples_in_file)
owner=$(stat -c '%a %u %g' "$archive")
old=$(active_inode) name=$(active)
rm -rf "$archive"
after "rm of the directory" "$old" "$had" "$name was removed"
is "$(stat -c '%a %u %g' "$archive")" "$owner" "it is made again with its mode and owner"
is "$(stat -c '%a' "$archive/kept")" 2700 "and so is what is in it"
is "$(times "$archive was removed or moved away: it is made again")" 1 "which is said, once"
nok "a second one is refused there" "$spoord" -c spoord.conf

: >log
had=$(samples_in_file)
old=$(active_inode) name=$(active)
mv "$archive" "$archive.old"
mkdir -m 755 "$archive"
after "a replaced directory" "$old" "$had" "$name was moved away"
is "$(stat -c %a "$archive")" 755 "the mode of which is left alone"
nok "a second one is refused there as well" "$spoord" -c spoord.conf
exits 0 "the old one reads" "$SPOOR" report "$archive.old"

# Where it cannot be made for now: whoever is to make it comes later.
: >log
old=$(active_inode) name=$(active)
mv "$archive" "$archive.old2"
: >"$archive"
ok "no directory: said within five seconds" wait_for 5 said "archive_directory $archive: .*; retrying"
ok "and that nothing is written" wait_for 5 suspended true
exits 1 "sync fails" ctl sync
like "$(cat err)" "$name was moved away" "and says why"
sleep 3
exits 1 "as often as it is asked" ctl sync
is "$(times 'retrying every 2 s')" 1 "but it is logged once" || diag_file log
rm "$archive"
ok "it goes on when that is possible" wait_for 5 suspended false
ok "in a new file" new_active "$old"
ctl sync
exits 0 "sync succeeds" ctl sync
in_range "$(info '[.gaps[] | select(.cause == "removed")][0] | .end_ns - .start_ns')" 3e9 1e12 "the gap is told"
in_range "$(info .loss.dropped)" 1 1e9 "and what was dropped meanwhile"

# --- captures -------------------------------------------------------------------------------------
: >log
ctl capture --duration 30s >capture.out 2>&1 &
client=$!
captured()
{
	find "$archive/captures" -name '*.active' -size +0 | grep -q .
}
ok "a capture runs" wait_for 10 captured
name=$(find "$archive/captures" -name '*.active')
old=$(active_inode)
rm "$name"
ok "its file is removed: said within five seconds" wait_for 5 said "$name was removed.*and the capture ends"
none()
{
	[ "$(status captures)" = 0 ]
}
ok "it ends" wait_for 10 none
wait $client
isnt $? 0 "and who waits for it gets an error"
like "$(cat capture.out)" "its file was removed" "with the reason"
ctl capture --duration 30s >capture.out 2>&1 &
client=$!
ok "another one runs" wait_for 10 captured
name=$(find "$archive/captures" -name '*.active')
mv "$name" "$archive/captures/incident.spoor"
ok "its file is renamed: said within five seconds" wait_for 5 said "$name was moved or renamed: .* and the capture ends"
ok "it ends" wait_for 10 none
wait $client
isnt $? 0 "and who waits for it gets an error"
exits 0 "what was renamed reads" "$SPOOR" report "$archive/captures/incident.spoor"
is "$(active_inode)" "$old" "the base stream is not concerned"
exits 0 "nor is sync" ctl sync

# --- two of them ------------------------------------------------------------------------------------
rm -f "$archive/.lock"
exits 1 "a second one is refused, lock file or not" "$spoord" -c spoord.conf
like "$(cat err)" "another spoord writes here, process $pid" "and told which one there is"
is "$(active_inode)" "$old" "the first one's segment is as it was"

stop
is $? 0 "SIGTERM: exit 0" || diag_file log
is "$(find "$archive" -name '*.active' -o -name .lock | wc -l)" 0 "nothing is left behind"
for file in "$archive"/*.spoor; do
	exits 0 "$(basename "$file") is clean" "$SPOOR" verify "$file"
done

# --- who may only read there -----------------------------------------------------------------------
# A member of its group locks the directory and executes a program that is another user's from then on.
member=
locked_by() # PID: the directory, by /proc/locks
{
	grep -Eq " $1 [0-9a-f:]*:$(stat -c %i "$archive") " /proc/locks
}
if [ "$(id -u)" -ne 0 ] || ! install -m 4755 "$(command -v sleep)" "$TMP/setuid" ||
	findmnt -nT "$TMP" -o OPTIONS | grep -q nosuid; then
	skip "no user whom a program makes root" 8
else
	chmod 711 "$TMP"
	chgrp 65533 "$archive"
	chmod 750 "$archive"
	background setpriv --reuid 64001 --regid 65533 --clear-groups \
		flock --no-fork -x "$archive" "$TMP/setuid" 3600
	member=$!
	ok "a member of the group has the lock" wait_for 10 locked_by "$member"
	ok "in a process that is root's" wait_for 10 \
		grep -Eq '^Uid:[[:space:]]64001[[:space:]]0[[:space:]]' "/proc/$member/status"
	: >log
	start
	ok "the next one records all the same" wait_for 10 samples_over 0 || diag_file log
	ok "and says whom it passed over" said "process $member, which is no spoord, has locked it"
	exits 1 "a second one is refused" "$spoord" -c spoord.conf
	rm "$archive/.lock"
	exits 1 "also when the lock file was removed a moment ago" "$spoord" -c spoord.conf
	like "$(cat err)" "another spoord writes here, process $pid" "which is told who is there"
	kill "$member"
	ok "the directory's lock is had when the member goes" wait_for 6 locked_by "$pid"
	stop
fi

# --- one that was killed, and does not end -----------------------------------------------------------
# A thread that writes to a frozen file system waits for as long as that is frozen.
frozen=$TMP/frozen stuck=
thaw()
{
	[ -z "$stuck" ] || fsfreeze --unfreeze "$frozen" 2>/dev/null
	umount -l "$frozen" 2>/dev/null
}
mkdir "$frozen"
if ! command -v fsfreeze >/dev/null || ! truncate -s 16M disk || ! mkfs.ext4 -q disk 2>/dev/null ||
	! mount -o loop disk "$frozen" 2>/dev/null; then
	skip "no file system can be mounted and frozen here" 11
	done_testing
	exit
fi
at_exit thaw
background "$FIXTURES/stuck_lock" "$archive" "$frozen/file" >ready
stuck=$!
ok "somebody has the lock" wait_for 10 grep -q ready ready
exits 1 "and is alive" "$spoord" -c spoord.conf
fsfreeze --freeze "$frozen"
# Its thread has to be in the write that does not end: killed before, all of it would end.
in_write()
{
	grep -qs '^State:.*D' "/proc/$stuck"/task/*/status
}
wait_for 20 in_write || fail "a thread is stuck"
kill -KILL "$stuck"
zombie()
{
	grep -q '^State:.*Z' "/proc/$stuck/status" && grep -qs '^State:.*D' "/proc/$stuck"/task/*/status
}
ok "it is killed, and a thread of it stays" wait_for 5 zombie
: >log
start
ok "then the next one records" wait_for 5 samples_over 0 || diag_file log
ok "and says whom it passed over" said "process $stuck was killed, but does not end: its lock is passed over"
exits 1 "a third one is refused" "$spoord" -c spoord.conf
kill -KILL "$pid"
wait "$pid" 2>/dev/null
start
ok "the next one after a kill is not" wait_for 10 samples_over 0 || diag_file log
thaw
ok "when it ends at last, the directory's lock is had again" wait_for 6 locked_by "$pid"
exits 1 "which keeps others out" "$spoord" -c spoord.conf
stop
is $? 0 "SIGTERM: exit 0"
nok "and leaves no lock file" test -e "$archive/.lock"
unlike "$(cat log)" 'Sanitizer|Assertion' "no complaint of the program about itself"
done_testing
