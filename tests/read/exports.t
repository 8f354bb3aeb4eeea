#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Exports of stacks against each other and against their tools: speedscope's JSON has the stacks of the
# folded ones, callgrind_annotate the functions of spoor report. Hostile names are harmless in all.
. "$(dirname "$0")/../lib.sh"
need_command jq python3 callgrind_annotate go
need_record_all # their kernel functions are looked at
need_recordings compiler faults hostile python recursion

# --- speedscope ------------------------------------------------------------------------------
cat >unfold.py <<'PY'
import collections, json, sys
doc = json.load(open(sys.argv[1]))
assert doc["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert 0 <= doc["activeProfileIndex"] < len(doc["profiles"])
frames, folded = doc["shared"]["frames"], collections.Counter()
last = None
for p in doc["profiles"]:
    assert p["type"] == "sampled" and p["startValue"] == 0 and p["unit"] in ("none", "nanoseconds")
    assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]
    assert last is None or p["endValue"] <= last, "the heaviest first"
    last = p["endValue"]
    for stack, weight in zip(p["samples"], p["weights"]):
        folded[";".join([p["name"]] + [frames[i]["name"].replace(";", ":") for i in stack])] += weight
for line, n in sorted(folded.items()):
    print(line, n)
PY
for weight in samples period; do
	"$SPOOR" export -f speedscope --weight $weight -o $weight.json compiler.spoor
	"$SPOOR" export -f folded --weight $weight compiler.spoor 2>err | LC_ALL=C sort >wanted
	python3 unfold.py $weight.json >got || diag "unfold failed"
	LC_ALL=C sort got >sorted
	same "speedscope by $weight: the stacks of folded" sorted wanted
done
is "$(jq -r '.profiles[0].unit' period.json)" nanoseconds "a clock's periods are nanoseconds"
"$SPOOR" export -f speedscope --labels pid,tid -o threads.json compiler.spoor
like "$(jq -r '.profiles[].name' threads.json)" '^cc1plus pid [0-9]+ tid [0-9]+$' "--labels pid,tid: a profile for each thread"
is "$(jq '[.profiles[].endValue] | add' threads.json)" "$(jq '[.profiles[].endValue] | add' samples.json)" "... with all samples"

# "Time Order" is that: the samples of each command, or thread, one after another, as the json form has them.
cat >order.py <<'PY'
import collections, itertools, json, re, sys
doc, key = json.load(open(sys.argv[1])), sys.argv[2].split(",")
frames, runs = doc["shared"]["frames"], collections.defaultdict(list)
for line in sys.stdin:
    s = json.loads(line)
    if "stack" in s:
        name = " ".join([s["comm"]] + [f"{k} {s[k]}" for k in key if k != "comm"])
        runs[name].append(";".join(f["symbol"] or "" for f in reversed(s["stack"])))
for p in doc["profiles"]:
    names = [";".join("" if re.fullmatch(r"\[[^]]*\]", frames[i]["name"]) else frames[i]["name"] for i in stack) for stack in p["samples"]]
    got = [name for name, weight in zip(names, p["weights"]) for _ in range(weight)]
    assert got == runs.pop(p["name"]), p["name"]
assert not runs
PY
for name in compiler python; do
	"$SPOOR" export -f json $name.spoor >samples.ndjson
	for labels in comm pid,tid; do
		"$SPOOR" export -f speedscope --labels $labels -o order.json $name.spoor
		ok "speedscope, $name by $labels: samples in the order of their times" python3 order.py order.json $labels <samples.ndjson
	done
done

# --- callgrind -------------------------------------------------------------------------------
"$SPOOR" export -f callgrind -o callgrind.out.x compiler.spoor
callgrind_annotate --threshold=100 --show-percs=no --auto=no callgrind.out.x >annotated 2>err
is "$(sed -n 's/,//g; s/^ *\([0-9]*\)  PROGRAM TOTALS.*/\1/p' annotated)" \
	"$("$SPOOR" report --json compiler.spoor 2>err | jq '.events[0].samples')" "callgrind_annotate: all samples"
"$SPOOR" export -f callgrind --no-inline -o callgrind.out.flat compiler.spoor
callgrind_annotate --threshold=100 --show-percs=no --auto=no callgrind.out.flat 2>err |
	sed '1,/file:function/d; s/,\([0-9]\)/\1/g' | sed -n 's/^ *\([0-9][0-9]*\)  [^:]*:\(.*\) \[.*\]$/\1 \2/p' |
	awk '{ n = $1; $1 = ""; sum[$0] += n } END { for (f in sum) if (f !~ /^ \[/) print sum[f] f }' | LC_ALL=C sort >got
"$SPOOR" report --no-inline -s sym --json compiler.spoor 2>err |
	jq -r '.rows | map(select(.symbol | startswith("[") | not)) | group_by(.symbol)[] |
		"\(map(.samples) | add) \(.[0].symbol)" | select(startswith("0 ") | not)' |
	sed 's/,\([0-9]\)/\1/g' | LC_ALL=C sort >wanted # the kernel has a strcmp() as well, in a row of its own
