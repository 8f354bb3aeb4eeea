#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The options that choose samples. The same question asked three ways gives the same numbers: filters
# of a report, filters of an export that is reported of, perf's filters on an export of everything.
# --focus, --ignore, --hide, --show and --show-from leave what go tool pprof leaves.
. "$(dirname "$0")/../lib.sh"
need_command jq perf g++ python3
need_record_all

root=$(cgroup_root)
top=spoor-test.$$
if [ -z "$root" ] || ! mkdir "$root/$top" 2>/dev/null; then
	skip_all "no control group can be made here"
fi
at_exit "find '$root/$top' -depth -type d -exec rmdir {} + 2>/dev/null"
for unit in shop.service db@1.service; do
	mkdir "$root/$top/$unit"
done

cat >inlined.cc <<'CC'
#ifndef N
#define N 9000
#endif
volatile unsigned sink;
static inline __attribute__((always_inline)) void innermost(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 69069u + i; }
static inline __attribute__((always_inline)) void between(unsigned n) { innermost(n); sink++; innermost(n / 2); }
__attribute__((noinline)) void leaf_one(unsigned n) { between(n); sink++; }
__attribute__((noinline)) void leaf_two(unsigned n) { innermost(n); sink += 2; }
__attribute__((noinline)) void recurse(unsigned depth) { if (depth) recurse(depth - 1); else leaf_one(3000); leaf_two(500); sink++; }
int main() { for (int i = 0; i < N; i++) { recurse(3); leaf_two(1000); } return 0; }
CC
g++ -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o worker inlined.cc || bail "no compiler"
# Another build: what has one build-id is one object.
g++ -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -DN=8000 -o helper inlined.cc
cat >load.sh <<'SH'
in_group() # GROUP COMMAND...
{
	local group=$1
	shift
	(echo "$BASHPID" >"$group/cgroup.procs" && exec "$@")
}
in_group "$root/$top/shop.service" ./worker &
in_group "$root/$top/shop.service" ./helper &
in_group "$root/$top/db@1.service" ./worker &
python3 -c 'sum(i * i for i in range(2000000))' &
wait
SH
export root top
exits 0 "a recording" "$SPOOR" record -a -g -m 8M -e cpu-clock -F 999 -o all.spoor -- bash load.sh
"$SPOOR" export -f perf-data-file -o all.data all.spoor || bail "no perf.data"

# --- three ways

dumped() # FILE [OPTION...]: samples, each with its thread, CPU and time
{
	"$SPOOR" dump --json "$@" 2>>err | jq -r 'select(.type == "SAMPLE") | "\(.tid) \(.cpu) \(.time)"' | LC_ALL=C sort
}
by_perf() # FILE [OPTION...]: as perf has them
{
	local file=$1
	shift
	perf script -i "$file" --ns -G -F tid,cpu,time "$@" 2>>perf.err |
		sed 's/^ *\(-*[0-9]*\) *\[0*\([0-9][0-9]*\)\] *\([0-9]*\)\.\([0-9]*\):.*/\1 \2 \3\4/' | LC_ALL=C sort
}
ask() # NAME OPTION VALUE [PERF'S OPTION]
{
	dumped all.spoor "$2" "$3" >one
	"$SPOOR" export -f perf-data-file "$2" "$3" -o part.data all.spoor 2>>err
	dumped part.data >two
	by_perf all.data "${4:-$2}" "$3" >three
	by_perf part.data >four
	same "$1: an export, read again, has the samples of a dump" one two
	same "$1: perf of everything, with its own filter" one three
	same "$1: perf of the export" one four
	is "$("$SPOOR" report --json "$2" "$3" all.spoor 2>>err | jq .samples)" "$(wc -l <one)" "$1: a report"
}
pid=$("$SPOOR" report --json -s comm,pid all.spoor | jq '[.rows[] | select(.comm == "worker")][0].pid')
ask "a command" --comm worker --comms
ask "commands" --comm worker,helper --comms
ask "a process" --pid "$pid"
ask "a CPU" --cpu 0
ask "percents" --time 10%-30%
ask "the second fifth" --time 20%/2
ask "two slices" --time 0%-10%,50%-60%
ask "tenths" --time 10%/2,10%/9

