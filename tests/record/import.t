#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 50s
#
# spoor import of what perf record wrote, with perf's own readers as the oracle: the same number of
# records of every type, the same samples in the same order.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command perf python3 jq dd

load=(dd if=/dev/zero of=/dev/null bs=1k count=200000 status=none)

is_read() # FILE
{
	perf report -i "$1" --stats >stats 2>>perf.err
}
perf_record() # FILE ARGUMENTS...
{
	perf_tries is_read "$@" || bail "perf record $* failed: $(cat perf.err)"
}

# Containers of -z are the one thing that an import does not keep.
perf_counts() # FILE
{
	perf report --stats -i "$1" 2>/dev/null |
		awk '/^Aggregated/ { all = 1; next } / stats:$/ { all = 0 } all && $2 == "events:" { print $1, $3 }' |
		grep -v -e '^TOTAL ' -e '^COMPRESSED ' | sort
}

spoor_counts() # FILE
{
	"$SPOOR" info --json "$1" | jq -r '.records | to_entries[] | "\(.key) \(.value)"' | sort
}

imports() # NAME FILE
{
	ok "$1: imports" "$SPOOR" import "$2" -o x.spoor
	is "$(spoor_counts x.spoor)" "$(perf_counts "$2")" "$1: records by type as perf report --stats has them"
	ok "$1: the recording is clean" "$SPOOR" verify -q x.spoor
	is "$("$SPOOR" info --json x.spoor | jq .bad_records)" 0 "$1: all of them parse"
}

perf_record plain.data -e cpu-clock -F 999 -- "${load[@]}"
imports "plain" plain.data
# Times, tasks and addresses of all samples, in their order.
perf script -i plain.data -F pid,tid,time,ip --ns 2>/dev/null |
	sed 's/^ *//; s,[/: ]\+, ,g; s/ $//' | awk '{ print $1, $2, $3, $4 }' >want
"$SPOOR" dump --json x.spoor |
	jq -r 'select(.type == "SAMPLE") | "\(.pid) \(.tid) \(.time) \(.fields.ip)"' >got
is "$(wc -l <got)" "$(wc -l <want)" "plain: as many samples as perf script prints"
python3 - <<'PY' >differ 2>&1
for want, got in zip(open('want'), open('got')):
    pid, tid, time, ip = want.split()
    p, t, ns, i = got.split()
    seconds, fraction = time.split('.')
    if (p, t, int(ns), int(i, 0)) != (pid, tid, int(seconds) * 10**9 + int(fraction), int(ip, 16)):
        print(want, got)
PY
is "$(cat differ)" "" "plain: each with its time, task and address"
is "$(wc -l <want | tr -d ' ')" "$("$SPOOR" import -q plain.data -o - | "$SPOOR" info --json - | jq .samples)" \
	"plain: through standard output"
# perf keeps no control groups if not told to.
is "$("$SPOOR" export -f json x.spoor 2>err | jq -c .cgroup | sort -u)" null "json: a control group that is not known is null"
is "$("$SPOOR" export -f csv x.spoor 2>err | sed 1d | cut -d , -f 9 | sort -u)" '""' "csv: ... and empty"

perf_record chains.data -e cpu-clock -F 999 -g -- "${load[@]}"
imports "call chains" chains.data
perf_record dwarf.data -e cpu-clock -F 499 --call-graph dwarf -- "${load[@]}"
imports "stacks for DWARF" dwarf.data
perf_record raw.data -a -e sched:sched_switch -- sleep 0.3
imports "tracepoints" raw.data
is "$("$SPOOR" info --json x.spoor | jq -r '.events[0].name')" sched:sched_switch "tracepoints: named"
perf_record group.data -a -e '{cpu-clock,page-faults}' -F 499 -- "${load[@]}"
imports "groups" group.data
perf_record leader.data -e '{cpu-clock,page-faults}:S' -F 499 -- "${load[@]}"
imports "groups that are read" leader.data
perf_record switch.data -a -e cpu-clock -F 499 --switch-events -- sleep 0.3
imports "context switches" switch.data
perf_record ns.data -e cpu-clock -F 499 --namespaces -- unshare -m true
imports "namespaces" ns.data
perf_record cgroup.data -a -e cpu-clock -F 499 --all-cgroups -- sleep 0.3
imports "control groups" cgroup.data
# Not by one period for all: 10000 ns of the clock are 100,000 interrupts a second.
perf_record four.data -a -e cpu-clock/period=1000000/,page-faults,context-switches,dummy -c 10000 -g -- "${load[@]}"
imports "four events" four.data
perf_record packed.data -z -a -e cpu-clock -F 4999 -g -- "${load[@]}"
isnt "$(perf report --stats -i packed.data 2>/dev/null | grep -c COMPRESSED)" 0 "packed: it is"
imports "packed" packed.data

