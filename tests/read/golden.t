#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of earlier versions (tests/golden) say what they said then.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

# What `info` said then it says now; there may be more.
same() # THEN NOW
{
	python3 - "$1" "$2" <<-'END'
		import json, sys

		def differs(then, now, where):
		    if isinstance(then, dict) and isinstance(now, dict):
		        return [d for k in then for d in differs(then[k], now.get(k), f"{where}.{k}")]
		    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
		        return [d for i in range(len(then)) for d in differs(then[i], now[i], f"{where}[{i}]")]
		    return [] if then == now else [f"{where}: {then!r} then, {now!r} now"]

		then, now = (json.load(open(f)) for f in sys.argv[1:])
		print("\n".join(differs(then, now, "")), end="")
	END
}

read_one() # FILE
{
	local name=${1#"$TOP/tests/golden/"} twin=${1%.spoor} status

	"$SPOOR" info --json "$1" >now.json 2>err
	is $? 0 "$name: info" || diag_file err
	is "$(same "$twin.json" now.json)" "" "$name: and it says the same"
	is "$("$SPOOR" dump "$1" 2>err | sha256sum | cut -d' ' -f1)" "$(cat "$twin.dump.sha256")" \
		"$name: dump, likewise"
	"$SPOOR" verify "$1" >verify.out 2>&1
	status=$?
	if [ "$(jq '.closed and .damaged_blocks == 0 and (.header_damaged | not)' "$twin.json")" = true ]; then
		is $status 0 "$name: is clean" || diag_file verify.out
	else
		is $status 3 "$name: is damaged but readable" || diag_file verify.out
	fi
	exits 0 "$name: report" "$SPOOR" report "$1"
}

files=0
for f in "$TOP"/tests/golden/*/*.spoor; do
	read_one "$f"
	cat "${f%.spoor}.json" >>all.json
	files=$((files + 1))
done
in_range "$files" 13 1000 "the corpus is there"
# Nothing that a file can hold is missing from it.
jq -r '.blocks | keys[]' all.json | sort -u >have
for type in META STATE RECORDS KSYMS BUILDIDS LOSS INDEX END GAP RATE FOREIGN; do
	ok "it has $type blocks" grep -qx $type have
done
is "$(jq -s 'map(select(.closed | not)) | length > 0' all.json)" true "and a file that was killed"
is "$(find "$TOP/tests/golden" -name '*.spoor' -size +200k | wc -l)" 0 "none of them is large"
done_testing
