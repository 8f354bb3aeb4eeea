#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What only some hardware samples, recorded: sources, weights and pages of memory accesses (IBS, PEBS), transactions,
# branches and call stacks of LBR. A shim opens the events and fills their rings (tests/fixtures/made_samples.h) from a
# list, with which the recording, its reports and what perf reads of its export are compared.
. "$(dirname "$0")/../lib.sh"
need_command jq perf nm python3 unshare
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "mounting a made sysfs needs root"

pmu() # NAME TYPE FORMAT EVENTS: lists of NAME=TEXT
{
	local pair

	mkdir -p "devices/$1/format" "devices/$1/events"
	echo "$2" >"devices/$1/type"
	for pair in $3; do echo "${pair#*=}" >"devices/$1/format/${pair%%=*}"; done
	for pair in ${4-}; do echo "${pair#*=}" >"devices/$1/events/${pair%%=*}"; done
}

machine() # NAME
{
	export SPOOR_MACHINE=$1
	rm -rf devices
	case $1 in
	intel) pmu cpu 4 "event=config:0-7 umask=config:8-15 ldlat=config1:0-15" \
		"mem-loads=event=0xcd,umask=0x1,ldlat=3 mem-stores=event=0xd0,umask=0x82" ;;
	amd*)
		pmu cpu 4 event=config:0-7
		pmu ibs_op 11 cnt_ctl=config:19
		pmu ibs_fetch 12 rand_en=config:57
		;;
	esac
}

there() # COMMAND...: on that machine
{
	LD_PRELOAD=$PRELOADS/libmachine.so unshare --mount sh -c '
		mount --bind devices /sys/bus/event_source/devices && exec "$@"' - "$@"
}

mkfifo gate
background sh -c 'exec "$FIXTURES/touched" wait <gate'
sampled=$!
exec 7>gate
mapped() { grep -q touched "/proc/$sampled/maps"; }
wait_for 20 mapped || bail "no program to sample"
base=$((0x$(awk -F- '/touched/ { print $1; exit }' "/proc/$sampled/maps")))
nm "$FIXTURES/touched" >symbols
at() # SYMBOL [OFFSET]
{
	printf '0x%x' $((base + 0x$(awk -v s="$1" '$3 == s { print $1 }' symbols) + ${2:-0}))
}

record() # NAME OPTION...: x.spoor and x.data, its export
{
	local name=$1
	shift
	SPOOR_SAMPLES=$TMP/samples exits 0 "$name: recorded" there "$SPOOR" record -p $sampled -o x.spoor "$@" -- true
	is "$("$SPOOR" info --json x.spoor | jq -r '[.samples, .lost, .bad_records] | join(" ")')" \
		"$(wc -l <samples) 0 0" "$name: each sample, and all can be read"
	"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>export.err || diag_file export.err
}

# The list, a line a sample: ip period addr src weight ins_lat phys_addr sizes of pages, and txn.
cat >asked.py <<'END'
import sys
def size(n):
    return "N/A" if not n else f"{n >> 20}M" if n >> 20 else f"{n >> 10}K"
for line in open("samples"):
    s = dict(word.split("=") for word in line.split())
    n = {k: int(s.get(k, "0"), 0) for k in
         ("ip", "period", "addr", "src", "weight", "phys", "data_page", "code_page", "txn")}
    words = [f"{n['ip']:x}", n["period"], f"{n['addr']:x}", f"{n['src']:x}", n["weight"] & 0xffffffff,
             n["weight"] >> 32 & 0xffff, f"{n['phys']:x}", size(n["data_page"]), size(n["code_page"])]
    if "txn" in sys.argv:
        words.append(f"{n['txn']:x}")
    print(*words)
END

rows() # PROGRAM ARGUMENT...: of a report, sorted, without what stands around columns
{
	local program=$1
	shift
	if [ "$program" = perf ]; then
		perf report --stdio -q -t '|' -i x.data "$@" 2>/dev/null </dev/null
	else
		"$SPOOR" report --force -q -t '|' x.spoor "$@" 2>/dev/null
	fi | sed 's/ *| */|/g; s/^ *//; s/ *$//; /^$/d' | sort
}

like_perf() # NAME ARGUMENT...
{
	local name=$1
	shift
	rows spoor "$@" >ours
	rows perf "$@" >perfs
	same "$name" ours perfs
}