# --- clocks and names ------------------------------------------------------------------------

perf_record mono.data -k mono -e cpu-clock -F 999 -- "${load[@]}"
imports "CLOCK_MONOTONIC" mono.data
"$SPOOR" info --json x.spoor >info.json
is "$(json info.json .clockid)" 1 "CLOCK_MONOTONIC: is told"
in_range "$(json info.json '.start_realtime_ns / 1000000000 | floor')" $(($(date +%s) - 120)) "$(date +%s)" \
	"CLOCK_MONOTONIC: with the time of day"
is "$(json info.json '[.hostname, .release, .arch, .cpus_online] | join(" ")')" \
	"$(uname -n) $(uname -r) $(uname -m) $(getconf _NPROCESSORS_ONLN)" "host, kernel, machine and CPUs"
like "$(json info.json .cmdline)" 'record -q .*-o mono.data -k mono' "command line"
like "$(json info.json .writer)" '^perf [0-9]' "who wrote it"

# What perf finds by the build-id table, we find: the share of each symbol of the C library.
perf_record shares.data -e cpu-clock:u -F 4999 -- "${load[@]}"
perf report -i shares.data --stdio -F overhead,dso,sym -t $'\001' 2>/dev/null |
	grep libc.so | tr -d ' %' | tr '\001' ' ' | sed 's/\[\.\]//' | sort >want
"$SPOOR" report --json shares.data >report.json 2>report.err
jq -r '.events[]?.rows[]? // .rows[] | select(.dso == "libc.so.6") | "\(.overhead) \(.symbol)"' report.json |
	sort >got
isnt "$(wc -l <want)" 0 "there are samples in the C library"
python3 - <<'PY' >differ 2>&1
# perf 6.1 calls stubs of the C library that have no name "@plt".
want = {line.split()[2]: float(line.split()[0]) for line in open('want') if not line.split()[2].startswith(('0x', '@plt'))}
got = {line.split()[1]: float(line.split()[0]) for line in open('got')}
for name in want:
    if abs(want[name] - got.get(name, 0)) > 0.02:
        print(name, want[name], got.get(name))
PY
is "$(cat differ)" "" "the same names, the same shares" || diag_file report.err

# --- pipes, and a perf.data where a recording is read ----------------------------------------

perf record -q --buildid-mmap -e cpu-clock -F 999 -o - -- "${load[@]}" >pipe.data 2>perf.err || bail "$(cat perf.err)"
imports "pipe mode" pipe.data
is "$("$SPOOR" info --json x.spoor | jq -r '.events[0].name')" cpu-clock "pipe mode: the event's name"
exits 0 "a pipe is read" sh -c "cat pipe.data | \"$SPOOR\" import - -qo y.spoor"
is "$(spoor_counts y.spoor)" "$(spoor_counts x.spoor)" "and gives the same"
perf record -q -z --buildid-mmap -e cpu-clock -F 999 -o - -- "${load[@]}" >pipez.data 2>perf.err || bail "$(cat perf.err)"
# perf 6.1 cannot read that ("Couldn't decompress data"), so that the program's life is the oracle.
exits 0 "packed, pipe mode" "$SPOOR" import pipez.data -o x.spoor
is "$(wc -l <err)" 1 "packed, pipe mode: with nothing to say but the summary"
is "$("$SPOOR" info --json x.spoor | jq -r '.records | "\(.COMM) \(.EXIT)"')" "2 1" \
	"packed, pipe mode: from exec to exit"
