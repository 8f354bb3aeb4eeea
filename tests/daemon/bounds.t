#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# The archive is within max_use at every look, while load, captures, keeps, rotations and vacuums
# run against limits of a few MiB. It has a tmpfs for itself, whose own account of used blocks
# is looked at all the time: that of a tree of files would never be of one moment.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_record_all
need_command jq python3

seconds=${BOUNDS_SECONDS:-15}
max_use=$((2 << 20))
disk=$TMP/disk
mkdir "$disk"
mount -t tmpfs -o size=64m spoor-test "$disk" 2>/dev/null || skip_all "no tmpfs can be mounted here"
at_exit 'umount -l "$disk" 2>/dev/null'
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'
mkdir -m 750 "$disk/archive"

cat >spoord.conf <<END
archive_directory = $disk/archive
control_socket = $socket
control_group = root
frequency = 4999
max_use = $max_use
keep_free = 1
block_age = 1s
sync_interval = 1s
cpu_budget = 0
END

# Prints the most bytes that were used, and how often it looked.
watch()
{
	exec python3 -c '
import os, signal, sys
end = []
signal.signal(signal.SIGTERM, lambda *_: end.append(1))
most = looks = 0
while not end:
    s = os.statvfs(sys.argv[1])
    most = max(most, (s.f_blocks - s.f_bfree) * s.f_frsize)
    looks += 1
print(most, looks)' "$disk" >looks
}

background watch
watcher=$!
start
wait_for 20 ctl status || { diag_file log; bail "spoord does not come up"; }
background "$FIXTURES/burn" 3600000 >/dev/null 2>&1
background sh -c 'while :; do /bin/true; done'

capture()
{
	while :; do
		ctl capture --duration "$1" --frequency "$2" >/dev/null 2>&1 || sleep 0.1
	done
}
background capture 3s 2999
background capture 0.4s 999

end=$((SECONDS + seconds))
kept=0 rotated=0
while [ $SECONDS -lt $end ]; do
	# The first keeps fit; then they are refused, which is right.
	ctl keep 2s --label "k$((kept % 3))" >/dev/null 2>>refused && kept=$((kept + 1))
	ctl rotate >/dev/null 2>&1 && rotated=$((rotated + 1))
	[ $((rotated % 7)) -ne 6 ] || rm -rf "$disk"/archive/kept/*
	[ $((rotated % 11)) -ne 10 ] || ctl vacuum --max-segments 2 >/dev/null
	sleep 0.1
done
ctl status --json >status.json
kill -TERM "$watcher"
wait "$watcher"
read -r most nr_looks <looks

in_range "$most" $((max_use / 2)) "$max_use" "the bound was come near to, and never passed"
in_range "$nr_looks" 10000 1000000000 "at many looks"
in_range "$kept" 1 100000 "keeps were among it"
in_range "$rotated" 10 100000 "and rotations"
in_range "$(grep -c 'capture .* ends: ' log)" 5 100000 "and captures"
in_range "$(jq .deleted_segments status.json)" 5 1000000 "what was oldest has gone"
is "$(jq .suspended status.json)" false "it never had to stop"
diag "most $most of $max_use bytes, $nr_looks looks, $kept keeps, $rotated rotations"
stop
is $? 0 "the daemon ends in order"
: >bad
while read -r f; do
	"$SPOOR" verify "$f" >>bad 2>&1 || echo "$f: exit $?" >>bad
done < <(find "$disk/archive" -name '*.spoor')
is "$(grep -c exit bad)" 0 "what is there reads" || diag_file bad
[ "$tests_failed" -eq 0 ] || diag_file log
done_testing
