#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# spoor verify, info and dump on recordings that are whole, damaged, cut or not recordings.
. "$(dirname "$0")/../lib.sh"
need_command jq

SEEDS=$TOP/tests/fuzz/seeds/fuzz_recording
whole=$SEEDS/closed.spoor
cp "$whole" recording.spoor
size=$(stat -c %s "$whole")

exits 0 "a whole file is clean" "$SPOOR" verify "$whole"
like "$(cat out)" 'clean' "and it says so"
is "$(cat err)" "" "with nothing on stderr"
exits 0 "recording.spoor is the default" "$SPOOR" verify
exits 0 "standard input" sh -c "\"$SPOOR\" verify - <\"$whole\""
exits 0 "a pipe" sh -c "cat \"$whole\" | \"$SPOOR\" verify -i -"
for f in cut header-damaged payload-damaged; do
	exits 3 "$f: damaged but readable" "$SPOOR" verify "$SEEDS/$f.spoor"
	isnt "$(cat err)" "" "$f: stderr tells what"
done
exits 3 "--json has the same status" "$SPOOR" verify --json "$SEEDS/payload-damaged.spoor"
is "$(json out '[.verdict, .damaged_blocks, .closed] | join(" ")')" "damaged 1 true" "and the counts"

# A file's name is bytes, and JSON is text.
mkdir latin
cp "$whole" "$(printf 'latin/caf\351.spoor')"
exits 0 "verify --json of a file whose name is not UTF-8" "$SPOOR" verify --json latin
is "$(json out .verdict)" clean "has its verdict"
like "$(json out .file)" '^latin/caf.+\.spoor$' "and a name"
exits 0 "info --json of it" "$SPOOR" info --json latin
like "$(json out '.recordings[].file')" '^latin/caf.+\.spoor$' "has the name as well"

for command in info dump verify report "export -f folded"; do
	# shellcheck disable=SC2086 # options of export
	exits 2 "$command: two files" "$SPOOR" $command "$whole" second third
	like "$(cat err)" "'second' is one file too many" "$command: names the first that is too many"
done
exits 2 "a name with a control sequence" "$SPOOR" report "$whole" $'\033[31mred'
is "$(cat err)" "spoor report: '\\033[31mred' is one file too many (spoor report --help says how)" "does not get to the terminal"

: >empty
exits 1 "an empty file" "$SPOOR" verify empty
like "$(cat err)" 'empty file' "is called empty"
exits 1 "a text" "$SPOOR" verify "$TOP/Makefile"
like "$(cat err)" 'not a spoor recording' "is called not a recording"
head -c 40 "$whole" >stub
exits 1 "a file cut inside its header" "$SPOOR" verify stub
mkdir nothing
exits 1 "a directory without recordings" "$SPOOR" verify nothing
like "$(cat err)" "nothing: no recordings in this directory" "is called that"
exits 1 "a file that is not there" "$SPOOR" info nowhere
like "$(cat err)" 'nowhere: No such file' "is named"
mkdir bare
exits 1 "no recording.spoor" sh -c "cd bare && \"$SPOOR\" info"
like "$(cat err)" 'there is no recording.spoor' "says what it looked for"
printf 'PERFILE2xxxxxxxxxxxxxxxxxxxx' >perf.data
exits 1 "a perf.data file" "$SPOOR" info perf.data
like "$(cat err)" 'perf record' "is known for what it is"
exits 2 "two files" "$SPOOR" verify a b
exits 2 "an unknown option" "$SPOOR" verify --nonsense

# Every cut and a flip at every 7th byte: never 0, never a signal.
bad=0
for ((n = 1; n < size; n += 97)); do
	head -c "$n" "$whole" >piece
	"$SPOOR" verify piece >/dev/null 2>&1
	status=$?
	[ $status -eq 3 ] || { [ $status -eq 1 ] && [ "$n" -lt 720 ]; } || bad=$((bad + 1))
done
is "$bad" 0 "cut anywhere: 1 without a whole header, else 3"

exits 0 "info --json" "$SPOOR" info --json "$whole"
is "$(json out '[.samples, .lost, .records.SAMPLE, .records.COMM, .damaged_blocks] | join(" ")')" \
	"20 5 20 4 0" "counts"
is "$(json out '.end_ns - .start_ns')" 310 "times"
is "$(json out .file_bytes)" "$size" "file_bytes"
is "$(json out '[.events[].name] | join(" ")')" "cpu-clock dummy" "events"
exits 0 "info of a damaged file" "$SPOOR" info --json "$SEEDS/payload-damaged.spoor"
is "$(json out .damaged_blocks)" 1 "tells the damage"
exits 0 "info for a person" "$SPOOR" info "$whole"
like "$(head -n 1 out)" '^lost +5 samples' "loss comes first"

exits 0 "dump" "$SPOOR" dump "$whole"
is "$(grep -c ' SAMPLE ' out)" 20 "has every sample"
is "$(cut -d' ' -f1 out | sort -c 2>&1)" "" "in time order"
exits 0 "dump --json" "$SPOOR" dump --json "$whole"
is "$(jq -s '[.[] | select(.type == "SAMPLE")] | length' out)" 20 "has every sample"
exits 0 "dump --cpu" "$SPOOR" dump --cpu 1 "$whole"
is "$(grep ' SAMPLE ' out | cut -d' ' -f2 | sort -u)" 1 "only samples of that CPU"
exits 0 "dump of a header-damaged file" "$SPOOR" dump "$SEEDS/header-damaged.spoor"
is "$(grep -c ' SAMPLE ' out)" 20 "loses nothing"

for command in info dump "dump --json" "info --json" "verify"; do
	exits 1 "$command to a full disk" sh -c "\"$SPOOR\" $command \"$whole\" >/dev/full"
	like "$(cat err)" 'No space left' "is told"
done
done_testing
