#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings with right checksums and hostile contents (forge.py), and files that are not what
# they should be.
. "$(dirname "$0")/../lib.sh"
need_command jq python3

forge() # CASE FILE
{
	python3 "$TOP/tests/oracles/forge.py" "$@" || bail "forge.py $1 failed"
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

# Whoever makes a FIFO may never write to it, nor go away.
mkfifo fifo.spoor
mkdir archive && mkfifo archive/20260102T030405.000000Z-boot-000001.spoor
cp names.spoor archive/20260102T030406.000000Z-boot-000002.spoor
for command in report info dump verify "export -f folded" "export -f perf-data -o x" "import -o x"; do
	# shellcheck disable=SC2086
	exits 1 "$command: a FIFO is not waited for" timeout 20 "$SPOOR" $command fifo.spoor
	like "$(cat err)" 'is a FIFO; what comes through one is read from standard input' "$command: and is called one"
done
exits 0 "an archive with a FIFO in it" timeout 20 "$SPOOR" report -i archive
exits 1 "--kallsyms: a FIFO" timeout 20 "$SPOOR" report --kallsyms fifo.spoor names.spoor
like "$(cat err)" 'not a regular file' "--kallsyms: it is told"
exits 1 "--vmlinux: a FIFO" timeout 20 "$SPOOR" report --vmlinux fifo.spoor names.spoor
exits 0 "a pipe" timeout 20 sh -c "cat names.spoor | \"$SPOOR\" report -"
exits 0 "a pipe by name" timeout 20 bash -c "\"$SPOOR\" report <(cat names.spoor)"
exits 0 "standard input by name" timeout 20 sh -c "cat names.spoor | \"$SPOOR\" report /dev/stdin"
background sh -c 'cat names.spoor >fifo.spoor'
exits 0 "a FIFO as standard input" timeout 20 sh -c "\"$SPOOR\" report - <fifo.spoor"

# Where the file of a map is looked for.
mkdir -p fs/bin && mkfifo fs/bin/it
python3 - <<END
import sys
sys.path.insert(0, "$TOP/tests/oracles")
import forge
r = forge.Recording()
r.add(forge.comm(b"c", 1), forge.mmap(b"/bin/it", 0x1000, 0x1000, 1), forge.sample(0x1010, 1))
r.write("mapped.spoor")
END
exits 0 "--symfs: a FIFO" timeout 20 "$SPOOR" report --symfs fs mapped.spoor

done_testing
