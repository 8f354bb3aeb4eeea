#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/mutants.sh [PATTERN]: plants a fault, builds the unit programs that are to find it, and says which
# assertion did; one fault of the list below after another (those whose line matches PATTERN). Fails if one
# is not found. In a copy of the tree as it was committed; the fast tier has all of these programs.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
tree=$(mktemp -d)
trap 'cd / && rm -rf "$tree"' EXIT
git archive HEAD | tar -x -C "$tree"
cd "$tree"

# WHAT @ FILE @ EXPRESSION of sed @ PROGRAMS below tests/unit
faults()
{
	cat <<'END'
a record over the end of a ring @ recorder/ring/ring.c @ s/(size_t)r->size - from;/(size_t)r->size - from - 1;/ @ recorder/ring/test_ring
the same of a ring written backwards @ recorder/ring/back_ring.c @ s/(size_t)b->size - from;/(size_t)b->size - from - 1;/ @ recorder/ring/test_back_ring
room in a queue that is not there @ recorder/ground/queue.c @ s/until - q->tail_seen <= q->size)/until - q->tail_seen <= q->size + 64)/ @ recorder/ground/test_queue
the last CPU of a range @ recorder/ground/cpu_list.c @ s/cpu <= last/cpu < last/ @ recorder/ground/test_cpu_list
the modifiers u and k @ recorder/event/event_parser.c @ s/exclude_kernel = !kernel/exclude_kernel = kernel/ @ recorder/event/test_event_spec
the share of each clock @ recorder/event/clock_cost.c @ s,limit . limit / clocks + ..limit / clocks. : 0,limit, @ recorder/event/test_clock_cost
what a user may have of side-band @ recorder/writer/sideband_budget.c @ s/define SHARE 0.5/define SHARE 1.0/ @ recorder/writer/test_sideband_budget
a checksum of a block @ format/recording/reader_bytes.c @ s/ || crc32c(0, stored.p, stored.len) != h->payload_crc// @ format/recording/test_recording format/recording/test_damage
an EXIT @ format/model/task_model.c @ s/return apply_exit(m, r,.*/return 0;/ @ format/model/test_task_model
the length of a jitdump record @ format/jit/jitdump.c @ s/s.len > total - RECORD_BYTES/s.len < total - RECORD_BYTES/ @ format/jit/test_jitdump
the ID of a reading @ format/record/perf_sample.c @ s/read->format \& PERF_FORMAT_ID)/read->format \& PERF_FORMAT_LOST)/ @ format/record/test_read_counts format/record/test_perf_sample
the greatest number of a column @ format/columns/columns_ints.c @ s/v\[i\] - base >= escape/v[i] - base > escape/ @ format/columns/test_columns_ints format/columns/test_columns
a map that begins where another ends @ format/model/address_space.c @ s/n->map.end > addr/n->map.end >= addr/ @ format/model/test_task_model
the first byte of a symbol @ symbolizer/object/symtab.c @ s/starts\[low + half\] <= vaddr/starts[low + half] < vaddr/ @ symbolizer/object/test_symtab
the register of a rule @ symbolizer/unwind/cfi_rows.c @ s/CFI_REGISTER, (uint64_t)n\[1\]/CFI_REGISTER, (uint64_t)n[0]/ @ symbolizer/unwind/test_cfi_rows
a sign of an offset of a rule @ symbolizer/unwind/cfi_rows.c @ s/return set_factored(m, reg, CFI_AT_CFA, -n\[1\])/return set_factored(m, reg, CFI_AT_CFA, n[1])/ @ symbolizer/unwind/test_cfi_rows
how long a wait was @ symbolizer/profile/wait_samples.c @ s/wait->until_ns - wait->from_ns/wait->from_ns - wait->until_ns/ @ symbolizer/profile/test_wait_samples
a filter by process @ symbolizer/profile/filter.c @ s/\&\& pid \&\& tid/\&\& tid/ @ symbolizer/profile/test_filter
which file is the oldest @ daemon/archive/retention.c @ s/x->end_s < y->end_s ? -1 : 1/x->end_s > y->end_s ? -1 : 1/ @ daemon/archive/test_retention
half of a frequency @ daemon/stream/governor.c @ s/configured_hz >> g->level/configured_hz >> (g->level \/ 2)/ @ daemon/stream/test_governor
calls of two kinds at once @ daemon/control/varlink.c @ s/call.upgrade > 1/call.upgrade > 2/ @ daemon/control/test_varlink
a thread that hangs @ daemon/process/watchdog.c @ s/c->since_ns < WATCHDOG_STUCK_NS/c->since_ns > WATCHDOG_STUCK_NS/ @ daemon/process/test_watchdog
END
}

missed=0
while IFS='@' read -r what file expression programs; do
	file=${file// /} caught=
	expression=${expression# }
	sed -i "${expression% }" "$file"
	if cmp -s "$file" "$top/$file"; then
		echo "$what: the fault cannot be planted in $file" >&2
		exit 1
	fi
	for program in $programs; do
		program=build/tests/unit/$program
		make -s -j"$(nproc)" "$program" >log 2>&1 || { cat log >&2; exit 1; }
		TEST_TIMEOUT=120 tests/run.sh "$program" >log 2>&1 || :
		caught=$(sed -nE '/^not ok/ { s/^not ok [0-9]+ - //; p; q }' log)
		[ -n "$caught" ] || ! grep -q '^1\.\.0*$' log || caught="it died"
		[ -z "$caught" ] || break
	done
	printf '%-40s %-42s %s\n' "$what" "$file" "${caught:+${program#build/tests/unit/}: $caught}"
	[ -n "$caught" ] || missed=$((missed + 1))
	cp -p "$top/$file" "$file"
	touch "$file"
done < <(faults | grep -e "${1:-}")
echo "$missed not found"
[ $missed -eq 0 ]
