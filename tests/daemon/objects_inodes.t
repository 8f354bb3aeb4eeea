#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# objects_inodes: copies of small programs do not take the inodes of the archive: they go before a recording does. How many
# there may be is test_archive_objects'.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
[ "$(id -u)" = 0 ] || skip_all "not root: no file system of few inodes"
mkdir archive
mount -t tmpfs -o size=64m,nr_inodes=64,mode=750 inodes archive 2>/dev/null || skip_all "no tmpfs can be mounted here"
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; umount -l archive'

cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
frequency = 199
cpu_budget = 0
max_use = 48M
keep_free = 0
objects_share = 10%
block_age = 1s
END
segments()
{
	find archive -maxdepth 1 -name '*.spoor' | sort
}
copies()
{
	find archive/spoor-objects -name '*.debug' | wc -l
}

start
wait_for 20 samples_over 10 || bail "no daemon"
ok "it stops" stop
before=$(segments)
isnt "$before" "" "there is a segment"
mkdir -p archive/spoor-objects/.build-id/ab && chmod -R 750 archive/spoor-objects
for i in $(seq -w 64); do
	touch -d "2020-01-01 00:00:$((10#$i % 60))" "archive/spoor-objects/.build-id/ab/$i.debug" 2>/dev/null || break
done
is "$(stat -f -c %d archive)" 0 "copies have taken the last inode"
had=$(copies)
start
ok "it records" wait_for 20 samples_over 10
is "$(comm -23 <(echo "$before") <(segments))" "" "and no segment is gone for that"
in_range "$(copies)" 1 "$((had - 1))" "but copies are, and not all"
ok "it stops" stop

done_testing