# An end belongs to its range: a sample's own time is one.
mapfile -t times < <(perf script -i all.data -F time --ns 2>/dev/null | tr -d ' :' | sort -n)
n=${#times[@]}
at=${times[$((n / 3))]}
till=${times[$((n / 2))]}
ask "seconds" --time "$at,$till"
ask "from then on" --time "$till,"
ask "until then" --time ",$at"
ask "two ranges" --time "${times[9]},$at ${times[$((n / 3 + 9))]},$till"

# perf has no filter of control groups: its rows of one are.
groups() { "$SPOOR" report --json -s cgroup "$@" all.spoor | jq -r '.rows[] | "\(.samples)\t\(.cgroup)"' | LC_ALL=C sort; }
perf_groups()
{
	perf report -i "$1" --no-children -g none --percent-limit 0 --stdio -q -F sample,cgroup -t $'\001' 2>>perf.err |
		sed 's/^ *//; s/ *\x01 */\t/; s/ *$//' | grep . | LC_ALL=C sort
}
perf_groups all.data >theirs
for unit in shop shop.service 'shop*' "$top/shop.service" 'sho?.service'; do
	groups --unit "$unit" >ours
	same "--unit $unit" ours <(grep "/$top/shop.service" theirs)
done
for unit in db@1 db@ 'db@*' db@1.service; do
	groups --unit "$unit" >ours
	same "--unit $unit" ours <(grep "/$top/db@1.service" theirs)
done
"$SPOOR" export -f perf-data-file --unit shop -o shop.data all.spoor
perf_groups shop.data >got
grep "/$top/shop.service" theirs >wanted
same "an export of a unit" got wanted
groups --unit shop,db@1 >ours
same "two units" ours <(grep -E "/$top/(shop|db)" theirs)
groups --unit shop --cgroup "$top" >got
same "a unit and a group are both asked for" got wanted
is "$(groups --unit shop --cgroup "$top/db@1.service")" "" "even when nothing has both"

# --- in the kernel, or not

all=$("$SPOOR" report --json all.spoor | jq .samples)
kernel=$("$SPOOR" report --json --kernel all.spoor | jq .samples)
is "$(("$kernel" + $("$SPOOR" report --json --user all.spoor | jq .samples)))" "$all" "--kernel and --user part the samples"
is "$("$SPOOR" dump --json --kernel all.spoor | jq -s 'map(select(.type == "SAMPLE")) | length')" "$kernel" "dump"
is "$("$SPOOR" export -f perf-data --kernel all.spoor | "$SPOOR" report --json -i - 2>/dev/null | jq .samples)" "$kernel" "perf.data"
is "$("$SPOOR" report --json --kernel --user all.spoor | jq .samples)" "$all" "both are everything"

# --- --last

is "$("$SPOOR" report --json --last 1h all.spoor | jq .samples)" "$all" "--last of more than there is"
end=$(echo "${times[-1]} - 0.2" | bc)
is "$("$SPOOR" report --json --last 200ms all.spoor | jq .samples)" \
	"$(printf '%s\n' "${times[@]}" | awk -v e="$end" '$1 > e { n++ } END { print n }')" "--last ends with the last sample"
exits 2 "no span" "$SPOOR" report --last yesterday all.spoor

# --- stacks

is "$("$SPOOR" export -f folded --no-inline --max-stack 2 --comm worker all.spoor |
	awk '{ sub(/ [0-9]+$/, ""); n = split($0, f, ";"); if (n > m) m = n } END { print m }')" 3 "--max-stack: the command, and two"
frames() { "$SPOOR" export -f folded --no-inline --comm worker "$@" all.spoor |
	awk '{ w = $NF; sub(/ [0-9]+$/, ""); n += w * (split($0, f, ";") - 1) } END { print n }'; }
