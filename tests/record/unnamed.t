#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Samples without a name are told of by process: which one it is, why, and the command or the option that has its
# runtime tell the names. A program that makes code at run time stands for the runtimes: by its name, or by that of a
# library that it has mapped.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"
need_command jq

echo 'int nothing;' | "${CC:-gcc}" -x c -shared -fPIC -o lib.so - || bail "no library"
mkdir -p java-17-openjdk Microsoft.NETCore.App/8.0.11
cp lib.so java-17-openjdk/libjvm.so
cp lib.so Microsoft.NETCore.App/8.0.11/libcoreclr.so
for name in prog node python3.12 python3.14 luajit $'e\033[31mvil'; do cp "$FIXTURES/jit" "$name"; done

# They stay until the recording has ended, each when it has told its number.
cat >run.sh <<'SH'
LD_PRELOAD=$PWD/java-17-openjdk/libjvm.so ./prog none 600 >java &
LD_PRELOAD=$PWD/Microsoft.NETCore.App/8.0.11/libcoreclr.so ./prog none 600 >dotnet &
for name in node python3.12 python3.14 luajit; do ./$name none 600 >$name.pid & done
./e*vil none 600 >none.pid &
for _ in {1..2400}; do
	[ "$(cat java dotnet ./*.pid | wc -l)" -lt 7 ] || exit 0
	sleep 0.05
done
exit 1
SH
at_exit '[ -e killed ] || cat dotnet java ./*.pid 2>/dev/null | xargs -r kill -KILL'
exits 0 "the programs are recorded" "$SPOOR" record -F 997 -o x.spoor -- bash run.sh
cat dotnet java ./*.pid | xargs kill -KILL && touch killed
for name in node python3.12 python3.14 luajit none; do mv $name.pid $name; done
exits 0 "info --names" "$SPOOR" info --names x.spoor
mv out text
"$SPOOR" info --names --json x.spoor >json 2>err
"$SPOOR" report -i x.spoor >printed 2>err

of() # RUNTIME KEY
{
	jq -r --argjson pid "$(cat "$1")" ".without_names[] | select(.pid == \$pid) | $2" json
}
line() # RUNTIME: of the report
{
	grep -F "(pid $(cat "$1"))" printed
}

names=(java dotnet python3.14)
for name in "${names[@]}"; do
	is "$(of "$name" .command)" "sudo spoor names -p $(cat "$name")" "$name is asked while it runs"
	like "$(grep -A 1 -F "(pid $(cat "$name"))" text)" "code made at run time.*; \`sudo spoor names -p $(cat "$name")\` asks it" \
		"... in words"
done
for name in node python3.12 luajit none; do
	is "$(of "$name" .command)" null "$name cannot be asked"
done
is "$(of java .option)" "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" "java's option"
is "$(of dotnet .option)" DOTNET_PerfMapEnabled=1 ".NET's"
is "$(of node .option)" "node --perf-basic-prof" "node's"
is "$(of python3.12 .option)" "python3 -X perf" "python's"
like "$(of luajit .option)" LUAJIT_USE_PERFTOOLS "LuaJIT's"
is "$(of none .option)" null "and none of what is not known"
like "$(cat text)" "prog \(pid $(cat java)\), Java 17" "a runtime has its version by its directory"
like "$(cat text)" "e.033.31mvil \(pid $(cat none)\)$" "names are escaped"
nok "no escape sequence comes through" grep -q $'\033' text
like "$(grep -A 1 -F "(pid $(cat none))" text)" "no runtime mapped .*/tmp/perf-$(cat none).map" "without a runtime it says so"
like "$(cat text)" "python3.14 \(pid $(cat python3.14)\), Python 3.14" "or by its name"
in_range "$(of java '100 * .without_name / .samples')" 60 100 "most of a process's samples have no name"
in_range "$(of java '100 * .why.not_file / .without_name')" 90 100 "since they are in memory without a file" ||
	diag "$(of java .)"
is "$(jq '[.without_names[].why.not_file // 0] | add' json)" "$("$SPOOR" report --json -i x.spoor 2>/dev/null | jq .unresolved.not_file)" \
	"the processes' samples are all that there are"

# The report has the five with most, and how many more.
is "$(grep -c '(pid [0-9]*).*of its samples are code made at run time' printed)" 5 "a report names five"
like "$(cat printed)" '^# +[0-9.]+%  in 2 more processes$' "and tells of the others"
"$SPOOR" report -i x.spoor --pid "$(cat node)" >printed 2>err
like "$(line node)" '^# +[0-9.]+%  node \(pid [0-9]+\), Node.js: [0-9.]+% of its samples are code made at run time; .*`node --perf-basic-prof`$' \
	"the words of a report"
is "$("$SPOOR" report --json -i x.spoor --pid "$(cat node)" | jq -c '[.without_names[] | [.pid, .runtime]]')" \
	"[[$(cat node),\"node\"]]" "filters choose"
"$SPOOR" flamegraph --svg -o - -i x.spoor --pid "$(cat java)" >svg 2>err
like "$(cat svg)" "Code without names: [0-9.]+%: prog \(pid $(cat java)\), Java 17: .*sudo spoor names -p" "a picture tells it below"
"$SPOOR" flamegraph -o - -i x.spoor --pid "$(cat java)" >html 2>err
like "$(cat html)" "Code without names: [0-9.]+%: prog \(pid $(cat java)\), Java 17" "and a page"

# An interpreter's own functions have names, and those that it runs none: Python of here, with a version in its path.
python=$(python3 -c 'import sys; print("%d %d" % sys.version_info[:2])' 2>/dev/null)
if [ "${python%% *}" = 3 ] && [ "${python##* }" -lt 14 ]; then
	"$SPOOR" record -g -F 997 -o python.spoor -- python3 -c 'sum(i for i in range(4000000))' 2>err
	like "$("$SPOOR" info --names python.spoor)" 'in the interpreter, .* when it is started with `python3 -X perf`' \
		"an interpreter's functions have no names"
	like "$("$SPOOR" report -i python.spoor 2>/dev/null)" "Python ${python// /.}: [0-9.]+% of its samples are in the interpreter" \
		"... and a report says so"
else
	skip "no python3 before 3.14 here" 2
fi
if [ "${python##* }" = 12 ] || [ "${python##* }" = 13 ]; then
	"$SPOOR" record -g -F 997 -o python.spoor -- python3 -X perf -c 'sum(i for i in range(4000000))' 2>err
	is "$("$SPOOR" info --names --json python.spoor | jq '[.without_names[].interpreted] | add // 0')" 0 "... but with -X perf"
else
	skip "no python3 that tells names here" 1
fi

# What has ended when the recording does is asked for nothing.
"$SPOOR" record -F 997 -o ended.spoor -- env LD_PRELOAD="$PWD/java-17-openjdk/libjvm.so" ./prog none >java 2>err
"$SPOOR" info --names --json ended.spoor >json
is "$(of java '[.ended, .command, .option != null] | tostring')" '[true,null,true]' "a process that has ended is not to be asked"
like "$("$SPOOR" info --names ended.spoor)" '`sudo spoor names -p PID` asks such a process' "... but one like it"
exits 2 "what does not go together" "$SPOOR" info --names -v x.spoor

done_testing
