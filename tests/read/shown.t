#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What only some hardware samples is shown as perf shows it: forged records, which perf and spoor read.
. "$(dirname "$0")/../lib.sh"
need_command jq perf nm python3

forge() # CASE: CASE.data as forged, CASE.spoor, and CASE.out, its export
{
	if ! python3 "$TOP/tests/oracles/forge_sampled.py" "$1" "$FIXTURES/touched" "$1.data" ||
		! "$SPOOR" import -q "$1.data" -o "$1.spoor" ||
		! "$SPOOR" export -f perf-data-file "$1.spoor" -o "$1.out" 2>/dev/null; then
		fail "forged: $1"
	fi
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

is "$("$SPOOR" info --json mem.spoor | jq -c '[.samples, .exact_samples, .throttled_ns]')" "[6,6,2500]" \
	"exact addresses and the time of throttling are told"
like "$("$SPOOR" info mem.spoor | tr -s ' \n' ' ')" \
	'events were throttled for 0.000003 s in all.*samples 6, 6 with the exact address of the event' \
	"in text, too"

# --- what was touched: keys and columns --------------------------------------------------

# Rows with the columns next to each other, without what stands around them, as neither sorts equal ones.
rows() # PROGRAM FILE ARGUMENT...
{
	local program=$1 file=$2
	shift 2
	if [ "$program" = perf ]; then
		perf report --stdio -q -t '|' -i "$file" "$@" 2>/dev/null </dev/null
	else
		"$SPOOR" report --force -q -t '|' "$file" "$@" 2>/dev/null
	fi | sed 's/ *| */|/g; s/^ *//; s/ *$//; /^$/d' | sort
}

same() # NAME CASE ARGUMENT...
{
	local name=$1 case=$2
	shift 2
	rows spoor "$case.spoor" "$@" >ours
	rows perf "$case.out" "$@" >perfs
	[ -s ours ] || fail "$name: rows"
	is "$(cat ours)" "$(cat perfs)" "$name"
}

same "mem, snoop, tlb, locked, blocked, by weight" mem --mem-mode \
	-F overhead,sample,local_weight,mem,sym,dso,snoop,tlb,locked,blocked
same "transactions, weight of all and of one" mem --mem-mode -F overhead,transaction,weight,local_weight
is "$(rows spoor mem.spoor -F sample,symbol_daddr,dso_daddr)" "\
1|[.] 0x0000000000007000|[unknown]
1|[.] touched_data+0x1010|touched
1|[.] touched_data+0x50|touched
1|[.] touched_zero+0x20|touched
2|[.] touched_data+0x10|touched" "symbols of data, zeroed at first or not"
is "$(rows spoor mem.spoor -F sample,phys_daddr,data_page_size,code_page_size)" "\
1|0x0|1G|2M
1|0x0|2M|4K
1|0x12345040|4K|4K
3|0x0|4K|4K" "addresses of memory, sizes of pages"
is "$(rows spoor mem.spoor -F sample,cgroup_id)" "6|4/0xf0000abc" "namespace of control groups"
same "which perf finds, too" mem -F sample,cgroup_id
is "$(rows spoor mem.spoor -F period,symbol_daddr --symbol main)" "250|[.] 0x0000000000007000" \
	"without --mem-mode periods count; filters of functions choose"
is "$("$SPOOR" report --force --json --mem-mode mem.spoor 2>/dev/null |
	jq -r '.rows[0] | [.period, .local_weight, .mem, .symbol, .symbol_daddr, .daddr_offset, .dso_daddr, .locked] |
		map(tostring) | join(" ")')" \
	"900 900 Remote RAM hit touch_zero touched_zero 0x20 touched No" "the same as JSON"

# --- branches ----------------------------------------------------------------------------

forge branch
same "branches: from, to, cycles" branch -b -F overhead,sample,dso_from,symbol_from,dso_to,symbol_to,cycles
same "as rows by default" branch -b
same "transactions that they were in, and ended" branch -b -F overhead,symbol_from,symbol_to,in_tx,abort
is "$(rows spoor branch.spoor -s mispredict,symbol_to -F sample,period)" "\
1|1|N/A|[.] main
1|1|N|[.] main
1|1|Y|[.] touch_zero
2|2|N|[.] touch_zero
3|3|N|[.] touch_data" "mispredicted; without -b, which the keys ask for"
is "$(rows spoor branch.spoor -b -F sample,symbol_from --symbol touch_data)" "3|[.] main" \
	"filters are for where they went"
is "$("$SPOOR" report --force --json -s cycles,in_tx,mispredict,symbol_from -b branch.spoor 2>/dev/null |
	jq -c '.rows[] | select(.abort == null and .in_tx) | [.cycles, .mispredict, .symbol_from]' | sort)" \
	'[0,"N/A","touch_data"]
