#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What only some hardware samples is shown as perf shows it: forged records, which perf and spoor read.
# @together
. "$(dirname "$0")/../lib.sh"
need_command jq perf nm python3

forge() # CASE: CASE.data as forged, CASE.spoor, and CASE.out, its export
{
	python3 "$TOP/tests/e2e/forge_sampled.py" "$1" "$FIXTURES/touched" "$1.data" &&
		"$SPOOR" import -q "$1.data" -o "$1.spoor" &&
		"$SPOOR" export -f perf-data-file "$1.spoor" -o "$1.out" 2>/dev/null ||
		fail "forged: $1"
}

# --- the words of data_src ---------------------------------------------------------------

forge mem
perf script -i mem.out -F data_src 2>/dev/null | sed 's/^ *[0-9a-f]* //; s/ *$//' >perf.words
"$SPOOR" dump --json mem.spoor | jq -r 'select(.type == "SAMPLE") | .fields.data_src |
	"|OP \(.op)|LVL \(.lvl)|SNP \(.snoop)|TLB \(.tlb)|LCK \(.lock)|BLK  \(.blk)"' >words
is "$(grep -c . words)" 6 "every source has words"
is "$(cat words)" "$(cat perf.words)" "which are those of perf script"
like "$("$SPOOR" dump mem.spoor | grep SAMPLE | head -1)" \
	'data_src=.value=0x68100142 op="LOAD" lvl="L1 hit" snoop="None" tlb="L1 or L2 hit" lock="No" blk="N/A".' \
	"in the text of a dump, too"

done_testing
