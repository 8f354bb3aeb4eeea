#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 90s
#
# Other users of perf events on the host go on working beside a default spoord, a capture, and
# spoor record -a. ROUNDS: how often each.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command perf jq
need_record_all

rounds=${ROUNDS:-15}

# perf record of a command ends well and can be read. Linux before the mend of its mark of
# build-ids let perf 6.1 abort here, each time (recorder/ring/buildid_probe.h).
perf_records()
{
	local i bad=0

	for ((i = 0; i < rounds; i++)); do
		if ! perf record -o perf.data -- true >perf.out 2>&1 ||
			! perf script -i perf.data >perf.script 2>>perf.out; then
			bad=$((bad + 1))
			diag_file perf.out 5
		fi
	done
	is $bad 0 "$1: perf record -- true works $rounds times of $rounds"
}

others()
{
	# Once in many times it aborts by itself, on what some process of the host maps; for the mark, each time.
	ok "$1: perf record -a" perf_record -a -o perf.data -- sleep 0.3
	is "$(perf script -i perf.data 2>&1 >/dev/null | grep -ci corrupt)" 0 "$1: and can be read"
	ok "$1: perf record -g of a process" perf record -g -p $$ -o perf.data -- sleep 0.2
	ok "$1: perf stat" perf stat -a -e cpu-clock,page-faults -o /dev/null -- sleep 0.2
	ok "$1: spoor record of a command" "$SPOOR" record -o two.spoor -- "$FIXTURES/burn" 100
	in_range "$("$SPOOR" info --json -i two.spoor | jq .samples)" 50 1000 "$1: and has its samples"
}

mkdir archive && cat >spoord.conf <<END
archive_directory = $TMP/archive
control_socket = $socket
END
start
wait_for 20 samples_over 0 || bail "no daemon: $(cat log)"
perf_records spoord
others spoord
background ctl capture --duration 60s -F 499 -o capture.spoor
wait_for 10 test -s capture.spoor
perf_records "a capture"
stop

background "$SPOOR" record -a -o all.spoor
all=$!
wait_for 10 test -s all.spoor
perf_records "spoor record -a"
others "spoor record -a"
kill -INT $all
wait $all

# The probe that finds out is made of events as well.
ok "perf record of spoor record" perf record -o perf.data -- "$SPOOR" record -o two.spoor -- true
is "$(perf script -i perf.data 2>&1 >/dev/null | grep -ci corrupt)" 0 "can be read"

# What is asked for is done, where somebody knows better.
for way in kernel file; do
	exits 0 "--build-ids $way" "$SPOOR" record --build-ids $way -o two.spoor -- true
done
exits 2 "another" "$SPOOR" record --build-ids both -o two.spoor -- true
like "$(cat err)" '\-\-build-ids both: auto, kernel or file' "is refused"

done_testing