data=$(at touched_data 16) zero=$(at touched_zero 32)
# Loads that hit L1 and miss L3, a store, a locked load of other's RAM; with and without an address.
cat >samples <<END
pid=$sampled ip=$(at touch_data) exact=1 period=1000 addr=$data weight=7 src=$((2 | 0x0a << 5 | 2 << 19 | 0x1a << 26)) phys=0x12345010 data_page=4096 code_page=4096
pid=$sampled ip=$(at touch_data 4) exact=1 period=1000 addr=$data weight=$((30 | 21 << 32)) src=$((2 | 0x44 << 5 | 0x10 << 19 | 0x24 << 26 | 2 << 24)) txn=$((0x600000002 | 4)) data_page=2097152 code_page=4096
pid=$sampled ip=$(at touch_zero) exact=1 period=5000 addr=$zero weight=$((900 | 350 << 32 | 9 << 48)) src=$((2 | 0x02 << 5 | 0xd << 33 | 1 << 37 | 4 << 19 | 0x12 << 26)) phys=0xfe000020 data_page=1073741824 code_page=2097152
pid=$sampled ip=$(at touch_zero 4) period=200 addr=$zero weight=2 src=$((4 | 0x82 << 5 | 1 << 19 | 0x12 << 26)) txn=0x30 data_page=4096 code_page=4096
pid=$sampled ip=$(at main) period=1
END
memory() # NAME OPTION...
{
	local name=$1
	shift
	record "$name" --call-graph none -d -W --phys-data --data-page-size --code-page-size "$@"
	python3 asked.py >asked
	"$SPOOR" dump --json x.spoor | jq -r 'select(.type == "SAMPLE") | .fields |
		def size: if . == 0 then "N/A" elif . >= 1048576 then "\(. / 1048576)M" else "\(. / 1024)K" end;
		[.ip, .period, .addr, .data_src.value, .weight.var1, .weight.var2, .phys_addr, (.data_page_size | size),
		(.code_page_size | size)] | map(tostring | ltrimstr("0x")) | join(" ")' >dumped
	same "$name: recorded as the CPU said it" asked dumped
	"$SPOOR" export -f json x.spoor | jq -c '.values | [.addr, .weight, .ins_lat // 0, .data_src, .transaction, .phys_addr, .data_page_size, .code_page_size]' >got
	"$SPOOR" dump --json x.spoor | jq -c 'select(.type == "SAMPLE") | .fields | [.addr, (.weight.var1? // .weight), (.weight.var2? // 0),
		.data_src.value, .transaction.value?, .phys_addr, .data_page_size, .code_page_size]' >want
	same "$name: the json export has its values" want got
	perf script -i x.data -F ip,addr,period,weight,ins_lat,data_src,phys_addr,data_page_size,code_page_size 2>perf.err |
		sed 's/|OP.*|BLK  *[^ ]*//' | awk '{ print $6, $1, $2, $3, $4, $5, $7, $8, $9 }' >perf.script
	same "$name: perf script of the export has the same values" asked perf.script || diag_file perf.err
	like_perf "$name: memory accesses in words, as perf report has them" --mem-mode \
		-F overhead,sample,local_weight,mem,sym,snoop,tlb,locked,blocked
	is "$(rows spoor -F sample,symbol_daddr,phys_daddr,data_page_size)" "\
1|[.] 0x0000000000000000|0x0|N/A
1|[.] touched_data+0x10|0x0|2M
1|[.] touched_data+0x10|0x12345010|4K
1|[.] touched_zero+0x20|0x0|4K
1|[.] touched_zero+0x20|0xfe000020|1G" "$name: by what was touched"
	is "$("$SPOOR" info --json x.spoor | jq .exact_samples)" 3 "$name: exact addresses are told"
}

machine intel
memory "PEBS, loads" -e cpu/mem-loads,ldlat=30/P --transaction
python3 asked.py txn | awk '{ print $NF }' >asked
"$SPOOR" dump --json x.spoor | jq -r 'select(.type == "SAMPLE") | .fields.transaction.value | ltrimstr("0x")' >dumped
same "PEBS: transactions" asked dumped
like_perf "PEBS: transactions, as perf report has them" -F sample,transaction,sym
memory "PEBS, stores" -e cpu/mem-stores/pp
machine amd-6.2
memory "IBS, operations" -e ibs_op//
memory "IBS, micro-operations" -e ibs_op/cnt_ctl=1/
cat >samples <<END
pid=$sampled ip=$(at touch_data) exact=1 period=100000 addr=$(at touch_data) phys=0x12345139 raw=040000000102030405060708090a0b0c
pid=$sampled ip=$(at touch_zero) exact=1 period=100000 addr=$(at touch_zero) phys=0x12345156 raw=040000000d0e0f101112131415161718
END
record "IBS, fetches" --call-graph none -d -R -e ibs_fetch/rand_en=1/
"$SPOOR" dump --json x.spoor | jq -r 'select(.type == "SAMPLE") | .fields | [.ip, .addr, .raw] | join(" ")' >dumped
sed 's/.* ip=\([^ ]*\) .* addr=\([^ ]*\) .* raw=\(.*\)/\1 \2 \300000000/' samples >asked # padded to whole words
same "IBS, fetches: addresses, and the registers as they are" asked dumped
perf script -D -i x.data 2>/dev/null | sed -n 's/^\.  [0-9a-f]*: *\(\([0-9a-f][0-9a-f] \)*\).*/\1/p' | tr -d ' \n' >bytes
is "$(sed 's/.* raw=//' samples | while read -r raw; do grep -o "$raw" bytes; done)" "$(sed 's/.* raw=//' samples)" \
	"IBS, fetches: perf has them of the export"

