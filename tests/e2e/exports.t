#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# @together
# Exports of stacks against each other and against their tools: speedscope's JSON has the stacks of the
# folded ones, callgrind_annotate the functions of spoor report. Hostile names are harmless in all.
. "$(dirname "$0")/../lib.sh"
need_command jq g++ python3 callgrind_annotate go
need_record_all

cat >cc.cc <<'CC'
#include <map>
#include <string>
int main() { std::map<std::string, int> m; for (int i = 0; i < 9; i++) m[std::to_string(i)]++; return m.size(); }
CC
"$SPOOR" record -a -g -F 999 -o x.spoor -- g++ -O2 -g -c cc.cc 2>err || bail "no recording of g++"

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
	"$SPOOR" export -f speedscope --weight $weight -o $weight.json x.spoor
	"$SPOOR" export -f folded --weight $weight x.spoor 2>err | LC_ALL=C sort >wanted
	python3 unfold.py $weight.json >got || diag "unfold failed"
	LC_ALL=C sort got >sorted
	same "speedscope by $weight: the stacks of folded" sorted wanted
done
is "$(jq -r '.profiles[0].unit' period.json)" nanoseconds "a clock's periods are nanoseconds"
"$SPOOR" export -f speedscope --labels pid,tid -o threads.json x.spoor
like "$(jq -r '.profiles[].name' threads.json)" '^cc1plus pid [0-9]+ tid [0-9]+$' "--labels pid,tid: a profile for each thread"
is "$(jq '[.profiles[].endValue] | add' threads.json)" "$(jq '[.profiles[].endValue] | add' samples.json)" "... with all samples"

# --- callgrind -------------------------------------------------------------------------------
"$SPOOR" export -f callgrind -o callgrind.out.x x.spoor
callgrind_annotate --threshold=100 --show-percs=no --auto=no callgrind.out.x >annotated 2>err
is "$(sed -n 's/,//g; s/^ *\([0-9]*\)  PROGRAM TOTALS.*/\1/p' annotated)" \
	"$("$SPOOR" report --json x.spoor 2>err | jq '.events[0].samples')" "callgrind_annotate: all samples"
"$SPOOR" export -f callgrind --no-inline -o callgrind.out.flat x.spoor
callgrind_annotate --threshold=100 --show-percs=no --auto=no callgrind.out.flat 2>err |
	sed '1,/file:function/d; s/,\([0-9]\)/\1/g' | sed -n 's/^ *\([0-9][0-9]*\)  [^:]*:\(.*\) \[.*\]$/\1 \2/p' |
	awk '{ n = $1; $1 = ""; sum[$0] += n } END { for (f in sum) if (f !~ /^ \[/) print sum[f] f }' | LC_ALL=C sort >got
"$SPOOR" report --no-inline -s sym --json x.spoor 2>err |
	jq -r '.rows[] | select(.symbol | startswith("[") | not) | select(.samples > 0) | "\(.samples) \(.symbol)"' |
	sed 's/,\([0-9]\)/\1/g' | LC_ALL=C sort >wanted
same "callgrind_annotate: functions with the samples of spoor report" got wanted
callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no --auto=no callgrind.out.flat 2>err | sed 's/,//g' >inclusive
for f in entry_SYSCALL_64_after_hwframe asm_exc_page_fault; do
	is "$(sed -n "s/^ *\([0-9]*\)  .*:$f .*/\1/p" inclusive)" \
		"$("$SPOOR" report --no-inline --children -s sym --json x.spoor 2>err | jq --arg f $f '.rows[] | select(.symbol == $f) | .children_samples')" \
		"... and with what $f called"
done

# --- what is asked for -----------------------------------------------------------------------
exits 2 "--labels of callgrind" "$SPOOR" export -f callgrind --labels pid x.spoor
exits 2 "--weight of pprof" "$SPOOR" export -f pprof --weight period x.spoor

# --- hostile names ---------------------------------------------------------------------------
printf '#!/bin/sh\nwhile :; do :; done\n' >loop
evil=$'e\e[31m"<;\n\x81'
cp "$(command -v sh)" "$evil" && chmod +x "$evil"
"$SPOOR" record -F 999 -o evil.spoor -- timeout 1 "./$evil" loop 2>err || diag_file err
for form in folded pprof speedscope callgrind; do
	"$SPOOR" export -f $form -o evil.$form evil.spoor 2>err
done
go tool pprof -symbolize=none -raw evil.pprof >evil.raw 2>err
for form in folded callgrind raw; do
	is "$(LC_ALL=C grep -ca $'\e' evil.$form)" 0 "$form: no escape sequence is in it"
done
ok "speedscope: it is JSON" jq -e . evil.speedscope
like "$(jq -r '.profiles[].name' evil.speedscope)" '<;' "... with that command's name"
like "$(go tool pprof -symbolize=none -tags evil.pprof 2>err)" '<;' "pprof shows it"

done_testing