same "callgrind_annotate: functions with the samples of spoor report" got wanted
callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no --auto=no callgrind.out.flat 2>err | sed 's/,//g' >inclusive
for f in entry_SYSCALL_64_after_hwframe asm_exc_page_fault; do
	is "$(sed -n "s/^ *\([0-9]*\)  .*:$f .*/\1/p" inclusive)" \
		"$("$SPOOR" report --no-inline --children -s sym --json compiler.spoor 2>err | jq --arg f $f '.rows[] | select(.symbol == $f) | .children_samples')" \
		"... and with what $f called"
done
# Whatever calls itself, by others or directly, counts once a sample, as does all that has no name in an object.
# callgrind_annotate tells functions apart by file and name: names of several of either are left out.
for name in compiler python recursion; do
	"$SPOOR" export -f callgrind --no-inline -o callgrind.out.$name $name.spoor 2>err
	"$SPOOR" report --no-inline --children -s dso,sym --json $name.spoor 2>err |
		jq -r '.rows[] | (if .symbol == "[unknown]" then .dso | if startswith("[") then . else "[\(.)]" end else .symbol end) as $f |
			"\(.dso)\t\($f)\t\(.children_samples)"' | sed 's/,\([0-9]\)/\1/g' |
		awk -F '\t' '{ n[$2]++; row[$2] = $0 } END { for (f in n) if (n[f] == 1) print row[f] }' >report.rows
	callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no --auto=no callgrind.out.$name 2>err |
		sed '1,/file:function/d; s/,\([0-9]\)/\1/g' | sed -n 's/^ *\([0-9][0-9]*\)  [^:]*:\(.*\) \[\(.*\)\]$/\1\t\3\t\2/p' |
		awk -F '\t' -v OFS='\t' 'NR == FNR { dso[$2] = $1; next } { n[$3]++; row[$3] = $2 OFS $3 OFS $1 }
			END { for (f in n) if (n[f] == 1 && f in dso) print row[f] }' report.rows - | LC_ALL=C sort >annotated
	awk -F '\t' -v OFS='\t' 'NR == FNR { path[$2] = $1; next }
		$2 in path { n = split(path[$2], parts, "/"); if (parts[n] == $1) print path[$2], $2, $3 }' annotated report.rows |
		LC_ALL=C sort >wanted
	same "callgrind_annotate, $name: functions with what they called, once a sample" annotated wanted
	[ $name = recursion ] || ok "... also what has no name" grep -qP '\t\[.*\]\t' annotated
done

# --- firefox ---------------------------------------------------------------------------------
# tests/read/export_viewers.t has the Profiler itself load it.
cat >firefox.py <<'PY'
import collections, json, sys
doc, report = json.load(open(sys.argv[1])), json.load(open("tids.json"))
shared, meta = doc["shared"], doc["meta"]
assert meta["preprocessedProfileVersion"] == 60 and meta["symbolicated"]
assert any(c["color"] == "grey" for c in meta["categories"])
def table(t):
    columns = [c for c in t if isinstance(t[c], list)]
    assert columns and all(len(t[c]) == t["length"] for c in columns), t.keys()
for t in ("stackTable", "frameTable", "funcTable", "resourceTable", "sources", "nativeSymbols"):
    table(shared[t])
strings, stacks, frames, funcs = (shared[k] for k in ("stringArray", "stackTable", "frameTable", "funcTable"))
assert all(p is None or p < i for i, p in enumerate(stacks["prefix"]))
assert all(r == -1 or r < shared["resourceTable"]["length"] for r in funcs["resource"])
assert all(l < len(doc["libs"]) for l in shared["resourceTable"]["lib"])
assert all(len(l["breakpadId"]) == 33 for l in doc["libs"])
assert all(s is None or s < shared["sources"]["length"] for s in funcs["source"])
def path(i):
    names = []
    while i is not None:
        names.append(strings[funcs["name"][frames["func"][stacks["frame"][i]]]].replace(";", ":"))
        i = stacks["prefix"][i]
    return ";".join(reversed(names))
folded, threads, weighs = collections.Counter(), {}, False
for t in doc["threads"]:
    s = t["samples"]
    assert all(len(s[c]) == s["length"] for c in ("stack", "time", "threadCPUDelta") if c in s)
    assert s["time"] == sorted(s["time"])
    table(t["markers"])
    weights = s["weight"] or [1] * s["length"]
    weighs = weighs or s["weightType"] == "tracing-ms"
    for i, w in zip(s["stack"], weights):
        folded[path(i)] += w
    if t["pid"] != "spoor":
        threads[(int(t["pid"]), t["tid"])] = s["length"]
assert threads == {(r["pid"], r["tid"]): r["samples"] for r in report["rows"]}, "samples of each thread"
for line, n in sorted(folded.items()):
    print(line, round(n * 1000000) if weighs else n)
