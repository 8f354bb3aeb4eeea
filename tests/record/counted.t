#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an event counted in a file is the file's: of those of --switch-output each has its own, and together they have
# what one file would have: the kernel's own count at the end. What the program did that made each file is known; and an
# event without a frequency samples each page fault.
. "$(dirname "$0")/../lib.sh"
need_command jq
need_record_all

count_of() # EVENT FILE...: of each
{
	local event=$1 file
	shift
	for file; do
		"$SPOOR" info --json "$file" 2>/dev/null
	done | jq --arg e "$event" '.events[] | select(.name == $e) | .count' | xargs
}
last_of() # EVENT FILE...: as the kernel last told them, of each id
{
	local event=$1 file
	shift
	for file; do
		"$SPOOR" dump --json "$file" 2>/dev/null
	done | jq -s --arg e "$event" '[.[] | select(.type == "READ" and .event == $e) | .fields.read.values[]] |
		group_by(.id) | map(map(.value) | max) | add'
}
sum_of() # NUMBER...
{
	tr ' ' '\n' <<<"$*" | awk '{ n += $1 } END { print n }'
}

# --- files of a program's doing ---------------------------------------------------------------------------

# A file has its name before the one before it has ended: what tells of that is the message. Without a process of its
# own a wait has few page faults, however long it is.
mkfifo nothing
cat >begin.sh <<'SH'
exec 3<>nothing
next_file() # NR: of those that have ended
{
	kill -USR2 "$PPID"
	while mapfile -t lines <err && [ "${#lines[@]}" -lt "$1" ]; do read -rt 0.05 -u 3; done
}
SH
# shellcheck disable=SC2016 # the child's own
cat >work.sh <<'SH'
. ./begin.sh
for i in 1 2 3; do
	"$FIXTURES/faults" $((i * 3000))
	"$FIXTURES/counted" switches $((i * 200)) >>switches
	next_file $i
done
"$FIXTURES/faults" 12000
"$FIXTURES/counted" switches 800 >>switches
SH
export FIXTURES
record() # OPTION...
{
	timeout 120 "$SPOOR" record -e page-faults:u -c 1 "$@" >out 2>err
}
record -e context-switches -m 8M --switch-output -o r.spoor -- bash work.sh
is "$?" 0 "recorded"
files=(r.spoor.*)
is "${#files[@]}" 4 "three signals make four files"
for file in "${files[@]}"; do
	"$SPOOR" info --json "$file"
done >info.json
is "$(json info.json '.loss.kernel_samples // 0' | xargs)" "0 0 0 0" "nothing was lost"
for event in page-faults:u context-switches; do
	read -ra counts <<<"$(count_of "$event" "${files[@]}")"
	if [ "$event" = page-faults:u ]; then
		each=3000 more=2500
	else # others take the CPU away, however often
		each=200 more=1000000000
	fi
	for i in 0 1 2 3; do
		in_range "${counts[i]}" $((each * (i + 1))) $((each * (i + 1) + more)) "$event: file $i has what was done for it"
	done
	is "$(sum_of "${counts[@]}")" "$(last_of "$event" "${files[@]}")" "$event: together they have what the kernel counted"
done
# What is sampled while one file ends and the next one begins may be counted in the other one.
is "$(sum_of "$(count_of page-faults:u "${files[@]}")")" \
	"$(jq -s 'map(.events[] | select(.name == "page-faults:u") | .samples) | add' info.json)" "and what was sampled"
in_range "$(sum_of "$(count_of context-switches "${files[@]}")")" "$(awk '{ n += $1 } END { print n }' switches)" 1e9 \
	"all that the kernel told the program of itself, and those of the shell"
is "$(jq -s '[.[].events[] | select(.count and .enabled_ns > .running_ns * 1.01)] | length' info.json)" 0 "nothing shared its counter"

# --- a perf.data has no other file beside it ---------------------------------------------------------------

exits 0 "the third one as a perf.data" "$SPOOR" export -f perf-data-file -o x.data "${files[2]}"
ok "comes back" "$SPOOR" import x.data -o i.spoor
for event in page-faults:u context-switches; do
	is "$(count_of $event i.spoor)" "$(count_of $event "${files[2]}")" "$event: with what it counted"
done

# --- the recorder is killed ---------------------------------------------------------------------------------

rm -f r.spoor*
background "$SPOOR" record -q -a -e page-faults -c 1000 --switch-output --block-age 50ms -o r.spoor
wait_for 20 test -s r.spoor || bail "nothing is recorded"
"$FIXTURES/faults" 20000
kill -USR2 "${background_pids[-1]}"
has_read() { "$SPOOR" dump "$1" 2>/dev/null | grep -q ' READ .*before'; }
wait_for 20 has_read r.spoor || bail "the second file does not begin with what was counted"
kill -KILL "${background_pids[-1]}"
wait "${background_pids[-1]}" 2>/dev/null
files=(r.spoor.*)
in_range "$(count_of page-faults "${files[0]}")" 20000 1e9 "the file that ended tells what was counted"
is "$(count_of page-faults r.spoor)" null "the one that was cut off does not tell what was counted before it"

# --- dumps of a flight recorder -----------------------------------------------------------------------------

# shellcheck disable=SC2016 # the child's own
cat >dump.sh <<'SH'
. ./begin.sh
for i in 1 2; do
	"$FIXTURES/faults" $((i * 3000))
	next_file $i
done
"$FIXTURES/faults" 9000
SH
record -m 64K --overwrite --switch-output -o d.spoor -- bash dump.sh
is "$?" 0 "a flight recorder"
files=(d.spoor.*)
is "${#files[@]}" 3 "two signals and the end: a dump each"
read -ra counts <<<"$(count_of page-faults:u "${files[@]}")"
for i in 0 1 2; do
	in_range "${counts[i]}" $((3000 * (i + 1))) $((3000 * (i + 1) + 2500)) "dump $i has what was counted since the one before"
done

done_testing
