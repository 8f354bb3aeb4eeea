#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# spoor export -f perf-data and -f perf-data-file, judged by perf itself and by perfdata.py, which
# knows nothing of spoor's code: recordings of our own; perf.data of each kind there and back.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command jq perf python3

burn=$FIXTURES/burn

# perf takes the files of a task that still runs, and has another root, from there; those of one that has
# ended from here: it reads where it sees no tasks, or two readings of a file would differ.
perf()
{
	if [ "$1" = record ] || [ "$(id -u)" -ne 0 ]; then
		command perf "$@"
	else
		unshare --pid --fork --mount-proc perf "$@"
	fi
}

judge() # WHAT FILE
{
	python3 "$TOP/tests/oracles/perfdata.py" "$@"
}

# perf report ends in a tip that it draws by lot.
report() # FILE OPTION...
{
	local file=$1
	shift
	perf report --stdio --no-inline -i "$file" "$@" 2>/dev/null | grep -av '^# (Tip'
}

script() # FILE OPTION...
{
	local file=$1
	shift
	perf script -i "$file" --no-inline --show-mmap-events --show-task-events --show-lost-events \
		--show-switch-events --show-namespace-events --show-cgroup-events "$@" 2>/dev/null
}

both() # RECORDING OPTION...: NAME.pipe and NAME.file
{
	local name=${1%.spoor}
	exits 0 "$name: pipe mode" "$SPOOR" export -f perf-data -o "$name.pipe" "$@"
	exits 0 "$name: file mode" "$SPOOR" export -f perf-data-file -o "$name.file" "$@"
}

# --- a recording of our own ----------------------------------------------------------------------

# What burns is in its own code; on a quiet host the kernel is sampled only when something works in it.
background dd if=/dev/zero of=/dev/null bs=1M status=none
in_kernel=$!
"$SPOOR" record -a -F 499 -o own.spoor -- "$burn" 700 >/dev/null 2>&1 || bail "nothing recorded"
kill "$in_kernel"
both own.spoor --write-kallsyms own.kallsyms
"$SPOOR" info --json own.spoor >info.json 2>/dev/null
"$SPOOR" report --json --no-children own.spoor >report.json 2>/dev/null
samples=$(jq .samples info.json)

judge records own.pipe >own.pipe.records
judge records own.file >own.file.records
same "both modes have the same records" own.pipe.records own.file.records
"$SPOOR" dump --json own.spoor 2>/dev/null | jq -r .type | sort | uniq -c | awk '{ print $2, $1 }' >want
judge types own.pipe | awk 'BEGIN { split("MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 " \
	"AUX ITRACE_START LOST_SAMPLES SWITCH SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE", t) }
	{ print t[$1], $2 }' | sort >got
same "as many of each type as dump prints" want got

for k in pipe file; do
	f=own.$k
	like "$(judge order $f)" '^[1-9][0-9]* 0$' "$k: in time order"
	is "$(perf report --stats -i $f 2>/dev/null | awk '/SAMPLE events/ { print $3; exit }')" "$samples" \
		"$k: perf counts the same samples"
	is "$(perf script -G -i $f -F tid 2>/dev/null | grep -c .)" "$samples" \
		"$k: perf script prints them all"
	judge comms $f >judge.comms
	# Of a task that has exited perf since 6.10 knows no name, not even for its last samples.
	perf script -G -i $f -F comm,tid 2>/dev/null | awk '{ $1 = $1 } 1' >perf.comms
	awk '{ tid = $1; gone = $2; $1 = $2 = ""; sub(/^ */, ""); if ((getline other <"perf.comms") != 1 ||
		other != $0 " " tid && !(gone && other == ":" tid " " tid)) print NR, tid, gone, $0, "not", other }
		END { if (NR == 0 || (getline <"perf.comms") != 0) print "not as many" }' judge.comms >differ
	is "$(cat differ)" "" "$k: perf knows each sample's command"
	cut -d' ' -f3- judge.comms | sort | uniq -c | sed 's/^ *//' | sort >want
	jq -r '.rows | group_by(.comm)[] | "\(map(.samples) | add) \(.[0].comm)"' report.json | sort >own.comms
	same "$k: the same samples of each command" want own.comms
	is "$(perf script -i $f -G -F comm,ip,sym,dso 2>/dev/null | grep -c 'burn_hot (.*/burn)')" \
		"$(jq '[.rows[] | select(.symbol == "burn_hot" and .dso == "burn").samples] | add' report.json)" \
		"$k: the hot function has its name and its samples"
	ok "$k: perf annotate takes it" perf annotate --stdio -i $f -s burn_hot
	ok "$k: perf evlist takes it" perf evlist -v -i $f
	like "$(perf script -i $f -F +tod 2>/dev/null | head -n 1)" "$(date +%Y)-[0-9-]+ [0-9:.]+ " \
		"$k: the wall clock is known"