for depth in 1 3 5; do
	is "$(frames --max-stack $depth)" \
		"$(perf script -i all.data --no-inline --max-stack $depth --comm worker -F ip 2>/dev/null | grep -c .)" \
		"--max-stack $depth: as many frames as perf has"
done
is "$(frames)" "$(perf script -i all.data --no-inline --comm worker -F ip 2>/dev/null | grep -c .)" "and all of them"

# --- what is not there

# Of what the options are about: what was lost of others is told with each of them.
told() { { "$SPOOR" report --json "$@" "${of-all.spoor}" >/dev/null; } 2>&1 | grep -v ': loss: '; }
# The list of what there is has the most frequent ones alone: on a busy machine those are others'.
"$SPOOR" export -f perf-data-file --cgroup "$top" -o ours.data all.spoor && "$SPOOR" import -q -o ours.spoor ours.data
like "$(of=ours.spoor told --comm wroker)" '--comm wroker: no sample; did you mean worker.*There are also .*helper' "a name like it"
like "$(told --comm helper,nobody-at-all)" '^spoor: all.spoor: --comm nobody-at-all: no sample; there are ' "one of two"
unlike "$(told --comm helper,nobody-at-all)" 'helper:' "and not the other"
is "$(told --comm helper --unit shop --cpu 0-1 --dso helper)" "" "nothing is said of what is there"
like "$(told --unit shpo)" '--unit shpo.service: no sample; did you mean [^,?]*shop.service\?' "a unit"
like "$(told --cgroup shop.servic)" "--cgroup shop.servic: no sample; did you mean /$top/shop.service" "a control group"
like "$(told --dso hepler)" '--dso hepler: no sample; did you mean helper' "an object"
like "$(told -S leaf_too --comm worker)" '--symbol leaf_too: no sample; did you mean leaf_two' "a function"
like "$(of=ours.spoor told --pid "$pid,4294967295")" '--pid 4294967295: no sample; there are .*[0-9]+ \(worker\)' "a process"
like "$(told --cpu 0,4000-4001)" '--cpu 4000-4001: no sample; there are 0' "a CPU"
like "$(told --event cylces)" '--event cylces: no sample; there are cpu-clock' "an event"
like "$(told --focus recuse)" '--focus recuse: no function, file or object of a stack; did you mean recurse' "a regular expression"
like "$(told --comm helper --symbol main --unit db@1)" 'no sample is left: the filters leave out all' "what excludes each other"
unlike "$(told --comm helper --unit db@1)" 'did you mean' "is there, each"
like "$(told --dso helper --unit db@1)" '--dso helper: no sample that the other options leave' "or only elsewhere"
like "$("$SPOOR" dump --comm wroker all.spoor 2>&1 >/dev/null)" 'did you mean worker' "dump"
like "$("$SPOOR" export -f perf-data --comm wroker all.spoor 2>&1 >/dev/null)" 'did you mean worker' "an export of records"
like "$("$SPOOR" export -f folded --comm wroker all.spoor 2>&1 >/dev/null)" 'did you mean worker' "and of stacks"
like "$("$SPOOR" report --comm wroker - <all.spoor 2>&1 >/dev/null)" '--comm wroker: no sample$' "what cannot be read again"
# A recording of one CPU, whose other CPU can be asked for.
if [ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ]; then
	"$SPOOR" export -f perf-data-file --cpu 0 -o cpu0.data all.spoor && "$SPOOR" import -o cpu0.spoor cpu0.data 2>>err
	for command in report timeline heatmap tree "flamegraph -o cpu1.svg" "diff cpu0.spoor" "top --once --window 10m -i"; do
		# shellcheck disable=SC2086 # words of a command
		like "$("$SPOOR" $command cpu0.spoor --cpu 1 2>&1 >/dev/null)" '--cpu 1: no sample; there are 0' "${command%% *} tells of a CPU without samples"
	done
