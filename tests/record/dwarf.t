#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is recorded with --call-graph dwarf can be unwound: perf unwinds our export as it does its own.
. "$(dirname "$0")/../lib.sh"
need_command perf jq
need_record_all

# What share of the samples in the hot loop has all its callers.
whole() # PERF.DATA
{
	perf script -i "$1" -F comm,ip,sym 2>/dev/null | awk '
		BEGIN { RS = ""; all = whole = 0 }
		/deep_leaf/ { all++; whole += /deep_leaf.*deep_5.*deep_4.*deep_3.*deep_2.*deep_1.*main/ }
		END { printf "%d %.4f\n", all, all ? whole / all : 0 }'
}

ok "perf records" perf_record --call-graph dwarf -F 999 -o theirs.data -- "$FIXTURES/deep" 1000
exits 0 "spoor records" "$SPOOR" record --call-graph dwarf -o x.spoor -- "$FIXTURES/deep" 1000
exits 0 "an export" "$SPOOR" export -f perf-data-file -o ours.data x.spoor
read -r samples share <<<"$(whole theirs.data)"
diag "perf: $samples samples, $share with all callers"
in_range "$share" 0.95 1 "perf unwinds its own"
read -r samples share <<<"$(whole ours.data)"
diag "spoor: $samples samples, $share with all callers"
in_range "$samples" 300 2000 "the export has its samples"
in_range "$share" 0.95 1 "perf unwinds ours"

# A process that ran already: its maps come from /proc.
background "$FIXTURES/deep" 60000
running=$!
exits 0 "spoor records what runs already" "$SPOOR" record --call-graph dwarf -p $running --duration 1s -o x.spoor
exits 0 "an export" "$SPOOR" export -f perf-data-file -o ours.data x.spoor
read -r samples share <<<"$(whole ours.data)"
diag "running: $samples samples, $share with all callers"
in_range "$share" 0.95 1 "perf unwinds that as well"

# Others have no use for maps of data.
exits 0 "by frame pointers" "$SPOOR" record -p $running --duration 0.2s -o x.spoor
is "$("$SPOOR" dump --json x.spoor | jq -s '[.[] | select(.type == "MMAP2" and (.fields.prot | tostring | test("^(4|5|7|0x[4-7])$") | not))] | length')" \
	0 "no map is recorded that is not executable"

# Rings hold half a second of copied stacks: the watermark of a ring is 3/8 of its size.
ring_of() # OPTION...: bytes of a CPU's ring
{
	"$SPOOR" record -a --dry-run --json "$@" | jq -s 'flatten | .[0].attr.wakeup_events * 8 / 3'
}
is "$(ring_of --fp)" $((128 * 4096)) "a ring of samples without stacks"
is "$(ring_of --call-graph dwarf)" $((4 << 20)) "999 Hz of 8 KiB: 4 MiB"
is "$(ring_of --call-graph dwarf -F 400)" $((2 << 20)) "400 Hz: 2 MiB"
is "$(ring_of --call-graph dwarf,4096)" $((2 << 20)) "4 KiB each: 2 MiB"
is "$(ring_of -F 999 -e cpu-clock/call-graph=dwarf/)" $((4 << 20)) "the term of one event counts"
is "$(ring_of --call-graph dwarf,65528)" $((8 << 20)) "8 MiB at most"
is "$(ring_of --call-graph dwarf -F 19)" $((128 * 4096)) "19 Hz: as without"
is "$(ring_of --call-graph dwarf -m 64)" $((64 * 4096)) "-m decides"

done_testing
