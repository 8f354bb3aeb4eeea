#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# go tool pprof reads our pprof export without a word, and its totals and functions are those of
# spoor report: of a compiler, of processes that come and go, of Python, and of every golden recording.
. "$(dirname "$0")/../lib.sh"
need_command go jq
need_record_all # one is of all CPUs
need_recordings compiler python storm machine

export PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none
pprof() { go tool pprof -symbolize=none "$@" 2>>pprof.err; }

# The functions of a profile with their samples, itself and in all.
top_of_pprof() # FILE
{
	pprof -top -nodecount=0 -nodefraction=0 -sample_index="${2:-samples}" "$1" |
		sed '1,/^ *flat /d; s/ (inline)$//' |
		awk '{ n = $1; c = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); flat[$0] += n; cum[$0] += c }
			END { for (f in flat) if (substr(f, 1, 1) != "[") print flat[f] "\t" cum[f] "\t" f }' | known_in_all | LC_ALL=C sort
}

# The kernel and a program may each have a strcmp, which is two rows, and one line of pprof's. What they have in all
# cannot be compared then: a stack with both, as of _dl_catch_exception in ld.so and in libc, is one sample of
# pprof's line, but one of each row. Names of several rows are in the file "several".
known_in_all()
{
	awk -F '\t' -v OFS='\t' 'BEGIN { while ((getline name <"several") > 0) several[name] = 1 } $3 in several { $2 = "-" } 1'
}
several() # RECORDING [OPTION...]
{
	"$SPOOR" report --no-inline --children -s sym --json "$@" 2>/dev/null |
		jq -r '[.rows[].symbol] | group_by(.)[] | select(length > 1)[0]' >several
}
top_of_report() # RECORDING [OPTION...]
{
	"$SPOOR" report --no-inline --children -s sym --json "$@" 2>/dev/null |
		jq -r '[.rows[] | select(.symbol | startswith("[") | not)] | group_by(.symbol)[] |
			"\(map(.samples) | add)\t\(map(.children_samples) | add)\t\(.[0].symbol)"' | known_in_all | LC_ALL=C sort
}

for name in compiler python storm machine; do
	[ $name = machine ] && own=(--comm "bash,g++,cc1plus,as,swapper") || own=()
	ok "$name: export" "$SPOOR" export --no-inline -f pprof -o $name.pb.gz $name.spoor
	: >pprof.err
	"$SPOOR" export --no-inline ${own[@]+"${own[@]}"} -f pprof -o own.pb.gz $name.spoor 2>export.err
	several $name.spoor ${own[@]+"${own[@]}"}
	top_of_pprof own.pb.gz >got
	top_of_report $name.spoor ${own[@]+"${own[@]}"} >wanted
	same "$name: functions have the samples of spoor report" got wanted
	is "$(pprof -raw $name.pb.gz | awk '/^Locations/ { over = 1 } !over && /^ +[0-9]+ +[0-9]+: / { n += $1; p += $2 } END { printf "%d %.0f", n, p }')" \
		"$("$SPOOR" report --json $name.spoor 2>/dev/null | jq -r '.events[] | "\(.samples) \(.period)"')" \
		"$name: all samples and periods"
	is "$(cat pprof.err)" "" "$name: pprof says nothing"
done

# A location is an address with what was inlined there; names are whole.
"$SPOOR" export -f pprof -o inlined.pb.gz compiler.spoor
pprof -raw inlined.pb.gz >raw
like "$(pprof -top -nodecount=0 -nodefraction=0 -sample_index=samples compiler.pb.gz)" '[a-z_]+::[a-z_]+' "C++ names"
is "$(pprof -top -sample_index=samples -nodecount=1 inlined.pb.gz | sed -n 's/.*Total samples = \([0-9]*\).*/\1/p')" \
	"$("$SPOOR" report --json compiler.spoor 2>/dev/null | jq '.events[0].samples')" "with inlined calls: as many samples"
is "$(grep -c 'execve' <<<"$(pprof -top -nodecount=0 -nodefraction=0 -sample_index=samples -focus=vfork compiler.pb.gz)" | sed 's/[1-9].*/some/')" \
	"$("$SPOOR" export -f folded compiler.spoor 2>/dev/null | grep vfork | grep -c execve | sed 's/[1-9].*/some/')" "--focus works"