done
perf script -F comm,tid,time,event,ip,sym,symoff,dso,period -i own.pipe >own.pipe.script 2>/dev/null
perf script -F comm,tid,time,event,ip,sym,symoff,dso,period -i own.file >own.file.script 2>/dev/null
perf script -F comm,tid,time,event,ip,sym,symoff,dso,period -i - <own.pipe >own.stdin.script 2>/dev/null
# A program of somebody else may be removed between two readings: frames of what is gone by now are left out.
sed -n 's/^\t.* (\(\/.*\))$/\1/p' own.*.script | sort -u | while read -r file; do
	[ -e "$file" ] || echo " ($file)"
done >gone
if [ -s gone ]; then
	for k in pipe file stdin; do
		grep -avFf gone own.$k.script >own.there
		mv own.there own.$k.script
	done
fi
same "perf script prints the same of both" own.file.script own.pipe.script
same "and from a pipe" own.file.script own.stdin.script
cp own.file again.file
like "$(perf diff own.file again.file 2>/dev/null)" '\+0\.00%.*burn_hot' "perf diff takes it"
is "$(judge attrs own.pipe | awk '$1 != 128' | wc -l)" 0 "pipe: attrs as long as perf 6.1's"
is "$(judge attrs own.file | awk '$1 > 112' | wc -l)" 0 "file: attrs no longer than needed"

perf report --header-only -i own.file >header 2>/dev/null
for want in "hostname : $(hostname)" "os release : $(uname -r)" 'perf version : spoor ' "arch : $(uname -m)" \
	"cmdline : .*spoor record -a -F 499" 'event : name = cpu-clock' 'time of first sample : [1-9]' \
	'clockid: monotonic' "nrcpus avail : $(nproc --all)"; do
	like "$(cat header)" "^# $want" "header: ${want%% :*}"
done
perf buildid-list -i own.file >ids 2>/dev/null
id=$(readelf -n "$burn" | awk '/Build ID:/ { print $3 }')
like "$(cat ids)" "^$id $burn\$" "the build-id of the program"
is "$(grep -c '\[kernel.kallsyms\]' ids)" 1 "and that of the kernel"

# Another machine: /proc/kallsyms is not that of the recording.
elsewhere() # COMMAND...
{
	unshare --pid --fork --mount-proc bash -c 'mount --bind /dev/null /proc/kallsyms; "$@"' bash "$@" 2>/dev/null
}
# shellcheck disable=SC2119,SC2120
kernel_names() # [OPTION...]: of samples, with how many there are
{
	command perf script -G -F ip,sym,dso -i own.file "$@" 2>/dev/null | awk '$NF == "([kernel.kallsyms])" { print $2 }' |
		sort | uniq -c
}
# shellcheck disable=SC2119
kernel_names >here
export -f kernel_names
elsewhere kernel_names >without
elsewhere kernel_names --kallsyms own.kallsyms >with
isnt "$(wc -l <without)" 0 "there are samples of the kernel"
unlike "$(cat without)" ' [a-z_]' "without the kernel's symbols there are no names"
same "with --kallsyms they are those of the machine that recorded" here with

# --- what is asked for and refused ---------------------------------------------------------------

"$SPOOR" export -f perf-data own.spoor >stdout.pipe 2>/dev/null
same "standard output" own.pipe stdout.pipe
"$SPOOR" export -f perf-data-file own.spoor 2>/dev/null | cat >stdout.file
same "file mode through a pipe" own.file stdout.file
echo before >behind
"$SPOOR" export -f perf-data-file own.spoor >>behind 2>/dev/null
(echo before && cat own.file) >want
same "file mode behind something" want behind

"$SPOOR" export -f perf-data -C 0 --write-kallsyms other.kallsyms own.spoor -o cpu0.pipe 2>/dev/null
is "$(perf script -G -i cpu0.pipe -F cpu 2>/dev/null | grep -c .)" \
	"$("$SPOOR" dump --json --cpu 0 own.spoor 2>/dev/null | jq -c 'select(.type == "SAMPLE")' | wc -l)" \
	"the samples of a CPU"
