#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 45s
#
# Disks that are too small, fill up and empty again, and limits on the size of a file: whatever
# is left reads, `spoor record` says why it ended, and spoord goes on. DISK_STEP=4 tries every
# size in steps of 4 KiB.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq

step=${DISK_STEP:-20}
disk=$TMP/disk
mkdir "$disk"
mount -t tmpfs -o size=64k spoor-test "$disk" 2>/dev/null || skip_all "no tmpfs can be mounted here"
umount "$disk"
# After the processes: lib.sh ends those only later.
at_exit 'umount -l "$disk" 2>/dev/null'
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'

with_disk() # KIB COMMAND...: on an empty disk of that size
{
	mount -t tmpfs -o "size=${1}k" spoor-test "$disk" || bail "mount"
	shift
	"$@"
	umount -l "$disk"
}

background "$FIXTURES/burn" 3600000 1 20 >/dev/null 2>&1

# reads FILE: as far as it goes. Prints what is wrong with it.
reads()
{
	local status

	"$SPOOR" verify "$1" >verify.out 2>&1
	status=$?
	case $status in
	0) return 0 ;;
	3) [ "$("$SPOOR" info --json "$1" 2>/dev/null | jq '.damaged_blocks')" = 0 ] && return 0 ;;
	1) [ "$(stat -c %s "$1")" -lt 4096 ] && return 0 ;; # not even a header
	esac
	echo "$1: verify: exit $status, $(stat -c %s "$1") bytes"
	cat verify.out
	return 1
}

# --- spoor record -------------------------------------------------------------------------------

record() # how it ends: by itself, and with the reason
{
	local status

	"$SPOOR" record -a -F 4999 --duration 0.2s -o "$disk/x.spoor" >rec.out 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		whole=$((whole + 1))
	elif [ $status -ne 1 ] || ! grep -Eq "$reason" rec.out; then
		echo "$case: exit $status" >>bad.out
		cat rec.out >>bad.out
	fi
	# With no room for a header there is no file.
	[ $status -eq 1 ] && [ ! -e "$disk/x.spoor" ] || reads "$disk/x.spoor" >>bad.out || echo "$case" >>bad.out
	[ $status -ne 0 ] || [ "$("$SPOOR" verify "$disk/x.spoor" 2>&1 | grep -c clean)" -eq 1 ] ||
		echo "$case: exit 0, and not clean" >>bad.out
	tried=$((tried + 1))
}

: >bad.out
tried=0 whole=0 reason='No space left'
for ((kib = 4; kib <= 204; kib += step)); do
	case="a disk of $kib KiB"
	with_disk "$kib" record
done
is "$(cat bad.out)" "" "spoor record on $tried sizes of a disk ends in order"
in_range "$whole" 1 $((tried - 1)) "some of them too small and some not ($whole were not)"
: >bad.out
tried=0 whole=0 reason='File too large'
for ((kib = 1; kib <= 151; kib += step * 3 / 2)); do
	case="files to $kib KiB"
	ulimit -S -f "$kib"
	with_disk 1024 record
	ulimit -S -f unlimited
done
is "$(cat bad.out)" "" "and with $tried limits on the size of its file"
in_range "$whole" 1 $((tried - 1)) "likewise ($whole were large enough)"

# --- spoord -------------------------------------------------------------------------------------

config() # MAX_USE
{
	cat >spoord.conf <<-EOC
		archive_directory = $disk/archive
		control_socket = $socket
		control_group = root
		frequency = 999
		max_use = $1
		keep_free = 1
		segment_size = 64K
		segment_age = 1s
		block_age = 1s
		sync_interval = 1s
		cpu_budget = 0
	EOC
}

read_archive()
{
	local f

	while read -r f; do
		[ ! -s "$f" ] || reads "$f"
	done < <(find "$disk/archive" -name '*.spoor' -o -name '*.active')
}