in_range "$("$SPOOR" info --json x.spoor | jq .samples)" 10 10000 "packed, pipe mode: and samples between"

for command in report info dump "export -f folded"; do
	# shellcheck disable=SC2086 # options of export
	exits 0 "$command reads a perf.data" "$SPOOR" $command chains.data
	isnt "$(cat out)" "" "$command prints it"
done
"$SPOOR" import -q chains.data -o x.spoor
"$SPOOR" dump x.spoor >want
"$SPOOR" dump -i - <chains.data >got
is "$(cmp want got 2>&1)" "" "and it is the same as of the recording"
is "$(TMPDIR=$TMP/nowhere "$SPOOR" info chains.data 2>&1 >/dev/null | grep -c nowhere)" 1 \
	"no room for a temporary file is said"

# --- what is damaged, cut, or not to be read -------------------------------------------------

# The end is in the middle of the last sample. How many are before it, a walk over the records by their sizes says.
read -r before cut < <(python3 - plain.data <<'PY'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at, size = struct.unpack_from('<QQ', data, 40)
end, samples = at + size, []
while at + 8 <= end:
    kind, _, size = struct.unpack_from('<IHH', data, at)
    if kind == 9:
        samples.append(at)
    at += size
print(len(samples) - 1, samples[-1] + 11)
PY
)
head -c "$cut" plain.data >cut.data
exits 0 "a file that was cut imports" "$SPOOR" import cut.data -o x.spoor
like "$(head -n 1 err)" 'cut.data: ends in the middle' "and that is the first thing said"
isnt "$before" 0 "there are samples before the cut"
is "$("$SPOOR" info --json x.spoor | jq .samples)" "$before" "with the samples before the cut"
exits 3 "verify reads it, and says that it is damaged" "$SPOOR" verify cut.data
exits 0 "and of one that is whole, that it is not" "$SPOOR" verify plain.data

# The attrs of the events are those that perf prints, but for the names of what perf adds.
perf record -q -e cs:u -e page-faults -c 7 -e '{cpu-clock,faults}:S' -g -o attrs.data -- true 2>perf.err || bail "$(cat perf.err)"
perf evlist -v -i attrs.data | sed -n 's/^.*: type: /type: /p' >perf.attrs
exits 0 "info -v" "$SPOOR" info -v -i attrs.data
sed -n 's/^ *attr //p' out >spoor.attrs
same "prints them as perf evlist -v does" spoor.attrs perf.attrs
is "$("$SPOOR" info -v --json -i attrs.data | jq -c '[.events[1].attr | .type, .config, .sample_period]')" '[1,"0x2",7]' "--json has them"
is "$("$SPOOR" info --json -i attrs.data | jq '[.events[] | select(.attr)] | length')" 0 "with -v"

# perf record -a, killed: the header says that there is nothing.
perf record -q -a -e cpu-clock -F 4999 -m 16 -o killed.data 2>/dev/null &
pid=$!
background_pids+=("$pid")
big_enough() { [ "$(stat -c %s killed.data)" -gt 500000 ]; } # what was there before it takes a tenth of that
wait_for 60 big_enough
kill -KILL "$pid"
wait "$pid" 2>/dev/null
exits 0 "a killed perf record's file imports" "$SPOOR" import killed.data -o x.spoor
like "$(head -n 1 err)" 'perf record was killed' "and that is said"
in_range "$("$SPOOR" info --json x.spoor | jq .samples)" 1 1000000 "its samples are there"