else
	skip "one CPU" 7
fi
like "$("$SPOOR" report --since '2020-01-01' --until '2020-01-02' all.spoor 2>&1)" 'the recording has [0-9]+, of 20' "a time without samples"
cp all.spoor cut.spoor
truncate -s -5000 cut.spoor
is "$("$SPOOR" report --json --comm wroker cut.spoor 2>&1 >/dev/null | grep -c 'damaged\|not closed')" 1 "damage is told once"

if ! command -v go >/dev/null; then
	skip "no go tool pprof" 23
	done_testing
	exit
fi
export PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none
top_of() # FILE [OPTION...]: functions, with their samples, itself and in all
{
	local file=$1
	shift
	go tool pprof -symbolize=none -top -nodecount=0 -nodefraction=0 -edgefraction=0 -sample_index=samples "$@" "$file" 2>>pprof.err |
		sed '1,/^ *flat /d; s/ (inline)$//' | awk '{ flat[$6] += $1; cum[$6] += $4 }
			END { for (f in flat) print f, flat[f], cum[f] }' | LC_ALL=C sort
}
"$SPOOR" export -f pprof -o all.pb.gz --comm worker,helper,python3 all.spoor
top_of all.pb.gz >top
grep -q '^innermost' top || bail "no inlined function in $(cat top)"

alike() # NAME OPTION VALUE [OPTION VALUE...]: long options that both have
{
	local name=$1
	local -a ours=() theirs=()
	shift
	while [ $# -gt 0 ]; do
		ours+=("--$1" "$2")
		theirs+=("-${1//-/_}=$2")
		shift 2
	done
	rm -f part.pb.gz
	"$SPOOR" export -f pprof -o part.pb.gz --comm worker,helper,python3 "${ours[@]}" all.spoor 2>>err
	top_of part.pb.gz >got
	top_of all.pb.gz "${theirs[@]}" >wanted
	same "$name" got wanted
}
alike "--focus" focus leaf_one
alike "--focus of an inlined function" focus innermost
alike "--focus of part of a name, by two ways" focus '^leaf_(one|two)$'
alike "--focus of an object" focus '/helper$'
alike "--focus of a source file" focus 'inlined\.cc'
alike "--ignore" ignore leaf_one
alike "--ignore of an inlined function" ignore between
alike "--focus and --ignore" focus leaf_two ignore leaf_one
alike "--hide" hide leaf_one
alike "--hide of an inlined function" hide innermost
alike "--hide of an object" hide 'libc\.so'
alike "--hide of what recurs" hide '^recurse'
alike "--show" show '^leaf_|main'
alike "--show of inlined functions" show 'innermost|between'
alike "--show-from" show-from '^recurse'
alike "--show-from of an inlined function" show-from between
alike "--show-from of an object" show-from /worker
alike "all of them" focus leaf ignore nothing_is_called_so hide main show 'recurse|leaf|inner' show-from recurse

# A report and a tree see the same stacks.
is "$("$SPOOR" report --json --focus between all.spoor | jq .samples)" \
	"$("$SPOOR" export -f folded --focus between all.spoor | awk '{ n += $NF } END { print n }')" "as many samples in a report"
is "$("$SPOOR" report --json -s sym --comm worker --hide '^leaf_' all.spoor | jq -r '[.rows[] | select(.symbol | startswith("leaf"))] | length')" 0 \
	"what is hidden is no row"
is "$("$SPOOR" report --json -s sym --focus . all.spoor | jq -c '[.rows[] | [.symbol, .samples]]')" \
	"$("$SPOOR" report --json -s sym all.spoor | jq -c '[.rows[] | [.symbol, .samples]]')" "--focus of everything changes no row"
exits 2 "no regular expression" "$SPOOR" report --focus '(' all.spoor
like "$(cat err)" '\(' "is told"
exits 2 "nor a number" "$SPOOR" report --max-stack 0 all.spoor

done_testing