# It records, or it says why it cannot, but it is there to be asked.
small_disk()
{
	mkdir -m 750 "$disk/archive"
	start
	wait_for 20 samples_over -1 || echo "$case: no answer" >>bad.out
	sleep 1.5
	kill -0 "$pid" 2>/dev/null || echo "$case: it is gone" >>bad.out
	stop
	ended=$?
	# Told to end while it cannot write it says so, and is not ended by a signal.
	[ $ended -le 1 ] || echo "$case: exit $ended" >>bad.out
	read_archive >>bad.out
	tried=$((tried + 1))
}

config 4M
: >bad.out
tried=0
for ((kib = 24; kib <= 244; kib += step * 2)); do
	case="a disk of $kib KiB"
	with_disk "$kib" small_disk
done
is "$(cat bad.out)" "" "spoord on $tried sizes of a disk" || diag_file log
unlike "$(cat log)" 'Sanitizer|Assertion|set aside' "has nothing to complain about but room"

# The archive gives way first, segment by segment, and that room is taken as well.
taken()
{
	cat /dev/zero >>"$disk/filler" 2>/dev/null
	suspended true
}

# Filled up by somebody else, and given back, three times.
fill_and_free()
{
	local round before

	mkdir -m 750 "$disk/archive"
	start
	wait_for 20 samples_over 0 || fail "it starts"
	for round in 1 2 3; do
		ok "$round: a full disk suspends it" wait_for 30 taken
		ok "$round: it is there" kill -0 "$pid"
		rm "$disk/filler"
		ok "$round: room ends that by itself" wait_for 30 suspended false
		before=$(status samples)
		ok "$round: and samples come" wait_for 30 samples_over "$before"
	done
	in_range "$(status lost.disk_full)" 1 1000000000000 "the time is in the ledger"
	stop
	is $? 0 "exit 0"
	is "$(read_archive)" "" "all of it reads"
}
config 4M
with_disk 1024 fill_and_free

# Files that may not grow: another one is begun, long before its time.
limited()
{
	ulimit -S -f 48
	mkdir -m 750 "$disk/archive"
	start
	ulimit -S -f unlimited
	wait_for 20 samples_over 0 || fail "it starts"
	ok "files that may not grow suspend it" wait_for 30 suspended true
	ok "the next file ends that" wait_for 30 suspended false
	ok "it is there" kill -0 "$pid"
	stop
	in_range $? 0 1 "it ends in order"
	is "$(read_archive)" "" "all of it reads"
	in_range "$(find "$disk/archive" -name '*.spoor' -size +8k | wc -l)" 2 1000 "in several files"
}
config 4M
sed -i 's/^segment_size = .*/segment_size = 512K/; s/^segment_age = .*/segment_age = 1h/' spoord.conf
with_disk 4096 limited

recorded() # by this daemon
{
	samples_over 0 && suspended false
}

# Inodes that somebody else takes: the oldest segment gives its own for the next one.
without_inodes()
{
	local n

	mkdir -m 750 "$disk/archive"
	start
	wait_for 20 samples_over 0 || fail "it starts"
	for n in 1 2 3 4 5; do
		ctl rotate
	done
	mount -o remount,nr_inodes=$(($(df --output=iused "$disk" | tail -n 1))) "$disk" || bail "remount"
	nok "no inode is free" touch "$disk/one"
	is "$(status segments)" 5 "the history has five segments"
	ok "another one is begun" ctl rotate
	is "$(status segments)" 5 "one has made way for it"
	nok "none does for a capture" ctl capture --duration 100ms
	is "$(status segments)" 5 "of whoever asks"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	start
	ok "a new start records" wait_for 10 recorded
	is "$(status segments)" 5 "where one has made way, too"
	# What other tests' programs do is no complaint of the disk.
	is "$(status 'warnings | map(select(test("side-band of user") | not))')" "[]" "without a complaint"
	stop
	is $? 0 "it ends in order"
	is "$(read_archive)" "" "all of it reads"
}
# Copies of mapped files have inodes, too, and give way.
echo 'store_objects = none' >>spoord.conf
with_disk 4096 without_inodes
done_testing
