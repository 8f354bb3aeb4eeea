#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# Speedscope and Firefox Profiler themselves open what is exported for them, and show the samples of each thread and
# of each function that spoor report tells: of a compiler, of Python, and of processes that come and go.
# `.ci/deps viewers` installs both.
. "$(dirname "$0")/../lib.sh"
need_command jq python3 node chromium chromedriver
newest() # NAME
{
	find "${SPOOR_MACHINES:-/var/cache/spoor-test}/npm" -maxdepth 1 -name "$1-*" 2>/dev/null | sort -V | tail -n 1
}
speedscope=$(newest speedscope)/dist/release
profiler=$(newest firefox-devtools-profiler-cli)/dist/profiler-cli.js
for file in "$speedscope/index.html" "$profiler"; do
	[ -e "$file" ] || skip_all "speedscope and Firefox Profiler are not there: .ci/deps viewers brings them"
done
PYTHON=/usr/bin/python3 # Debian's
"$PYTHON" -c 'import selenium, jsonschema' 2>/dev/null || skip_all "python3-selenium or python3-jsonschema is not installed"
need_recordings compiler python storm

viewer() # PROGRAM ARGUMENT...: what it understands, in seen
{
	PYTHONDONTWRITEBYTECODE=1 timeout 400 "$PYTHON" "$TOP/tests/oracles/viewers.py" "$@" >seen 2>err && return
	diag_file err
	return 1
}

# Functions of each thread, by name: thread, name, own samples, all samples. Names in brackets stand for what has none,
# and are each export's own. Of several functions of one name (in other objects) no total is the name's: "null".
understood()
{
	jq -r 'select(.samples) | .thread as $t | .functions[] | select(.name | startswith("[") | not) |
		"\($t)\t\(.name)\t\(.self)\t\(.total)"' seen | LC_ALL=C sort
}
whose() # KEY: a filter for jq: what its rows are of
{
	if [ "$1" = comm ]; then echo .comm; else echo '"\(.pid) \(.tid)"'; fi
}
reported() # FILE KEY: the same of spoor report
{
	"$SPOOR" report --children --json -s "$2,sym" "$1" 2>err |
		jq -r '.rows[] | select(.symbol | startswith("[") | not) |
		"\('"$(whose "$2")"')\t\(.symbol)\t\(.samples)\t\(.children_samples)"' | LC_ALL=C sort
}
agree() # FILE KEY WHAT: samples of each command or thread, and of each of their functions
{
	jq -r 'select(.samples) | "\(.thread)\t\(.samples)"' seen | LC_ALL=C sort >got
	"$SPOOR" report --json -s "$2" "$1" 2>err | jq -r '.rows[] | "\('"$(whose "$2")"')\t\(.samples)"' | LC_ALL=C sort >wanted
	same "... the samples of each $3" got wanted
	understood >got
	reported "$1" "$2" |
		awk -F '\t' -v OFS='\t' 'NR == FNR { seen[$1, $2] = $4; next }
		{ key = $1 OFS $2; alone[key] += $3; all[key] = seen[$1, $2] == "null" ? "null" : $4 }
		END { for (key in all) print key, alone[key], all[key] }' got - | LC_ALL=C sort >wanted
	same "... and of each of its functions" got wanted
}

for name in compiler python storm; do
	"$SPOOR" export -f speedscope -o $name.json $name.spoor 2>err
	if ok "$name: speedscope opens it" viewer speedscope "$speedscope/index.html" "$speedscope/file-format-schema.json" $name.json; then
		agree $name.spoor comm command
		# The table on the screen is of the first profile, the heaviest functions above.
		jq -r --arg first "$(jq -rs '.[0].thread' seen)" 'select(.thread == "table") | .functions[] |
			select(.name | startswith("[") | not) | "\($first)\t\(.name)\t\(.self)"' seen | LC_ALL=C sort >rows
		ok "... its table has functions" [ -s rows ]
		cut -f 1-3 wanted >report.rows
		is "$(LC_ALL=C comm -23 rows report.rows)" "" "... with their samples"
	fi
	"$SPOOR" export -f firefox -o $name.firefox $name.spoor 2>err
	if ok "$name: Firefox Profiler opens it" viewer firefox "$profiler" $name.firefox; then
		agree $name.spoor pid,tid thread
	fi
done
done_testing
