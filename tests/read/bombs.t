#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 100s
#
# Recordings that ask for much: small on the disk, with checksums that are right (bomb_maker). Whatever
# is asked of them takes 256 MiB at most. CPU time is told, and has a limit that only what
# does not grow with the size of the recording reaches.
. "$(dirname "$0")/../lib.sh"
need_command python3
maker=$BUILD/tests/bench/bomb_maker

cat >measure.py <<'END'
import os, resource, sys
pid = os.fork()
if pid == 0:
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as out:
    print(os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024,
          "%.2f" % (used.ru_utime + used.ru_stime), file=out)
END
limit=256
! nm -D "$SPOOR" 2>/dev/null | grep -q __asan_init || limit=1000000

# bomb KIND N [COMMAND...]: each of the commands, of the usual ones without any, on N of a KIND.
made=
bomb()
{
	local kind=$1 n=$2 command status mib seconds said=
	shift 2
	[ "$made" = "$kind $n" ] || "$maker" "$kind" "$n" bomb.spoor || bail "bomb_maker $kind failed"
	made="$kind $n"
	[ $# -gt 0 ] || set -- report "report --json -s comm,pid,dso,sym" info dump "export -f folded"
	for command; do
		# shellcheck disable=SC2086
		python3 measure.py measured "$SPOOR" $command bomb.spoor >/dev/null 2>"err.$kind"
		read -r status mib seconds <measured
		said+="${said:+; }$command: $seconds s, $mib MiB"
		is "$status $((mib <= limit))" "0 1" "$kind, $command: within $limit MiB"
	done
	echo "# $kind: $(stat -c %s bomb.spoor) bytes: $said"
}

# Names as long as a record has room for are not the kernel's.
for kind in paths ends cgroups ksymbols; do
	bomb $kind 8000
	like "$(cat err.$kind)" '8000 records could not be parsed' "$kind: names that no kernel makes are told"
done
bomb ksyms 8000
like "$(cat err.ksyms)" '[0-9]+ blocks of symbols or build-ids could not be read to the end' "ksyms: names that no kernel makes are told"
unlike "$(cat err.ksyms)" 'room for' "ksyms: not as what there is no room for"
bomb buildids 4000
# As long as those of a kernel can be, and more than there is room for.
for kind in paths cgroups ksymbols ksyms buildids; do
	bomb full-$kind 64000 report
	like "$(cat err.full-$kind)" 'over the limit of memory were left out' "$kind: names that are left out are told"
done

bomb tasks 3000000 report
like "$(cat err.tasks)" 'more than 262144 tasks at a time: 2737856 were forgotten' "tasks: those forgotten are told"
bomb threads 1000000 report
bomb mapped-tasks 1000000 report
bomb namespaces 1000000 report
bomb maps 3000000 report
like "$(cat err.maps)" 'more than 1048576 maps at a time' "maps: those left out are told"
bomb overlapping-maps 300000 report
bomb nested-maps 200000 report
bomb forks-of-maps 2000 report
bomb lengths 200000 report
bomb names 200000 report
bomb objects 50000 report
bomb short-buildids 100000 report
bomb short-ksyms 300000 report
bomb short-cgroups 300000 report
bomb jitsyms 400000 report
like "$(cat err.jitsyms)" 'over the limit of memory were left out' "jitsyms: names that are left out are told"
bomb full-long-jitsyms 64000 report
bomb jitted 400000 report
bomb lives 100000 report
bomb pokes 1100000 "annotate -i"
like "$(cat err.pokes)" 'patched its code more often than there is room for: 51424 patches are left out' "pokes: those left out are told"
python3 -c '
print("_text:")
for i in range(1000):
    print(f".globl f{i}; .type f{i},%function; f{i}: .skip 64; .size f{i},64")
print(".globl _text")' >vmlinux.s
as -o vmlinux.o vmlinux.s || bail "no object"
ld -e 0 --build-id=0xabcdef01 -Ttext=0xffffffff81000000 -o vmlinux vmlinux.o || bail "no vmlinux"
# A million pokes whatever the number is: that of functions and events. Each function is read by a process of its own.
# How long a walk over all pokes takes is told by test_code_pokes.
bomb poked-events 200 "annotate --vmlinux vmlinux -i" "annotate --vmlinux vmlinux -n 200 -i"
bomb rows 400000 report "report --json" "export -f folded"

bomb events 30000
# A look at all stacks for each event would take 5 to 12 s; what is no look takes a tenth of a second.
bomb events 30000 "timeline --json" "diff bomb.spoor"
for command in heatmap timeline "flamegraph -o -" "flamegraph --svg -o -" "heatmap -o -" "peek ." \
	"peek --json ." tree "export -f csv" "export -f json" "export -f firefox" "export -f otlp" \
	"export -f perf-script" "export -f speedscope" "export -f callgrind"; do
	bomb events 30000 "$command"
	ok "events, $command: 3 s of CPU time at most" awk '{ exit $3 > 3 }' measured
done
for command in counters "counters -A" "counters -A -x," "counters --json"; do
	bomb counts 30000 "$command"
	if [[ $command != *-x* && $command != *--json ]]; then
		like "$(cat err.counts)" 'more than 4096 events were counted: the total is of those that came first' \
			"counts, $command: that totals are bounded is told"
	fi
	ok "counts, $command: 1 s of CPU time at most" awk '{ exit $3 > 1 }' measured
done
is "$("$SPOOR" counters bomb.spoor 2>/dev/null | tail -n 1 | awk '{ print $1, $2, $3 }')" 'total 1000 event4095' "counts: totals are bounded"
bomb same-events 30000
bomb long-events 200
# Formats of tracepoints take 4 MiB of a META block.
bomb formats 60
bomb formats 60 "report --json -s trace" "report -s event0.f1,event1.f2" "report --trace event0.f1=x" "export -f json" \
	"export -f perf-script"
bomb ids 500000
bomb metas 1000
bomb blocks 50000
bomb indexes 50000
bomb incomplete 50000
bomb gaps 500000
bomb losses 5000000
bomb foreign 8000
bomb aux 1000000 info "export -f perf-data -o -"
bomb aux-runs 1000000 "export -f perf-data -o -"
bomb chains 500

# A hole between two blocks takes nothing on the disk, and no time.
"$maker" rows 400 bomb.spoor || bail "bomb_maker rows failed"
python3 - <<'END'
whole = open("bomb.spoor", "rb").read()
at = whole.rindex(b"\xf0spB\r\n\x1a\xb5", 0, len(whole) // 2)
with open("hole.spoor", "wb") as f:
    f.write(whole[:at])
    f.seek(1 << 40)
    f.write(whole[at:])
END
for command in report "export -f folded" dump info; do
	# shellcheck disable=SC2086
	python3 measure.py measured "$SPOOR" $command hole.spoor >"hole.out" 2>err.hole
	is "$(cut -d ' ' -f 1 measured)" 0 "a hole of 1 TiB, $command"
	like "$(cat err.hole)" 'bytes passed over: 10995[0-9]+ ' "and it is told of"
	# shellcheck disable=SC2086
	[ "$command" = info ] || is "$(tail -n 50 hole.out)" \
		"$("$SPOOR" $command bomb.spoor 2>/dev/null | tail -n 50)" "nothing is missing"
done

done_testing