machine intel
call="$(at main 4):$(at touch_data)" back="$(at touch_data 8):$(at main 9)" loop="$(at touch_zero 16):$(at touch_zero 4)"
cat >samples <<END
pid=$sampled ip=$(at main 16) period=1000 branches=$back:$((2 | 12 << 4)),$call:$((2 | 3 << 4))
pid=$sampled ip=$(at main 16) period=1000 branches=$loop:$((1 | 40 << 4)),$loop:$((2 | 2 << 4)),$call:$((2 | 3 << 4))
pid=$sampled ip=$(at main 16) period=1000 branches=$call:$((2 | 4 | 3 << 4)),$back:$((4 | 8))
pid=$sampled ip=$(at main 16) period=1000
END
sed 's/.* branches=//; /=/d' samples | tr ',:' '\n ' | while read -r from to flags; do
	mark=-
	((flags & 2)) && mark=P
	((flags & 1)) && mark=M
	printf '%s/%s/%s/%s/%s/%d/\n' "$from" "$to" $mark "$( ((flags & 4)) && echo X || echo -)" \
		"$( ((flags & 8)) && echo A || echo -)" $((flags >> 4))
done >asked
for how in -b '-j any,u' '-j any_call,any_ret,u,hw_index'; do
	# shellcheck disable=SC2086 # an option and its argument
	record "LBR, $how" --call-graph none $how -e cycles:u
	"$SPOOR" dump --json x.spoor | jq -r 'select(.type == "SAMPLE") | .fields.branch_stack.entries[] |
		"\(.from)/\(.to)/\(if .mispred then "M" elif .predicted then "P" else "-" end)/\(
		if .in_tx then "X" else "-" end)/\(if .abort then "A" else "-" end)/\(.cycles // 0)/"' >dumped
	same "LBR, $how: branches as the CPU said them" asked dumped
	"$SPOOR" export -f json x.spoor | jq -c '.values.branches // [] | map("\(.from)/\(.to)")' >got
	"$SPOOR" dump --json x.spoor | jq -c 'select(.type == "SAMPLE") | .fields.branch_stack.entries | map("\(.from)/\(.to)")' >want
	same "LBR, $how: the json export has them" want got
	perf script -i x.data -F brstack 2>/dev/null | tr -s ' ' '\n' | grep . >perf.script
	same "LBR, $how: perf script of the export has the same" asked perf.script
	like_perf "LBR, $how: from where to where, as perf report has it" -b -F overhead,sample,symbol_from,symbol_to,cycles
done
cat >samples <<END
pid=$sampled ip=$(at touch_zero 6) period=1000 chain=0xbad branches=$(at touch_data 8):$(at touch_zero):0,$(at main 4):$(at touch_data):0
pid=$sampled ip=$(at touch_data 4) period=1000 chain=0xbad branches=$(at main 4):$(at touch_data):0
END
record "LBR, call stacks" --call-graph lbr -e cycles:u
"$SPOOR" export --force -f folded x.spoor 2>/dev/null | sort >got
printf '%s\n' 'touched;main;touch_data 1' 'touched;main;touch_data;touch_zero 1' >want
same "LBR, call stacks: callers are those that the CPU kept" want got
perf script -i x.data -F comm,ip,sym 2>/dev/null | awk '
	NF == 1 { comm = $1; stack = ""; next }
	NF == 2 { stack = ";" $2 stack; next }
	comm != "" { print comm stack, 1; comm = "" }' | sort >got
same "LBR, call stacks: which perf finds in the export" want got
machine amd-6.2
exits 1 "branches where there are none" there "$SPOOR" record -p $sampled -b -e cycles -o y.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'branches' "are refused in words"
nok "and nothing is written" test -e y.spoor
done_testing
