#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 50s
#
# Options of perf record, in spoor record: each adds to the attr what perf adds (perf evlist -v).
. "$(dirname "$0")/../lib.sh"
need_command perf
need_record_all

attr_of() # FILE: what the options may change of the first event's attr, a word a line
{
	perf evlist -v -i "$1" 2>/dev/null | grep -v dummy | head -n 1 | tr ',' '\n' | sed 's/^ *//; s/: /=/' |
		awk -F= '/^sample_type=/ { n = split($2, a, "|"); for (i = 1; i <= n; i++) print a[i] }
			/^(exclude_user|exclude_kernel|exclude_callchain|inherit|branch_sample_type|sample_regs|watermark|wakeup_events)/' | sort
}

by_spoor() # OPTION...
{
	rm -f x.spoor x.data
	"$SPOOR" record -e page-faults -c 1 -g -o x.spoor "$@" -- true >out 2>err &&
		"$SPOOR" export -f perf-data-file -o x.data x.spoor >>out 2>>err && attr_of x.data
}

by_perf() # OPTION...
{
	perf_record -q -e page-faults -c 1 -g -o p.data "$@" -- true >/dev/null 2>&1 && attr_of p.data
}

changed() # BEFORE AFTER
{
	diff "$1" "$2" | sed -n 's/^\([<>]\) /\1/p'
}

# What spoor has without the option it has with it.
missing() # FILE-OF-CHANGES
{
	sed 's/^/>/' spoor.plain | grep -vxFf - "$1" | xargs
}

by_spoor >spoor.plain
by_perf >perf.plain
for option in -d -W --phys-data --data-page-size --code-page-size --transaction --all-user --all-kernel \
	--user-callchains --kernel-callchains -i '-d -W' '--all-user --user-callchains' -N -B -s -R \
	--user-regs=ax,SP --intr-regs=ip; do
	# shellcheck disable=SC2086 # several options
	by_spoor $option >spoor.with
	# shellcheck disable=SC2086
	by_perf $option >perf.with
	changed spoor.plain spoor.with >spoor.changed
	changed perf.plain perf.with >perf.changed
	is "$(xargs <spoor.changed)" "$(missing perf.changed)" "$option: as perf has it"
done
# perf has it since 6.12, without the address of -d.
by_spoor --sample-mem-info >spoor.with
is "$(changed spoor.plain spoor.with)" ">DATA_SRC" "--sample-mem-info"
by_spoor -d >/dev/null
ok "-d: maps of data are recorded" sh -c '"$1" dump x.spoor | grep -q "MMAP2.*mmap_data=1\|MMAP2.*MMAP_DATA\|MMAP2.*mmap_data"' - "$SPOOR"
like "$("$SPOOR" dump x.spoor | grep -m 1 ' SAMPLE ')" 'addr=0x[0-9a-f]{3,}' "-d: a fault has its address"
by_spoor --transaction >/dev/null
like "$("$SPOOR" dump x.spoor | grep -m 1 ' SAMPLE ')" 'transaction=' "--transaction: samples have the word"
for option in -T -P -v -z -z5 '-k mono' '-k CLOCK_MONOTONIC' '-k 1' --namespaces --all-cgroups --buildid-all --buildid-mmap --sample-cpu \
	--sample-identifier --running-time --timestamp-boundary --bpf-event --no-bpf-event --tail-synthesize '--mmap-flush 64K' \
	'--num-thread-synthesize 4' '--proc-map-timeout 1000' '--synth all'; do
	# shellcheck disable=SC2086
	exits 0 "$option: needless, taken" "$SPOOR" record $option -e page-faults -o x.spoor -- true
done
while IFS=: read -r option why; do
	# shellcheck disable=SC2086
	exits 2 "$option: refused" "$SPOOR" record $option -e page-faults -o x.spoor -- true
	like "$(cat err)" "^spoor record: --.*: .*$why" "$option: told why"
done <<'EOF'
-r 1:not needed
--affinity=node:not needed
--threads:not needed
--aio=2:not needed
-z99:from 1 to 22
--aux-sample=4096:records the trace
--clang-opt=-O2:no BPF programs
--clang-path=/usr/bin/clang:no BPF programs
--debuginfod=x:reading commands have --debuginfod
--kcore:spoor annotate reads
--latency:--off-cpu records
--mmap-flush=x:a size such as
--num-thread-synthesize=0:a number
--pfm-events=inst_retired.any:spoor list
--proc-map-timeout=soon:milliseconds
--setup-filter=pin:no BPF programs
--synth=no:Only all
--vmlinux=x:reading commands have --vmlinux
EOF

# What fingers know: each option of perf record is one here, with an argument where perf's has one.
options() # help on stdin: LETTER NAME ARGUMENT (none, must, may) of each option that has a long name
{
	awk 'match($0, /^ +(-., )? *--[a-z][a-z-]*/) {
		rest = substr($0, RLENGTH + 1)
		name = letter = substr($0, 1, RLENGTH)
		sub(/.*--/, "", name)
		letter = letter ~ /-., / ? substr(letter, match(letter, /-., /) + 1, 1) : "-"
		print letter, name, rest ~ /^( |=)?\[/ || rest ~ /^\[=/ ? "may" : rest ~ /^ ([<A-Z])/ ? "must" : "none"
	}'
}
perf record -h 2>&1 | options | sort >perf.options
"$SPOOR" record --help | options | sort >spoor.options
is "$(($(wc -l <perf.options) >= 80))" 1 "perf has $(wc -l <perf.options) options"
# Where perf's takes nothing, this may say a least time.
sed 's/^- off-cpu none/- off-cpu may/' perf.options | comm -23 - spoor.options >unknown.options
case $(perf --version) in
*' 6.1'[.-]* | *' 6.1') is "$(xargs <unknown.options)" "" "all of them are known here" ;;
*) diag "of this perf these are not known: $(xargs <unknown.options)" ;; # what another perf has is no fault of ours
esac
# And those of perfs after 6.1, or that are built with more.
for option in bpf-event latency off-cpu-thresh pfm-events sample-mem-info setup-filter; do
	like "$(cat spoor.options)" "^- $option " "--$option"
done
for option in '--off-cpu --off-cpu-thresh 20' '--off-cpu-thresh=20 --off-cpu'; do
	# shellcheck disable=SC2086
	is "$("$SPOOR" record --dry-run --json $option -- true | jq -r '.[].name' | grep off-cpu)" off-cpu/min=20ms/ \
		"$option: shorter waits are left out"
done
is "$("$SPOOR" record --dry-run --json --off-cpu --off-cpu-thresh 0 -- true | jq -r '.[].name' | grep off-cpu)" off-cpu "0: none is"
for option in --off-cpu-thresh=20 '--off-cpu=1ms --off-cpu-thresh=20' '--off-cpu --off-cpu-thresh=x'; do
	# shellcheck disable=SC2086
	exits 2 "$option: refused" "$SPOOR" record $option -o x.spoor -- true
	like "$(cat err)" '--off-cpu-thresh' "told"
done
exits 2 "both sides alone" "$SPOOR" record --all-user --all-kernel -o x.spoor -- true
exits 2 "a branch of no kind" "$SPOOR" record -j any,sideways -o x.spoor -- true
like "$(cat err)" "'sideways' is none of any, any_call" "is told, with those there are"
# A software event has no branches: the kernel's refusal, and what it was of.
exits 1 "branches of page faults" "$SPOOR" record -b -e page-faults -o x.spoor -- true
like "$(tr -s '\n ' ' ' <err)" 'page-faults: this machine records no branches with it' "told so"

done_testing