# Every object is one mapping, in its own addresses, with its build-id. Not an object is a path: another root on this
# machine has files of the same paths, as have other tests, which also write to a path again. Of files without a
# build-id nothing tells in a profile which are one, so that this is asked of those that have one.
pprof -raw compiler.pb.gz | sed '1,/^Mappings/d; s/^[0-9]*: [^ ]* //; s/ *\(\[F[NL]\]\|\[LN\]\|\[IN\]\)*$//' >mappings
libc=$(readlink -f "$(ldd "$(command -v g++)" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')")
id=$(readelf -n "$libc" | sed -n 's/.*Build ID: //p')
is "$(grep -E '^/.* [0-9a-f]{16,}$' mappings | sort | uniq -d)" "" "an object is one mapping"
is "$(grep -cxF "$libc $id" mappings)" 1 "with its build-id"

# Labels: comm always, and those that were asked for.
label() { pprof -tags "$1" | sed -n 's/^ *\([a-z]*\): Total.*/\1/p' | sort | paste -sd' '; }
"$SPOOR" export -f pprof --labels comm,pid,tid,cgroup -o labels.pb.gz compiler.spoor
is "$(label labels.pb.gz)" "cgroup comm pid tid" "labels"
is "$(label compiler.pb.gz)" "pid tid" "... and without --labels"
"$SPOOR" export -f pprof --labels comm,cpu -o cpu.pb.gz "$TOP/tests/golden/0.1.0/everybody.spoor" 2>/dev/null
is "$(label cpu.pb.gz)" "comm cpu" "--labels cpu"
exits 2 "--labels with what is none" "$SPOOR" export -f pprof --labels cpu,thread compiler.spoor
like "$(cat err)" "labels cpu,thread: they are comm, pid" "... is told"
is "$(pprof -top -sample_index=samples -tagfocus=comm=cc1plus -nodecount=1 labels.pb.gz | sed -n 's/.*accounting for .* of \([0-9]*\) total.*/\1/p')" \
	"$("$SPOOR" report --json compiler.spoor 2>/dev/null | jq '.events[0].samples')" "-tagfocus takes them"

# The number 0 is one, as of CPU 0.
chosen() # KEY=VALUE FILE
{
	pprof -raw -tagfocus="$1" "$2" | awk '/^Locations/ { over = 1 } !over && /^ +[0-9]+ +[0-9]+: / { n += $1 } END { print n + 0 }'
}
for key in cpu pid tid; do
	"$SPOOR" export -f pprof --labels $key -o zero.pb.gz machine.spoor 2>/dev/null
	"$SPOOR" report -s $key --json machine.spoor 2>/dev/null | jq -r ".rows[] | \"\(.$key) \(.samples)\"" >rows
	[ $key != cpu ] || ok "CPU 0 has samples" grep -q '^0 ' rows
	wrong=$(while read -r value samples; do
		got=$(chosen "$key=$value" zero.pb.gz)
		[ "$got" = "$samples" ] || echo "$value: $got, not $samples"
	done < <(grep '^0 ' rows; grep -v '^0 ' rows | head -n 3))
	is "$wrong" "" "-tagfocus=$key=NUMBER takes the samples of each"
done

# The program comes first, whichever object has most samples; labels that are numbers are no boxes of a graph.
is "$(pprof -raw compiler.pb.gz | sed '1,/^Mappings/d' | sed -n '1s/^[^/]*\/.*\/\([^ ]*\) .*/\1/p')" cc1plus "the first mapping is the program"
like "$(pprof -top -nodecount=1 compiler.pb.gz)" '^File: cc1plus' "... and pprof says so"
is "$(pprof -dot compiler.pb.gz | grep -c box3d)" 0 "its graph has no boxes of labels"
is "$(pprof -dot labels.pb.gz | grep -c box3d | sed 's/[1-9].*/some/')" some "... which --labels comm brings"

for recording in "$TOP"/tests/golden/0.1.0/*.spoor; do
	name=$(basename "$recording" .spoor)
	: >pprof.err
	"$SPOOR" export -f pprof -o golden.pb.gz "$recording" 2>/dev/null
	samples=$("$SPOOR" report --json "$recording" 2>/dev/null | jq '[.events[].samples] | add // 0')
	got=$(pprof -raw golden.pb.gz | awk '/^Locations/ { over = 1 } !over && /^ +[0-9]+ .*: / { sub(/:.*/, ""); for (i = 1; i < NF; i += 2) n += $i } END { print n + 0 }')
	if [ "$samples" = 0 ]; then
		like "$(cat pprof.err)" "profile is empty" "$name: pprof says that there is nothing"
	else
		is "$got" "$samples" "$name: every sample"
		is "$(cat pprof.err)" "" "$name: and not a word"
	fi
done

done_testing