[3,"N","main"]' "the same as JSON"
is "$(rows spoor branch.spoor -F sample,sym)" "3|[.] main" "samples are where they were taken"
is "$(rows spoor branch.spoor -b -F sample,symbol_to --focus touch_data)" "3|[.] touch_data" "of frames, too"
is "$(rows spoor branch.spoor -b -F sample,symbol_to --ignore touch_data)" "\
2|[.] main
3|[.] touch_zero" "and without some"
exits 2 "branches have no children" "$SPOOR" report -b -F sample,overhead_children branch.spoor
exits 1 "no branches" "$SPOOR" report -b mem.spoor
like "$(tr '\n' ' ' <err)" "no sample has branches: spoor record -b" "which is said, and not of filters"
for wrong in --children -g "-p main" --mem-mode "-s symbol_to,parent"; do
	# shellcheck disable=SC2086 # options and their arguments
	exits 2 "branches: not with $wrong" "$SPOOR" report -b $wrong branch.spoor
done
exits 2 "spoor diff: not by single samples" "$SPOOR" diff -s mem mem.spoor mem.spoor

# --- callers that are not in the chain ---------------------------------------------------

# What the CPU kept (LBR) instead of what was found at a wrong frame pointer; a thread in the kernel alone has none.
forge lbr
"$SPOOR" export --force -f folded lbr.spoor 2>/dev/null >stacks
is "$(sed 's/\[kernel[^;]*\]/K/' stacks | sort)" "\
touched;K 1
touched;main;touch_data;touch_zero 1
touched;main;touch_data;touch_zero;K 1" "call stacks of the CPU"
perf script -F comm,ip,sym -i lbr.out 2>/dev/null | awk '
	NF == 1 { comm = $1; stack = ""; next }
	NF == 2 { stack = ";" ($2 == "[unknown]" ? "K" : $2) stack; next }
	comm != "" { print comm stack, 1; comm = "" }' | sort >perf.stacks
is "$(sed 's/\[kernel[^;]*\]/K/' stacks | sort)" "$(cat perf.stacks)" "which perf finds, too"

# Linux 6.19: one record for all samples since the kernel was entered; of the last it never came.
forge deferred
is "$("$SPOOR" export --force -f folded deferred.spoor 2>/dev/null | sed 's/\[kernel[^;]*\]/K/' | sort)" "\
touched;K 1
touched;main;touch_zero;K 2
touched;touch_zero;K 1" "callers that came later"
is "$("$SPOOR" info --json deferred.spoor | jq -c '.records | [.SAMPLE, .CALLCHAIN_DEFERRED]')" "[4,2]" \
	"of samples that are all there"

# --- live ---------------------------------------------------------------------------------

# Each page of both arrays is written to once: as many faults, each at its address.
recording touched
is "$("$SPOOR" info --json touched.spoor | jq '.samples > 128')" true "page faults with addresses"
expected()
{
	local i
	for ((i = 0; i < 64; i++)); do
		printf '1|[.] touched_%s+0x%x|touch_%s\n' "$1" $((i * 4096 + $2)) "$1"
	done
}
rows spoor touched.spoor -F sample,symbol_daddr,sym | sed -n 's/|\[\.\] touch_/|touch_/p' |
	grep '+0x[0-9a-f]*[12]0|' | sort >faults
is "$(grep -c data faults) $(grep -c zero faults)" "64 64" "every page of an array, and of a zeroed one"
is "$(cat faults)" "$({ expected data 16; expected zero 32; } | sort)" "at its address"

done_testing
