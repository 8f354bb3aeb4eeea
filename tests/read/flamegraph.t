#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# spoor flamegraph: the page in a browser has the shares of the report and the ways of folded stacks, asks nothing of
# the network, and does what keys and mouse ask; hostile names do nothing.
. "$(dirname "$0")/../lib.sh"
need_command jq chromium chromedriver
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import selenium' 2>/dev/null || skip_all "python3-selenium is not installed"
need_recordings compiler

try() # SCRIPT ARGUMENT...: its lines of TAP, and then that it came to its end
{
	local status line
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/oracles timeout 300 "$PYTHON" "$TOP/tests/oracles/$1" "${@:2}" >checks 2>err
	status=$?
	while read -r line; do
		case $line in
		"ok - "*) pass "${line#ok - }" ;;
		"not ok - "*) fail "${line#not ok - }" ;;
		esac
	done <checks
	grep -qx 'ok - to the end' checks || fail "$1 comes to its end" "exit $status"
	if [ $status -eq 0 ]; then
		grep '^#' err >&2
	else
		diag_file err
	fi
}

exits 0 "a page" "$SPOOR" flamegraph compiler.spoor
ok "flamegraph.html" test -s flamegraph.html
"$SPOOR" report --json -s comm compiler.spoor >report.json 2>err
"$SPOOR" report --children --json -s sym compiler.spoor >children.json 2>err
"$SPOOR" export -f folded compiler.spoor >stacks 2>err
try flamegraph_page.py flamegraph.html report.json children.json stacks

# --- the data ----------------------------------------------------------------------------------
page_data() # PAGE
{
	sed -n '/<script type="application\/json"/,/<\/script>/p' "$1" | sed '1d;$d'
}
page_data flamegraph.html >data.json
is "$(jq '.rows.samples | add' data.json)" "$(jq .samples report.json)" "all samples are in it"
is "$(jq '(.rows.period | add) * .period_unit' data.json)" \
	"$("$SPOOR" tree --json --percent-limit 0 compiler.spoor | jq '[.[].nodes[] | select(.depth == 1).period] | add')" "and all of their periods"
"$SPOOR" flamegraph -o again.html compiler.spoor
ok "the same page each time" cmp flamegraph.html again.html
"$SPOOR" flamegraph --comm cc1plus --title 'a <b> & "c"' -o - compiler.spoor >filtered.html
page_data filtered.html >filtered.json
is "$(jq -c .filters filtered.json)" '["--comm cc1plus"]' "it tells the filters"
is "$(jq '.rows.samples | add' filtered.json)" "$("$SPOOR" report --comm cc1plus --json compiler.spoor 2>err | jq .samples)" "and keeps to them"
lost=$("$SPOOR" report --comm cc1plus --json compiler.spoor 2>err | jq .lost)
ok "and the loss" jq -e --argjson lost "$lost" '.lost == $lost and any(.facts[]; . == "Total Lost Samples: \($lost)")' filtered.json
# A page is read where the recording is not.
"$SPOOR" info --json compiler.spoor >info.json
"$SPOOR" heatmap -o heat.html compiler.spoor
page_data heat.html >heat.json
jq -r '"Command: \(.cmdline)", (.events[] | select(.samples > 0) | "Event: \(.name)"), "Frequency: \(.frequency_hz_effective) Hz",
	"Host: \(.hostname)", "Kernel: \(.release)", "Architecture: \(.arch)"' info.json >wanted
for page in data heat; do
	jq -r '.facts[]' $page.json | grep -E '^(Command|Event|Frequency|Host|Kernel|Architecture): ' >got
	same "$page: by what command, of which event, how often and where it was recorded" got wanted
done
like "$(cat filtered.html)" '<title>a &lt;b&gt; &amp; &quot;c&quot;</title>' "a title is text"
exits 0 "nothing left is no error" "$SPOOR" flamegraph --comm nobody compiler.spoor
like "$(cat err)" 'no sample' "but said"
exits 1 "no such file" "$SPOOR" flamegraph nothing.spoor
exits 2 "no such option" "$SPOOR" flamegraph --nothing compiler.spoor

# --- time ---------------------------------------------------------------------------------------
"$SPOOR" flamegraph -o - compiler.spoor >times.html
page_data times.html >times.json
is "$(jq '[.rows.bucket, .rows.samples] | transpose | group_by(.[0]) | map(map(.[1]) | add) | add' times.json)" \
	"$(jq .samples report.json)" "every sample is in a column of time"
in_range "$(jq .time.buckets times.json)" 50 500 "as many columns as a screen shows"
"$SPOOR" flamegraph -o - --labels cpu compiler.spoor | page_data /dev/stdin >cpus.json
is "$(jq -c '.keys, .time' cpus.json | paste -sd' ')" '["comm","cpu"] null' "--labels cpu"
exits 2 "--labels x" "$SPOOR" flamegraph --labels pid,x compiler.spoor
mkdir archive && cp compiler.spoor "archive/$(date -u +%Y%m%dT%H%M%S).000000Z-abababab-000001.spoor"
"$SPOOR" flamegraph -o - archive | page_data /dev/stdin >archive.json
is "$(jq -c '[.keys, (.rows.samples | add)]' archive.json)" "[[\"comm\",\"unit\",\"time\"],$(jq .samples report.json)]" "an archive's page is by service and time"
try flamegraph_times.py times.html "$SPOOR" compiler.spoor

