#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 80s
#
# The page of spoor heatmap in a browser: cells of the right times, nothing asked of the network, and a selection
# whose command finds just the samples that it tells; hostile names do nothing.
. "$(dirname "$0")/../lib.sh"
need_command jq chromium chromedriver
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import selenium' 2>/dev/null || skip_all "python3-selenium is not installed"
need_record_all

commands_hold() # NAME: each selection's command has as many samples as the selection
{
	local samples command got nr=0
	while read -r samples command; do
		got=$(eval "${command/#spoor/\"\$SPOOR\"} --json" 2>err | jq .samples)
		is "$got" "$samples" "$1: the samples of: ${command%% /*}"
		nr=$((nr + 1))
	done < <(sed -n 's/^command //p' "$1.checks")
	in_range $nr 2 99 "$1: there are commands"
}

# Pages are NAME.html with NAME.json; what is found of each is in NAME.checks. One browser opens all of them.
pages=()
try() # NAME
{
	pages+=("$1")
}
try_all()
{
	local name line status

	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests/oracles timeout 600 "$PYTHON" "$TOP/tests/oracles/page_tries.py" \
		"$TOP/tests/oracles/heat_page.py" "${pages[@]}" 2>said
	status=$?
	for name in "${pages[@]}"; do
		while read -r line; do
			case $line in
			"ok - "*) pass "$name: ${line#ok - }" ;;
			"not ok - "*) fail "$name: ${line#not ok - }" ;;
			esac
		done <"$name.checks"
		grep -qx 'ok - to the end' "$name.checks" || fail "$name: comes to its end" "exit $status"
		commands_hold "$name"
	done
	[ $status -eq 0 ] || diag_file said
}

evil="</script>'&"
mkdir names
cp "$FIXTURES/burn" "names/${evil//\//_}"
cat >load.sh <<'SH'
"$FIXTURES/burn" 700 >/dev/null
"./names/${evil//\//_}" 900 >/dev/null &
sleep 0.3
"$FIXTURES/burn" 1500 >/dev/null
wait
SH
export evil FIXTURES
"$SPOOR" record -a -e cpu-clock -F 999 -o x.spoor -- bash load.sh 2>err || bail "no recording: $(cat err)"

exits 0 "a page of parts" "$SPOOR" heatmap -o parts.html x.spoor
"$SPOOR" heatmap --json x.spoor >parts.json
try parts
exits 0 "a page of rows" "$SPOOR" heatmap --by comm -o rows.html x.spoor
"$SPOOR" heatmap --by comm --json x.spoor >rows.json
try rows
exits 0 "to standard output" "$SPOOR" heatmap --by comm -o - x.spoor
ok "the same page" cmp out rows.html
is "$(grep -c '</script>' rows.html)" 3 "a name ends no script"

exits 0 "chosen samples" "$SPOOR" heatmap --comm burn -o chosen.html x.spoor
"$SPOOR" heatmap --comm burn --json x.spoor >chosen.json
try chosen
exits 0 "nobody's" "$SPOOR" heatmap --comm nobody -o empty.html x.spoor
like "$(cat err)" 'no sample' "is said"

# What a row is called like is not always what chooses it.
"$SPOOR" heatmap --by comm --comm 'burn,bash' -o both.html x.spoor 2>err
"$SPOOR" heatmap --by comm --comm 'burn,bash' --json x.spoor >both.json
try both
exits 0 "fewer rows" "$SPOOR" heatmap --by comm --max 1 -o fewer.html x.spoor
"$SPOOR" heatmap --by comm --max 1 --json x.spoor >fewer.json
try fewer
python3 - <<END
import sys
sys.path.insert(0, "$TOP/tests/oracles")
import forge
NAMES = [b"a", b"a,b", b"*", b"x\\y", b"\xff", b"b c'"]
r = forge.Recording(b"cpu-clock")
records = []
for i, name in enumerate(NAMES):
    records += [forge.comm(name, i + 1)] + [forge.sample(0x1010, i + 1, time=100000000 * (k + 1) + i, period=1000000) for k in range(i + 1)]
r.add(*records)
r.write("odd.spoor")
END
exits 0 "odd names" "$SPOOR" heatmap --by comm -o odd.html odd.spoor
"$SPOOR" heatmap --by comm --json odd.spoor >odd.json
try odd
python3 - <<END
import sys
sys.path.insert(0, "$TOP/tests/oracles")
import forge
r = forge.Recording(b"cpu-clock")
records = []
for i in range(45):
    records += [forge.comm(b"c%d" % i, i + 1)] + [forge.sample(0x1010, i + 1, time=100000000 * (k + 1) + i, period=1000000) for k in range(20)]
r.add(*records)
r.write("many.spoor")
END
"$SPOOR" heatmap --by comm --max 45 -o many.html many.spoor
"$SPOOR" heatmap --by comm --max 45 --json many.spoor >many.json
try many
exits 0 "units" "$SPOOR" heatmap --by unit -o units.html x.spoor
"$SPOOR" heatmap --by unit --json x.spoor >units.json
try units
id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
sed "s/\"name\":\"[^\"]*\"/\"name\":\"docker-$id.scope\"/g" units.html >ids.html
cp units.json ids.json
try ids

mkdir archive
cp x.spoor archive/20261121T010000.000000Z-abababab-000001.spoor
exits 2 "--each: who looks at a page chooses its scale" "$SPOOR" heatmap --each -o each.html x.spoor
nok "nothing is written then" test -e each.html
exits 0 "of an archive" "$SPOOR" heatmap --by cpu -o archive.html archive
"$SPOOR" heatmap --by cpu --json archive >archive.json
try archive

try_all
is "$(grep -c '^row 1' odd.checks)" 5 "odd: names that can be written are chosen"
is "$(grep '^row 0' odd.checks)" 'row 0 \xff' "odd: the page says which one is not"
like "$(grep '^row' ids.checks)" 'docker-0123456789ab\.scope' "ids of containers have 12 digits"
like "$(grep '^command' archive.checks)" "--since '?[0-9-]+ [0-9:.]+[+-][0-9:]+'? --until " "by the time of day"
done_testing
