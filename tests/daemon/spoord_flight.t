#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon's flight recorder: flight_recorder in spoord.conf, and spoorctl dump.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq
need_command perf
need_record_all
mkdir archive
chmod 755 "$TMP"

# Of a second of a CPU the archive has 19 samples, and the flight recorder 2000.
cat >spoord.conf <<-END
	archive_directory = $TMP/archive
	control_socket = $socket
	control_group = daemon
	events = cpu-clock
	flight_recorder = 30s @ 2000
	max_use = 64M
	keep_free = 0
END
: >log
start
wait_for 20 grep -q 'flight recorder: about 30s at 2000 Hz' log || bail "the flight recorder does not come up"
like "$(cat log)" "in rings of 32M on each of $(getconf _NPROCESSORS_ONLN) CPUs: $((32 * $(getconf _NPROCESSORS_ONLN)))M of memory" \
	"the log tells what it takes: 30 s of 2000 samples of 320 bytes, in powers of two"
exits 0 "status" ctl status
like "$(cat out)" "^flight rec\. 30s @ 2000 Hz, in [0-9.]+ ?[MG]i?B? of memory$" "and so does status"
is "$(ctl status --json | jq .flight_recorder_bytes)" $((32 * 1048576 * $(getconf _NPROCESSORS_ONLN))) "in bytes"

dump() # the file of a dump
{
	ctl dump --json >dump.json && echo "archive/$(jq -r .file dump.json)"
}
samples_of() # FILE COMM
{
	"$SPOOR" report --json --sort comm "$1" 2>/dev/null | jq "[.rows[] | select(.comm == \"$2\") | .samples] | add // 0"
}

cp "$FIXTURES/burn" gone
./gone 1000 >/dev/null
file=$(dump)
ok "a dump is a file of the archive" test -f "$file"
like "$file" '^archive/captures/.*\.spoor$' "among the captures"
ok "which is whole" "$SPOOR" verify "$file"
flight=$(samples_of "$file" gone)
is "$(jq .samples dump.json)" "$("$SPOOR" info --json "$file" | jq .samples)" "the reply says how many samples it has"
base=$(ctl sync; "$SPOOR" report --json --sort comm archive 2>/dev/null | jq '[.rows[] | select(.comm == "gone") | .samples] | add // 0')
ok "it has more of a short process than the archive: $flight, $base" test "$flight" -gt "$((base * 2))"
is "$("$SPOOR" report --json --sort comm,sym --comm gone "$file" 2>/dev/null | jq -r '.rows[0].symbol')" burn_hot \
	"with its names, although it is gone"
like "$(TZ=UTC "$SPOOR" info "$file" | grep ^recorded)" "$(TZ=UTC date -d "@$(("$("$SPOOR" info --json "$file" |
	jq '.start_realtime_ns - .start_monotonic_ns + .start_ns')" / 1000000000))" '+%F %T')" "which was recorded when its first sample was taken"
"$SPOOR" export -f perf-data-file -o gone.data "$file" 2>err
is "$(perf buildid-list -i gone.data 2>/dev/null | awk '/\/gone$/ { print $1 }')" "$(readelf -n gone | sed -n 's/.*Build ID: //p')" \
	"and its build-id: of maps that are as young as the samples, too"
again=$(dump)
is "$(samples_of "$again" gone)" "$flight" "another dump has the same: the rings keep it"
is "$(ctl list --json | jq '[.files[] | select(.kind == "capture")] | length')" 2 "spoorctl list shows both"
is "$(ctl status --json | jq .captures)" 0 "neither is a capture that runs"
exits 2 "dump takes no argument" ctl dump everything
ok "members of the group may" setpriv --reuid=1 --regid=1 --clear-groups "$BUILD/spoorctl" --socket "$socket" dump
nok "others may not" setpriv --reuid=65534 --regid=65534 --clear-groups "$BUILD/spoorctl" --socket "$socket" dump