"$SPOOR" export -f perf-data-file --time 50%-100% own.spoor -o half.file 2>/dev/null
is "$(perf script -G -i half.file -F time 2>/dev/null | grep -c .)" \
	"$("$SPOOR" dump --json --time 50%-100% own.spoor 2>/dev/null | jq -c 'select(.type == "SAMPLE")' | wc -l)" \
	"the samples of a time"
perf report --header-only -i half.file 2>/dev/null | awk '/time of first sample/ { print $NF }' >first
perf script -G -i half.file -F time 2>/dev/null | awk '{ sub(":", ""); print $1; exit }' >want
same "whose header tells the first of them" want first

exits 2 "no names in records" "$SPOOR" export -f perf-data --dso burn own.spoor
like "$(cat err)" 'dso.*perf-data' "which is said"
exits 2 "--write-kallsyms of stacks" "$SPOOR" export -f folded --write-kallsyms x own.spoor
exits 2 "no such format" "$SPOOR" export -f perf own.spoor
exits 1 "a disk that is full" "$SPOOR" export -f perf-data -o /dev/full own.spoor
like "$(cat err)" 'No space left' "which is said"
exits 1 "the same in file mode" "$SPOOR" export -f perf-data-file -o /dev/full own.spoor
exits 1 "no such directory" "$SPOOR" export -f perf-data -o none/x own.spoor
python3 - "$SPOOR" >/dev/null <<'EOF'
import os, pty, sys
status = pty.spawn([sys.argv[1], 'export', '-f', 'perf-data', 'own.spoor'],
                   lambda fd: open('terminal', 'ab').write(d := os.read(fd, 1024)) and d)
sys.exit(os.waitstatus_to_exitcode(status) != 1)
EOF
is $? 0 "not to a terminal"
like "$(cat terminal)" 'not for a terminal' "which is said"

head -c $(($(stat -c %s own.pipe) * 3 / 4)) own.pipe >cut.pipe
in_range "$(perf script -G -i cut.pipe -F time 2>/dev/null | grep -c .)" $((samples / 4)) $((samples - 1)) \
	"a pipe that was cut is read as far as it goes"
head -c $(($(stat -c %s own.spoor) / 2)) own.spoor >cut.spoor
"$SPOOR" export -f perf-data-file cut.spoor -o cut.file 2>err
like "$(cat err)" 'not closed in order' "a recording that was cut is exported, and it is said"
ok "and perf takes it" perf report --stats -i cut.file

# --- an archive ----------------------------------------------------------------------------------

# Two recordings of one boot, each with ids of its own, make one perf.data.
"$SPOOR" record -a -F 499 -o later.spoor -- "$burn" 300 >/dev/null 2>&1 || bail "nothing recorded"
mkdir archive
cp own.spoor archive/1.spoor
cp later.spoor archive/2.spoor
"$SPOOR" info --json later.spoor >later.json 2>/dev/null
both archive
for k in pipe file; do
	is "$(perf script -G -i archive.$k -F tid 2>/dev/null | grep -c .)" \
		"$((samples + $(jq .samples later.json)))" "archive, $k: the samples of both"
	like "$(judge order archive.$k)" '^[1-9][0-9]* 0$' "archive, $k: in time order"
	is "$(judge attrs archive.$k | wc -l)" "$(judge attrs own.$k | wc -l)" "archive, $k: the events once"
done

# --- there and back ------------------------------------------------------------------------------

is_read() # FILE
{
	(perf script -i "$1" >/dev/null) 2>/dev/null
}
perf_record() # FILE ARGUMENT...
{
	perf_tries is_read "$1" -B "${@:2}" || bail "perf record $*: $(tail -n 2 perf.err)"
}

# In the header of the export differ: when the file was made, where its parts are, that records are
# not packed (-z), and what is missing (of which COMPRESSED is one). Everything else is the same.
header() # FILE
{
	report "$1" --header -I --no-children |
		grep -aEv '^# (captured on|data offset|data size|feat offset|compressed|missing features) *:'
}

