#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# kill -9 at random moments, while it rotates, syncs and captures: what is left reads but for the
# open block, with no repair, and the next one goes on. KILLS=500 is the long run.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"

KILLS=${KILLS:-15}
[ -x "$spoord" ] || skip_all "there is no spoord"
need_command jq
"$SPOOR" record -a --duration 0.1s -o probe.spoor >/dev/null 2>&1 ||
	skip_all "this user may not sample all CPUs"

archive=$TMP/archive
mkdir -m 750 "$archive"
cat >spoord.conf <<EOC
archive_directory = $archive
control_socket = $socket
control_group = root
frequency = 999
max_use = 8M
keep_free = 1
segment_size = 64K
segment_age = 1s
block_age = 1s
cpu_budget = 0
EOC

background "$FIXTURES/burn" 3600000 1 20 >/dev/null 2>&1

# What a client does meanwhile; ends with the daemon.
disturb()
{
	while ctl rotate; do
		ctl capture --duration 200ms -F 997 >/dev/null &
		ctl sync
		wait $!
	done >/dev/null 2>&1
}

# reads FILE: torn at the end at most. Prints what is wrong with it.
reads()
{
	local status damaged

	"$SPOOR" verify "$1" >verify.out 2>&1
	status=$?
	[ $status -ne 0 ] || return 0
	"$SPOOR" info --json "$1" >info.json 2>info.err || {
		echo "$1: info: exit $?"
		cat info.err
		return 1
	}
	damaged=$(jq .damaged_blocks info.json)
	[ "$damaged" = 0 ] && [ $status -eq 3 ] && torn=$((torn + 1)) && return
	echo "$1: verify: exit $status, damaged blocks: $damaged"
	cat verify.out
	return 1
}

# Each file once as it was left, which is how the next one must seal it.
declare -A seen
look()
{
	local f key

	while read -r key f; do
		[ -z "${seen[$key]:-}" ] || continue
		seen[$key]=1
		files=$((files + 1))
		# Not even a header: nothing was in it yet.
		[ -s "$f" ] || {
			empty=$((empty + 1))
			continue
		}
		reads "$f" >reads.out || {
			bad=$((bad + 1))
			cat reads.out >>bad.out
			cp "$f" "${KEEP_BAD:-$TMP}/" 2>/dev/null
		}
	done < <(find "$archive" \( -name '*.spoor' -o -name '*.spoor.active' \) -printf '%i:%s:%T@ %p\n')
}

files=0 torn=0 empty=0 bad=0 stuck=0 aside=0
for ((round = 0; round < KILLS; round++)); do
	: >log
	start
	background_pids=("${background_pids[0]}" "$pid")
	# Most rounds have it at work; each fifth takes it at its start.
	if ((round % 5)); then
		wait_for 20 samples_over 0 || {
			stuck=$((stuck + 1))
			cat log >>stuck.out
		}
		disturb &
		disturber=$!
		sleep "0.$(printf %03d $((RANDOM % 1000)))"
	else
		disturber=
		sleep "0.0$((RANDOM % 100))"
	fi
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	[ -z "$disturber" ] || wait "$disturber"
	look
done
aside=$(find "$archive" -name '*~' | wc -l)

: >log
start
ok "it goes on after $KILLS kills" wait_for 20 samples_over 100
diag "$KILLS kills; $files files looked at, $torn torn, $empty empty, $bad bad; $aside set aside"
is "$stuck" 0 "each time it started and recorded" || diag_file stuck.out
is "$bad" 0 "every file reads" || diag_file bad.out
is "$aside" 0 "and none was set aside" || find "$archive" -name '*~' -size +0
is "$(find "$archive" -name '*.active' | wc -l)" 1 "what the dead left is sealed"
stop
is $? 0 "SIGTERM: exit 0"
look
is "$bad" 0 "all is readable at the end"
unlike "$(cat log)" 'Sanitizer|Assertion|set aside' "nothing to complain about"
done_testing