# --- a picture for documents --------------------------------------------------------------------
exits 0 "--svg" "$SPOOR" flamegraph --svg compiler.spoor
ok "flamegraph.svg is sound" xmllint --noout flamegraph.svg
svg() # XPATH
{
	xmllint --xpath "$1" "${2:-flamegraph.svg}" 2>/dev/null
}
all=$(jq .samples report.json)
like "$(svg 'string(//*[local-name()="g"][1]/*[local-name()="title"])')" "^all \($all samples, .*100\.00 %\)" "its first box is all of it"
for comm in cc1plus as; do
	wanted=$(jq -r --arg c $comm '.rows[] | select(.comm == $c) | .samples' report.json)
	like "$(svg '//*[local-name()="title"]/text()')" "$comm \($wanted samples" "the box of $comm"
done
is "$(svg 'string(//*[local-name()="g"][1]/*[local-name()="rect"]/@width)')" "1180.0" "as wide as the picture"
"$SPOOR" flamegraph --svg -G -o back.svg compiler.spoor
ok "-G" xmllint --noout back.svg
leaf=$("$SPOOR" tree -G --json compiler.spoor | jq -r '[.[0].nodes[] | select(.depth == 1)][0] | "\(.name) (\(.samples) samples"')
like "$(svg '//*[local-name()="title"]/text()' back.svg)" "$(printf '%s' "$leaf" | sed 's/[][().*+?^${}|]/\\&/g')" "callers below what was sampled"
exits 2 "--svg --baseline" "$SPOOR" flamegraph --svg --baseline compiler.spoor compiler.spoor

# --- what has grown -----------------------------------------------------------------------------
"$SPOOR" flamegraph -o same.html --baseline compiler.spoor compiler.spoor
page_data same.html >same.json
is "$(jq -c '[.whos.side | unique[]]' same.json)" "[0,1]" "--baseline: both are in it"
is "$(jq -c .keys same.json)" '["comm","cgroup","unit","time"]' "split by what both have"
"$SPOOR" flamegraph -o - --labels unit,cpu --baseline compiler.spoor compiler.spoor | page_data /dev/stdin >cpus.json
ok "units and CPUs of both are the same" jq -e '. as $d | def of(side): [range($d.whos.side | length) | select($d.whos.side[.] == side)
	| [$d.texts[$d.whos.unit[.]], $d.whos.cpu[.]]] | unique; of(0) == of(1)' cpus.json
exits 2 "processes of two recordings" "$SPOOR" flamegraph --labels pid --baseline compiler.spoor compiler.spoor
"$SPOOR" flamegraph -o other.html --baseline compiler.spoor --comm cc1plus compiler.spoor
exits 1 "no such baseline" "$SPOOR" flamegraph -o none.html --baseline nothing.spoor compiler.spoor
ok "and no page" test ! -e none.html
try flamegraph_compared.py same.html

# What the baseline has lost is told, and an event without periods is drawn by samples.
python3 - <<END
import sys
sys.path.insert(0, "$TOP/tests/oracles")
import forge
def write(path, period):
    r = forge.Recording(b"cpu-clock")
    r.add(forge.comm(b"a", 1), *(forge.sample(0x1010, 1, time=10 + i, period=period) for i in range(3)))
    r.write(path)
write("no_period.spoor", 0)
END
cp "$TOP/tests/golden/0.1.0/lossy.spoor" .
exits 0 "a baseline that lost samples" "$SPOOR" flamegraph -o lost.html --baseline lossy.spoor lossy.spoor
page_data lost.html >lost.json
ok "tells so" jq -e '.lost == 440 and (.baseline | .name == "lossy.spoor" and .lost == 440 and any(.facts[]; . == "Total Lost Samples: 440"))' lost.json
"$SPOOR" flamegraph -o no_period.html no_period.spoor 2>err
try flamegraph_told.py no_period.html 3 '3 samples.'

# --- hostile names ------------------------------------------------------------------------------
python3 - <<END
import sys
sys.path.insert(0, "$TOP/tests/oracles")
import forge
NAMES = forge.NAMES + [
    b"</script><script>document.title='taken'</script>", b"<!--<script>", b"]]>", b"<img src=x onerror=alert(1)>",
    b"__proto__", b"constructor", b"~!", b"\xe2\x80\xa8\xe2\x80\xa9", b"\${1+1}", b"x" * 4000,
]
r = forge.Recording(b"</script><script>document.title='event'</script>")
records = []
for i, name in enumerate(NAMES):
    pid, at = i + 1, 0xFFFFFFFF80000000 + 16 * i
    records += [forge.comm(name[:4000], pid), forge.mmap(b"/" + name[:4000], 0x1000, 0x1000, pid)]
    records += [forge.sample(0x1010, pid, time=10 + i), forge.sample(at, pid, time=10 + i, misc=1)]
r.block(4, forge.ksyms([(0xFFFFFFFF80000000 + 16 * i, 0xFFFFFFFF80000010 + 16 * i, name, name)
                        for i, name in enumerate(NAMES)]))
r.add(*records)
r.write("names.spoor")
END
name='</title><script>document.title="title"</script>.spoor'
cp names.spoor "${name//\//_}"
exits 0 "hostile names" "$SPOOR" flamegraph -o names.html --title '</title><script>document.title="title"</script>' names.spoor
exits 0 "and of a file" "$SPOOR" flamegraph -o other.html "${name//\//_}"
is "$(grep -c '<script' other.html)" 3 "which makes no script"
is "$(grep -c '<script' names.html)" 3 "they make none"
exits 0 "--svg" "$SPOOR" flamegraph --svg -o names.svg --title '</svg>]]>' names.spoor
ok "--svg: and it is sound" xmllint --noout names.svg
unlike "$(cat names.svg)" '<script|<img' "--svg: with nothing else in it"
in_range "$(wc -c <names.svg)" 1000 200000 "--svg: long names are cut"
try flamegraph_hostile.py names.html

done_testing