: >empty.data
exits 1 "an empty file" "$SPOOR" import empty.data -o none.spoor
like "$(cat err)" 'empty' "is said to be"
exits 1 "a text" "$SPOOR" import "$TOP/Makefile" -o none.spoor
like "$(cat err)" 'not a perf.data' "is said not to be one"
exits 1 "a recording" "$SPOOR" import y.spoor -o none.spoor
printf '2ELIFREP\0\0\0\0\0\0\0\150%096d' 0 >big.data
exits 1 "a big-endian perf.data" "$SPOOR" import big.data -o none.spoor
like "$(cat err)" 'big-endian' "is said to be one"
exits 1 "to a reading command" "$SPOOR" report big.data
like "$(cat err)" 'big-endian' "as well"
printf 'PERFFILE%0100d' 0 >old.data
exits 1 "version 1" "$SPOOR" import old.data -o none.spoor
like "$(cat err)" 'version 1' "is said to be"

# A directory of a file for each thread: all samples, in order of time.
by_perf() # FILE: the time of each sample
{
	perf script -i "$1" -F time 2>/dev/null | tr -d ' :'
}

by_spoor() # FILE
{
	"$SPOOR" export -f perf-script -i "$1" 2>err | grep -oE '[0-9]+[.][0-9]{6}:' | tr -d :
}

for packed in '' -z; do
	perf_tries true threads.data -a --threads $packed -F 999 -e cpu-clock -- "$FIXTURES/burn" 300 2 ||
		bail "$(cat perf.err)"
	by_perf threads.data >perf.times
	by_spoor threads.data >spoor.times
	isnt "$(compgen -G 'threads.data/data.*')" "" "perf record --threads $packed wrote a directory"
	same "its samples are perf's, in the same order" spoor.times perf.times
	exits 0 "importing it" "$SPOOR" import threads.data -o threads.spoor
	by_spoor threads.spoor >spoor.times
	same "has them all" spoor.times perf.times
	rm threads.spoor
	exits 1 "a file of it" "$SPOOR" import threads.data/data -o none.spoor
	like "$(cat err)" 'one file of a directory .*--threads .*name the directory' "is said to be one"
done
last=$(find threads.data -name 'data.*' -size +0 | sort | tail -n 1)
truncate -s -20 "$last"
exits 0 "a directory with a cut file" "$SPOOR" report -i threads.data
like "$(cat err)" "threads.data: .*${last##*/}: " "names the file"
rm "$last"
exits 0 "one without a file" "$SPOOR" report -i threads.data
rm threads.data/data.*
exits 0 "one without any" "$SPOOR" info -i threads.data
# What is odd in one is named, and not waited for.
mkdir odd
cp plain.data odd/data
mkdir odd/data.0
exits 1 "a directory with another in it" "$SPOOR" import odd -o odd.spoor
like "$(cat err)" '^spoor: odd/data[.]0: is not a regular file$' "names that"
rmdir odd/data.0
mkfifo odd/data.0
exits 1 "with a FIFO" "$SPOOR" report -i odd
like "$(cat err)" '^spoor: odd/data[.]0: is not a regular file$' "names it"
ln -sf /dev/stdin odd/data.0
exits 1 "with a link to a pipe" "$SPOOR" import odd -o odd.spoor < <(echo)
like "$(cat err)" '^spoor: odd/data[.]0: is not a regular file$' "names that"
rm odd/data.0
touch odd/data.0
chmod 644 odd/data
chmod 600 odd/data.0
exits 0 "with a file that others may not read" "$SPOOR" import odd -o odd.spoor
is "$(stat -c %a odd.spoor)" 600 "the recording is not for others either"
(cd odd && seq -f 'data.%.0f' 8192 | xargs touch)
exits 1 "with 8193 files" "$SPOOR" info -i odd
like "$(cat err)" '^spoor: odd: has more than 8192 files of records$' "says so"
mkdir empty
exits 1 "another directory" "$SPOOR" import empty -o none.spoor
like "$(cat err)" 'empty: is a directory, and not one of perf record' "is said to be"
exits 1 "a file that is not there" "$SPOOR" import nowhere -o none.spoor
is "$(compgen -G 'none.spoor*')" "" "none of them left a file"
exits 2 "no -o" "$SPOOR" import plain.data
exits 2 "nothing to import" "$SPOOR" import -o x.spoor
exits 1 "a full disk" "$SPOOR" import plain.data -o /dev/full
like "$(cat err)" '/dev/full: No space left' "is said"

done_testing
