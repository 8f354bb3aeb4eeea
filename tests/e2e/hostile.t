#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings with right checksums and hostile contents (forge.py), and files that are not what
# they should be.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

forge() # CASE FILE
{
	python3 "$TOP/tests/e2e/forge.py" "$@" || bail "forge.py $1 failed"
}

unprintable() # FILE: bytes and characters that move a cursor or hide
{
	python3 - "$1" <<-'END'
		import sys
		text = open(sys.argv[1], "rb").read().decode("utf-8")
		hidden = "\u00ad\u200b\u202e\u2066\u3164\uffa0"
		print(sum(c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in hidden) for c in text))
	END
}

forge names names.spoor
exits 0 "a reader agrees that the manual's file is whole" "$SPOOR" verify names.spoor
for command in report "report --children -s comm,dso,sym,event" info dump "export -f folded"; do
	# shellcheck disable=SC2086
	exits 0 "$command: hostile names" "$SPOOR" $command names.spoor
	is "$(unprintable out)" 0 "$command: none of them reaches the terminal as it is"
done
is "$(grep -vcE ' 1$' out)" 0 "folded: a name makes no lines"
for command in "report --json" "report --json --children" "info --json" "verify --json" "dump --json"; do
	# shellcheck disable=SC2086
	exits 0 "$command: hostile names" "$SPOOR" $command names.spoor
	exits 0 "$command: is JSON" jq . out
done
"$SPOOR" report --json -s comm names.spoor >names.json
is "$(json names.json '[.rows[] | select(.comm == "")] | length')" 1 "an empty name is a name"

forge wraps wraps.spoor
for command in report "report --json" info dump "dump --json" "export -f folded" \
	"report --time 10%-90%" "verify"; do
	# shellcheck disable=SC2086
	exits 0 "$command: numbers at the end of their range" "$SPOOR" $command wraps.spoor
done

for command in report "report --json" dump "export -f folded"; do
	exits 1 "$command: more than a buffer to a full disk" \
		sh -c "\"$SPOOR\" $command names.spoor >/dev/full"
	like "$(cat err)" 'standard output: No space left' "$command: is told"
done

exits 1 "a device" "$SPOOR" verify /dev/zero
like "$(cat err)" 'is a device' "is called a device"
exits 1 "a device as standard input" sh -c "\"$SPOOR\" verify - </dev/zero"

done_testing