PY
"$SPOOR" report --json -s pid,tid compiler.spoor >tids.json 2>err
for weight in samples period; do
	"$SPOOR" export -f firefox --weight $weight -o $weight.firefox compiler.spoor
	python3 firefox.py $weight.firefox >got || diag "firefox.py failed"
	"$SPOOR" export -f folded --weight $weight compiler.spoor 2>err | sed 's/^[^;]*;//' |
		awk '{ n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n } END { for (s in sum) printf "%s %d\n", s, sum[s] }' | LC_ALL=C sort >wanted
	LC_ALL=C sort got >sorted
	same "firefox by $weight: the stacks of folded, each thread with its samples" sorted wanted
done

# --- --max-size ------------------------------------------------------------------------------
total=$("$SPOOR" report --json compiler.spoor 2>err | jq '.events[0].samples')
for form in folded pprof speedscope callgrind firefox; do
	exits 0 "$form --max-size" "$SPOOR" export -f $form --max-size 30K -o cut.$form compiler.spoor
	size=$(wc -c <cut.$form)
	ok "... is no larger, and not much smaller" [ "$size" -le 30720 ] && [ "$size" -gt 24000 ]
	left=$(sed -n "s/.*left out the .* \([0-9]*\) of $total samples.*/\1/p" err)
	case $form in
	folded) kept=$(awk '{ n += $NF } END { print n }' cut.folded) left=0 ;;
	pprof) kept=$(go tool pprof -symbolize=none -raw cut.pprof 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\)  *[0-9][0-9]*: .*/\1/p' | awk '{ n += $1 } END { print n }') ;;
	speedscope) kept=$(jq '[.profiles[].endValue] | add // 0' cut.speedscope) ;;
	callgrind) kept=$(callgrind_annotate --threshold=100 --show-percs=no --auto=no cut.callgrind 2>/dev/null | sed -n 's/,//g; s/^ *\([0-9]*\)  PROGRAM TOTALS.*/\1/p') ;;
	firefox) kept=$(jq '[.threads[].samples.length] | add // 0' cut.firefox) ;;
	esac
	is "$((kept + left))" "$total" "... and what is left out is told"
done
like "$(grep '^\[left out' cut.folded)" '^\[left out: --max-size\] [0-9]+$' "folded says so"
like "$(go tool pprof -symbolize=none -comments cut.pprof 2>/dev/null)" "left out [0-9]+ of $total samples" "pprof too"
like "$(jq -r '.meta.extra[].entries[].value' cut.firefox)" "left out [0-9]+ of $total samples" "firefox too"
for form in folded pprof speedscope callgrind firefox; do
	exits 0 "$form of nothing" "$SPOOR" export -f $form --cpu 4095 -o none.out compiler.spoor
done
heaviest=$("$SPOOR" export -f folded compiler.spoor 2>err | awk '{ print $NF, $0 }' | sort -rn | sed -n '1s/^[0-9]* //p')
is "$(grep -cxF "$heaviest" cut.folded)" 1 "the heaviest stack stays"
for form in folded pprof speedscope callgrind firefox; do
	"$SPOOR" export -f $form --max-size 1G -o all.out compiler.spoor 2>err
	"$SPOOR" export -f $form -o all.wanted compiler.spoor 2>err
	ok "$form: a limit that is not reached changes nothing" cmp all.out all.wanted
done

# --- what is asked for -----------------------------------------------------------------------
exits 2 "--labels of callgrind" "$SPOOR" export -f callgrind --labels pid compiler.spoor
exits 2 "--weight of pprof" "$SPOOR" export -f pprof --weight period compiler.spoor

exits 2 "firefox --weight period of what is no time" "$SPOOR" export -f firefox --weight period -o faults.firefox faults.spoor
like "$(cat err)" "page-faults" "... which it names"
exits 0 "... by samples" "$SPOOR" export -f firefox -o faults.firefox faults.spoor

# --- hostile names ---------------------------------------------------------------------------
for form in folded speedscope callgrind firefox; do
	"$SPOOR" export -f $form -o evil.$form hostile.spoor 2>err
done
"$SPOOR" export -f pprof --labels comm,pid,tid,cgroup -o evil.pprof hostile.spoor 2>err
go tool pprof -symbolize=none -raw evil.pprof >evil.raw 2>err
for form in folded callgrind raw; do
	is "$(LC_ALL=C grep -ca $'\e' evil.$form)" 0 "$form: no escape sequence is in it"
done
ok "firefox: it is JSON" jq -e . evil.firefox
like "$(jq -r '.threads[].name' evil.firefox)" '<;' "... with that command's name"
ok "speedscope: it is JSON" jq -e . evil.speedscope
like "$(jq -r '.profiles[].name' evil.speedscope)" '<;' "... with that command's name"
control=$'x\xc2\x9b31m'
"$SPOOR" report --json -s comm,dso hostile.spoor >control.json 2>err
is "$(grep -c $'\xc2\x9b' control.json)" 0 "report --json: no C1 control character is in it"
is "$(jq -r '.rows[].comm' control.json | grep -cF "$control" | sed 's/[1-9].*/some/')" some "... and the name is"
like "$(go tool pprof -symbolize=none -tags evil.pprof 2>err)" '<;' "pprof shows it"

done_testing
