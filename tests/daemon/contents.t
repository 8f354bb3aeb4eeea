#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Members read the archive: of a file whose samples have contents of processes the mode says that they may not, whatever
# asked for these (an option, a term of one event, a field of the kernel); of any other file they may.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq setpriv
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "not root"
mkdir archive
chmod 755 "$TMP"
chgrp daemon archive
chmod 2750 archive
member=(setpriv --reuid 65000 --regid 65000 --groups "$(getent group daemon | cut -d: -f3)")

configure() # LINE...
{
	printf '%s\n' "archive_directory = $TMP/archive" "control_socket = $socket" "control_group = daemon" \
		"frequency = 99" "max_use = 64M" "keep_free = 0" "$@" >spoord.conf
	: >log
	start
	wait_for 20 grep -q 'flight recorder: about' log
}

capture() # NAME MODE OPTION...: root's, into the archive
{
	local name=$1 mode=$2 file
	shift 2
	rm -f archive/captures/*
	ctl capture --duration 200ms "$@" >out 2>err || diag_file err
	file=$(find archive/captures -type f)
	is "$(stat -c %a "$file")" "$mode" "$name: its mode"
	"${member[@]}" "$SPOOR" info "$file" >out 2>err
	is $? $((mode == 640 ? 0 : 1)) "$name: what a member may"
}

# The daemon finds kernel.perf_event_paranoid = -1, and would give members the fields of tracepoints.
echo -1 >paranoid
cat >there <<-END
	#!/bin/sh
	exec unshare --mount sh -c 'mount --bind "\$0" /proc/sys/kernel/perf_event_paranoid && exec "\$@"' \
		"$TMP/paranoid" "$spoord" "\$@"
END
chmod +x there
here=$spoord
spoord=$TMP/there
configure "events = cpu-clock" "flight_recorder = 5s @ 99"
capture "where it was" 640 -e cpu-clock
capture "with callers" 640 --call-graph fp
capture "root_capture_stacks: stacks" 600 --call-graph dwarf
capture "root_capture_stacks: stacks of one event" 600 -e cpu-clock/call-graph=dwarf/
capture "root_capture_stacks: stacks of one of two" 600 -e page-faults -e cpu-clock/call-graph=dwarf/
capture "root_capture_fields: fields of a tracepoint" 600 -e sched:sched_switch
capture "waits, with who woke whom" 640 -e off-cpu
capture "stacks of one, and waits" 600 -e off-cpu -e cpu-clock/call-graph=dwarf/
segment=$(find archive -maxdepth 1 -name '*.active')
is "$(stat -c %a "$segment")" 640 "a segment of clocks is the group's"
is "$(stat -c %a "archive/$(ctl dump --json | jq -r .file)")" 640 "and a dump"
ctl rotate >out 2>err || diag_file err
is "$(find archive -maxdepth 1 -type f -name '2*' -printf '%m\n' | sort -u)" 640 "and all segments"

# A member's capture in the archive has no contents, whatever the kernel would give.
before=$(find archive/captures -type f | wc -l)
exits 1 "root_capture_fields: a member's, in the archive" "${member[@]}" "$BUILD/spoorctl" --socket "$socket" capture \
	--duration 100ms -e sched:sched_switch
like "$(cat err)" 'into a file of yours' "are refused with the way out"
is "$(find archive/captures -type f | wc -l)" "$before" "and leave no file"
mkdir theirs
chown 65000 theirs
exits 0 "which is that" "${member[@]}" "$BUILD/spoorctl" --socket "$socket" capture --duration 100ms -e sched:sched_switch \
	-o theirs/x.spoor
exits 0 "an end in order" stop

# What the configuration asks for.
spoord=$here
for lines in "events = cpu-clock
call_graph = dwarf" "events = sched:sched_switch/period=1000/" "events = cpu-clock, cpu-clock/call-graph=dwarf,period=5000000/"; do
	rm -rf archive/2* archive/captures/*
	configure "$lines" "flight_recorder = 5s @ 99"
	wait_for 20 samples_over 0
	like "$(cat log)" 'contents of processes.*root alone' "$(tr '\n' ' ' <<<"$lines"): the log says who reads it"
	ctl rotate >out 2>err || diag_file err
	is "$(find archive -maxdepth 1 -type f -name '2*' -printf '%m\n' | sort -u)" 600 "both segments are root's"
	is "$(stat -c %a "archive/$(ctl dump --json | jq -r .file)")" 600 "and a dump"
	"${member[@]}" "$SPOOR" report archive >out 2>err
	isnt $? 0 "a member reads none of it"
	exits 0 "an end in order" stop
done

done_testing