# The attrs of perf 6.6 and later have 8 more bytes, which perf 6.1 would refuse: they are written when
# something is in them.
there_and_back() # NAME: of NAME.data
{
	local name=$1 k

	exits 0 "$name: import" "$SPOOR" import "$name.data" -o "$name.spoor"
	judge records "$name.data" >"$name.want"
	isnt "$(grep -c ^09 "$name.want")" 0 "$name: has samples"
	script "$name.data" >"$name.data.script"
	report "$name.data" --no-children >"$name.data.report"
	judge attrs "$name.data" | awk '$1 > 128 { $1 = 128 } 1' >"$name.data.attrs"
	for k in pipe file; do
		exits 0 "$name: export, $k" "$SPOOR" export \
			-f "$([ $k = pipe ] && echo perf-data || echo perf-data-file)" "$name.spoor" -o "$name.$k"
		judge records "$name.$k" >"$name.got"
		same "$name, $k: every record, byte for byte" "$name.want" "$name.got"
		like "$(judge order "$name.$k")" '^[1-9][0-9]* 0$' "$name, $k: in time order"
		script "$name.$k" >"$name.$k.script"
		same "$name, $k: perf script" "$name.data.script" "$name.$k.script"
		# Of a pipe perf learns too late that there are call chains to add children by.
		report "$name.$k" --no-children >"$name.$k.report"
		same "$name, $k: perf report" "$name.data.report" "$name.$k.report"
		is "$(judge attrs "$name.$k")" "$(cat "$name.data.attrs")" \
			"$name, $k: events and ids"
	done
	report "$name.data" >"$name.data.report"
	report "$name.file" >"$name.file.report"
	same "$name, file: perf report as it comes" "$name.data.report" "$name.file.report"
	header "$name.data" >"$name.data.header"
	header "$name.file" >"$name.file.header"
	same "$name, file: with its header" "$name.data.header" "$name.file.header"
}

clock=(-e cpu-clock -F 499)
perf_record plain.data "${clock[@]}" -- "$burn" 300
perf_record graph.data "${clock[@]}" -a -g -- "$burn" 300
perf_record dwarf.data -e cpu-clock -F 99 --call-graph dwarf -- "$burn" 300
perf_record trace.data -e sched:sched_switch -e sched:sched_process_exit -a -- "$burn" 200
perf_record group.data -e '{cpu-clock,page-faults}:S' -e context-switches -F 499 -a -- "$FIXTURES/faults"
perf_record packed.data -z "${clock[@]}" -a -g -- "$burn" 300
perf_record switch.data --switch-events "${clock[@]}" -a -- "$burn" 200
perf_record cgroup.data --all-cgroups "${clock[@]}" -a -- "$burn" 200
perf_record spaces.data --namespaces "${clock[@]}" -a -- "$burn" 200
perf_record ids.data --buildid-mmap "${clock[@]}" -a -- "$burn" 200
perf_record clockid.data -k mono "${clock[@]}" -a -- "$burn" 200
for name in plain graph dwarf trace group packed switch cgroup spaces ids clockid; do
	there_and_back "$name"
done
like "$(judge types switch.data)" '^15 [1-9]' "there were switches"
like "$(judge types cgroup.data)" '^19 [1-9]' "there were control groups"
like "$(judge types spaces.data)" '^16 [1-9]' "there were namespaces"

# Build-ids are in the header, and in a pipe among the records. What perf record would write itself is
# left out above: perf 6.1 can abort over it. So these are ours.
received() # FILE: the build-ids that perf gets from it
{
	perf report -v --stdio -i "$1" 2>&1 | grep -a '^build id event received' | sort
}
exits 0 "named: import" "$SPOOR" import own.file -o named.spoor
both named.spoor
perf buildid-list -i own.file >want 2>/dev/null
perf buildid-list -i named.file >got 2>/dev/null
same "the build-ids of the header" want got
received own.file >want
received named.pipe >got
same "and of the pipe" want got

# A pipe becomes a file: tracepoint formats come as a record there, names of events as another.
perf record --buildid-mmap -o - -e sched:sched_switch -e cpu-clock -F 499 -a -- "$burn" 200 2>/dev/null >piped.data
ok "perf record to a pipe" perf script -i piped.data
"$SPOOR" import piped.data -o piped.spoor 2>/dev/null
both piped.spoor
for k in pipe file; do
	script piped.data >want
	script piped.$k >got
	same "piped, $k: perf script" want got
	judge records piped.data >want
	judge records piped.$k >got
	same "piped, $k: every record" want got
done

# An export is imported like what perf wrote.
"$SPOOR" import graph.pipe -o again.spoor 2>/dev/null
"$SPOOR" export -f perf-data again.spoor -o again.pipe 2>/dev/null
same "exported, imported, exported: the same bytes" graph.pipe again.pipe
done_testing