# An archive without room costs a dump, and not the recorder.
exits 0 "an end in order" stop
sed -i 's/^max_use.*/max_use = 1M/; s/^flight_rec.*/flight_recorder = 30s @ 4000/; s/^events.*/&\ncaptures_share = 1%/' spoord.conf
: >log
start
wait_for 20 grep -q 'flight recorder: about 30s at' log || bail "the flight recorder does not come up again"
./gone 500 >/dev/null
nok "a dump that the archive has no room for" ctl dump
like "$(cat .ok)" 'archive|space|full|room' "it is told why"
sed -i 's/^max_use.*/max_use = 64M/; s/^captures_share.*/captures_share = 50%/' spoord.conf
exits 0 "with more room" ctl reload
file=$(dump)
ok "the recorder has gone on" "$SPOOR" verify "$file"
is "$("$SPOOR" report --json --sort comm,sym --comm gone "$file" 2>/dev/null | jq -r '.rows | length > 0')" true "and has what was before"
exits 0 "an end in order, again" stop

# One whose rings are more than the kernel makes costs the flight recorder, and not the daemon.
sed -i 's/^flight_rec.*/flight_recorder = 1h @ 100000/' spoord.conf
: >log
start
wait_for 20 grep -q 'flight recorder has ended' log
like "$(cat log)" 'the flight recorder has ended before it began: cannot map a ring of 1048576 pages: .*; there is none until' \
	"one that cannot begin is told, and why"
wait_for 20 samples_over 0
is "$(ctl status --json | jq .flight_recorder_bytes)" 0 "which has no memory"
exits 1 "nor a dump" ctl dump
like "$(cat err)" 'the flight recorder does not record' "as is told"
stop

sed -i '/^flight_recorder/d; /^captures_share/d' spoord.conf
: >log
start
wait_for 20 test -S socket
wait_for 20 ctl status >/dev/null
exits 1 "dump of a daemon without one" ctl dump
like "$(cat err)" 'there is no flight recorder: flight_recorder in spoord.conf' "it is told what would help"
unlike "$(ctl status)" 'flight' "and status has no line of it"
for bad in 10s 10s@0 @999 '2h @ 999' '10s @ 100001' '10x @ 999' '10s @ 999 Hz'; do
	echo "flight_recorder = $bad" >bad.conf
	exits 1 "flight_recorder = $bad" "$BUILD/spoord" -n -c bad.conf
	like "$(cat err)" 'must be none, or TIME @ HZ' "it is told"
done
stop

# Linux gives two events that sample the same software event one set of data: the second one's samples have the ID of
# the first. So the flight recorder leaves software events to the archive. And so this is minor-faults: tests that run
# beside this one sample page-faults.
sed -i 's/^events.*/events = cpu-clock, minor-faults\/period=10\/, off-cpu/' spoord.conf
echo 'flight_recorder = 5s @ 99' >>spoord.conf
: >log
start
wait_for 20 grep -q 'flight recorder: about 5s at' log || bail "the flight recorder does not come up with software events"
like "$(cat log)" 'minor-faults/period=10/ is left out' "what the flight recorder leaves out is told"
cp "$FIXTURES/faults" many
./many 3000
file=$(dump)
is "$("$SPOOR" info --json "$file" | jq -c '[.events[].name]')" '["cpu-clock","dummy:u"]' "it has the clock alone"
exits 0 "sync" ctl sync
in_range "$("$SPOOR" dump archive --comm many 2>/dev/null | grep -c ' SAMPLE .*event="minor-faults')" 290 330 "the archive has each tenth fault"
is "$(cat archive/*.spoor* >/dev/null; for f in archive/*.spoor archive/*.active; do [ ! -e "$f" ] || "$SPOOR" info --json "$f"; done |
	jq -s 'map(.bad_records) | add')" 0 "and nothing that cannot be told"
exits 0 "an end in order, with software events" stop

done_testing
