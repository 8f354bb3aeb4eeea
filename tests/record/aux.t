#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# AUX areas: a tracer that is played (tests/fixtures/libtracer.c) over a made sysfs is recorded, its losses are
# told, and what it wrote is exported: byte for byte, and as perf's decoder of Intel PT reads it.
. "$(dirname "$0")/../lib.sh"
need_command jq unshare perf python3
need_record_all
[ "$(id -u)" -eq 0 ] || skip_all "mounting a made sysfs needs root"

pmu() # NAME
{
	mkdir -p "devices/$1/format" "devices/$1/caps"
	echo 30 >"devices/$1/type"
}
pmu intel_pt
echo 24 >devices/intel_pt/max_nonturbo_ratio
for term in pt:0 cyc:1 mtc:9 tsc:10 noretcomp:11 branch:13 mtc_period:14-17 psb_period:24-27; do
	echo "config:${term#*:}" >"devices/intel_pt/format/${term%:*}"
done
echo 249 >devices/intel_pt/caps/mtc_periods
echo 3f >devices/intel_pt/caps/psb_periods
pmu arm_spe_0
echo config:0 >devices/arm_spe_0/format/ts_enable
echo 1024 >devices/arm_spe_0/caps/min_interval
pmu cs_etm
mkdir devices/cs_etm/sinks
echo 0x8f2f9c0e >devices/cs_etm/sinks/tmc_etr0
for term in cycacc:config:12 contextid:config:14 timestamp:config:28 sinkid:config2:0-31; do
	echo "${term#*:}" >"devices/cs_etm/format/${term%%:*}"
done
unit() # DIRECTORY REGISTER:VALUE...: of a CPU
{
	local at=devices/cs_etm/$1 reg

	shift
	mkdir -p "$at/trcidr" "$at/mgmt"
	for reg; do
		echo "${reg#*:}" >"$at/${reg%:*}"
	done
}

export SPOOR_AUX_DONE=$TMP/traced
there() # COMMAND...: on that machine
{
	rm -f traced
	LD_PRELOAD=$PRELOADS/libtracer.so unshare --mount sh -c '
		mount --bind devices /sys/bus/event_source/devices && exec "$@"' - "$@"
}
# Until all rings have had their chunks, or a minute is over.
until_traced=(sh -c 'n=0; until [ -e traced ] || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done')

cpus=$(grep -c ^processor /proc/cpuinfo)
for ((cpu = 0; cpu < cpus; cpu++)); do
	unit cpu$cpu trcidr/trcidr0:0x28000ea1 trcidr/trcidr1:0x4100f403 trcidr/trcidr2:0x20001088 trcidr/trcidr8:0 \
		mgmt/trcauthstatus:0xcc mgmt/trcdevarch:0x4770$((cpu % 2 + 4))a13 ts_source:0
done
# The stream of a CPU's ring, up to there: byte_at() of the fixture.
stream() # CPU FROM UNTIL
{
	python3 -c '
import struct, sys
cpu, start, end = map(int, sys.argv[1:])
data = b"".join(b"\2\x82" * 8 + b"\x19" + struct.pack("<Q", (cpu + 1 << 32) + n)[:7] + b"\2\x23" + b"\x0c" * 38
                for n in range(end // 64 + 1))[start:end]
sys.stdout.buffer.write(data + bytes(-len(data) % 8))' "$@"
}
traces() # NAME FROM UNTIL: each CPU's is that, in x.data
{
	local cpu wrong=
	for ((cpu = 0; cpu < cpus; cpu++)); do
		python3 "$TOP/tests/oracles/perfdata.py" trace x.data $cpu >got
		stream $cpu "$2" "$3" >wanted
		cmp got wanted || wrong+=" $cpu"
	done
	is "$wrong" "" "$1: the trace of each CPU is what was written, byte for byte"
}

exits 2 "an address filter" there "$SPOOR" record -e intel_pt//u --filter 'filter main @ /bin/true' -o n.spoor -- true
like "$(cat err)" 'intel_pt//u is a trace, which is recorded whole: address filters are not set.*perf record --filter' "is told why"
nok "nothing is recorded" test -e n.spoor

# Each chunk is larger than the area: it is cut off, and the tracer is off until there is room.
export SPOOR_AUX_CHUNK=5000 SPOOR_AUX_CHUNKS=3
exits 0 "record -e intel_pt//u" there "$SPOOR" record -a -m 1,1 -e intel_pt//u -o x.spoor -- "${until_traced[@]}"
like "$(cat err)" "^spoor record: $((3 * cpus)) times: a trace stopped: its AUX area was full" "what was cut off is told"
"$SPOOR" info --json -i x.spoor >info.json
is "$(json info.json '.loss.aux_truncated')" $((3 * cpus)) "and is in the ledger"
is "$(json info.json '.aux | .tracer, .bytes' | xargs)" "Intel PT $((3 * 4096 * cpus))" "info tells the tracer, and how much"
is "$(json info.json '.records.AUX, .records.ITRACE_START' | xargs)" "$((3 * cpus)) $cpus" "its records are there"
exits 0 "export" "$SPOOR" export -f perf-data-file -o x.data x.spoor
unlike "$(cat err)" 'no samples' "a trace is not nothing"
traces "full areas" 0 $((3 * 4096))
perf report -D -i x.data >dump 2>perf.err
is "$(grep -c ' PSBEND$' dump)" $((cpus * 3 * 4096 / 64)) "perf decodes each packet"
is "$(sed -n 's/.* TSC 0x1000\(.*\)/\1/p' dump | sort | head -n 2 | xargs)" "00000 00001" "perf: the clock of the first CPU"
like "$(cat dump)" 'PMU Type +30' "perf: the PMU"
like "$(perf report --header-only -i x.data 2>/dev/null)" 'contains AUX area data' "perf: the header tells that there is a trace"
is "$(python3 "$TOP/tests/oracles/perfdata.py" places x.data | sort | uniq -c | xargs)" "$((3 * cpus)) 71 48" "and where"
is "$(sed -n 's/^  \(.*[^ ]\)  *\(0x[24]00\|0x3c000\|0x2\|24\|3\|1\)$/\1=\2/p' dump | head -n 8 | xargs -d '\n')" \
	"TSC bit=0x400 Have sched_switch=3 Per-cpu maps=1 MTC bit=0x200 MTC freq bits=0x3c000 CYC bit=0x2 Max non-turbo ratio=24" \
	"perf: what its decoder has to know"
is "$("$SPOOR" export -f perf-data -o - x.spoor 2>/dev/null | perf report -D -i - 2>/dev/null | grep -c 'RECORD_AUXTRACE size: 0x1000')" \
	$((3 * cpus)) "perf: through a pipe"
like "$(perf script --show-switch-events -i x.data 2>&1)" PERF_RECORD_SWITCH "whose trace it was is told by switches"
exits 0 "export with a filter" "$SPOOR" export -f perf-data-file --cpu 0 -o y.data x.spoor
like "$(cat err)" 'AUX data are left out: no filter can take them apart' "says that it has no trace"
is "$(python3 "$TOP/tests/oracles/perfdata.py" aux y.data)" "" "and has none"

# There and back: an import carries it as perf wrote it.
exits 0 "import" "$SPOOR" import -o back.spoor x.data
like "$(cat err)" "$((3 * cpus)) times: a trace stopped: its AUX area was full" "what was cut off is told of an import"
is "$("$SPOOR" info --json back.spoor | jq .loss.aux_truncated)" $((3 * cpus)) "and is in its ledger"
mv x.data first.data
exits 0 "export of the import" "$SPOOR" export -f perf-data-file -o x.data back.spoor
traces "carried" 0 $((3 * 4096))
is "$(python3 "$TOP/tests/oracles/perfdata.py" aux x.data)" "$(python3 "$TOP/tests/oracles/perfdata.py" aux first.data)" \
	"in the same pieces"
is "$(python3 "$TOP/tests/oracles/perfdata.py" places x.data | sort | uniq -c | xargs)" "$((3 * cpus)) 71 48" "which the header tells of"
# Of an event without PERF_SAMPLE_CPU, as perf records threads, perf prints the CPUs that it decodes if the header tells.
python3 "$TOP/tests/oracles/perfdata.py" without-cpu first.data thread.data
exits 0 "import of such an event" "$SPOOR" import -o back.spoor thread.data
exits 0 "its export" "$SPOOR" export -f perf-data-file -o x.data back.spoor
perf script -F cpu,ip -i x.data >printed 2>&1
unlike "$(cat printed)" 'do not have CPU attribute set|Cannot print' "perf script -F cpu"

# Chunks of odd sizes, around the end of an area that has room for them; a tracer that was disturbed.
export SPOOR_AUX_CHUNK=3001 SPOOR_AUX_FLAGS=12
exits 0 "record, odd chunks" there "$SPOOR" record -a -m ,2 -e intel_pt// -o x.spoor -- "${until_traced[@]}"
is "$("$SPOOR" info --json -i x.spoor | jq -c '.loss | [.aux_truncated, .aux_partial, .aux_collision] | map(. // 0)')" \
	"[0,$((3 * cpus)),$((3 * cpus))]" "holes and collisions are told"
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
traces "odd chunks" 0 9003
unset SPOOR_AUX_FLAGS

# Written over: what is there at the end.
export SPOOR_AUX_CHUNKS=1
for chunk in 3001 20000; do
	export SPOOR_AUX_CHUNK=$chunk
	exits 0 "record -S, $chunk bytes" there "$SPOOR" record -a -S -m ,2 -e intel_pt// -o x.spoor -- "${until_traced[@]}"
	unlike "$(cat err)" AUX "nothing is lost"
	"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
	traces "$chunk bytes, written over" $((chunk > 8192 ? chunk - 8192 : 0)) $chunk
done

# At SIGUSR2, at a command, and at the end; each has what came since, or the whole area once it was written over.
export SPOOR_AUX_CHUNKS=2 SPOOR_AUX_CHUNK=3000
cat >signal.sh <<'EOF'
kill -USR2 $PPID
n=0
until [ -e traced ] || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
EOF
exits 0 "record -S, a signal" there "$SPOOR" record -a -S -m ,2 -e intel_pt// -o x.spoor -- sh signal.sh
like "$(cat err)" '^spoor: recorded what the AUX areas had' "it is told"
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
is "$(python3 "$TOP/tests/oracles/perfdata.py" aux x.data | grep '^0 ' | cut -d' ' -f4- | xargs)" "0 3000 3000 3000" "two, and nothing twice"
traces "-S, a signal" 0 6000
is "$("$SPOOR" info --json x.spoor | jq .records.AUX)" $((2 * cpus)) "with their records"
cat >control.sh <<'EOF'
echo snapshot >ctl
read -r answer <ack
echo "$answer" >answer
EOF
mkfifo ctl ack
exits 0 "record -Se, --control" there "$SPOOR" record -a -Se -m ,2 --control fifo:ctl,ack -e intel_pt// -o x.spoor -- sh control.sh
is "$(cat answer)" ack "--control: snapshot is answered"
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
traces "--control snapshot" 0 6000
export SPOOR_AUX_CHUNK=20000
exits 0 "record -S, a signal, written over" there "$SPOOR" record -a -S -m ,2 -e intel_pt// -o x.spoor -- sh signal.sh
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
is "$(python3 "$TOP/tests/oracles/perfdata.py" trace x.data 0 | cmp - <(stream 0 11808 20000; stream 0 31808 40000) && echo same)" same \
	"each is the last of the area, byte for byte"
exits 0 "record -S1000" there "$SPOOR" record -a -S1000 -e intel_pt// -o x.spoor -- sh signal.sh
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
is "$(python3 "$TOP/tests/oracles/perfdata.py" trace x.data 0 | cmp - <(stream 0 19008 20000; stream 0 39040 40000) && echo same)" same \
	"of an area of a page, the last of it, from a multiple of 64 on"
# The file of the signal has its name when it has ended: only then the command ends.
cat >switch.sh <<'EOF'
kill -USR2 $PPID
n=0
until ls y.spoor.* || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
EOF
exits 0 "record -S, --switch-output" there "$SPOOR" record -a -S -m ,2 --switch-output -e intel_pt// -o y.spoor -- sh switch.sh
files=(y.spoor.*)
is "$(for file in "${files[@]}"; do "$SPOOR" info --json "$file" | jq .aux.bytes; done | xargs)" \
	"$((8192 * cpus)) $((8192 * cpus))" "a file each"
rm -f y.spoor*
export SPOOR_AUX_CHUNKS=1

# Of one process, from its exec on, in the rings of CPUs and in those of its threads.
export SPOOR_AUX_CHUNK=800
exits 0 "record of a command" there "$SPOOR" record -e intel_pt//u -o x.spoor -- true
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
traces "a command" 0 800
exits 0 "record --per-thread" there "$SPOOR" record --per-thread -e intel_pt//u -o x.spoor -- true
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
like "$(python3 "$TOP/tests/oracles/perfdata.py" aux x.data)" '^0 -1 [0-9]+ 0 800$' "--per-thread: of a thread, of no CPU"

# What the rings of samples keep, and what those of a trace keep, are two things.
exits 2 "record -S --overwrite" there "$SPOOR" record -a -S --overwrite -e intel_pt// -o n.spoor -- true
like "$(cat err)" 'intel_pt//: --overwrite is of samples; of a trace --snapshot keeps' "is told"
ok "and leaves nothing" test ! -e n.spoor

# Another tracer, another decoder.
exits 0 "record -e arm_spe_0//" there "$SPOOR" record -a -e arm_spe_0// -o x.spoor -- "${until_traced[@]}"
is "$("$SPOOR" info --json -i x.spoor | jq -r '.aux.tracer, .events[0].period // .events[0].sample_period' | xargs)" \
	"Arm SPE 1024" "Arm SPE: with the least interval that it has"
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
like "$(perf report -D -i x.data 2>/dev/null)" 'RECORD_AUXTRACE_INFO type: 4' "perf: is Arm SPE"

# CoreSight: a trace that is read in two pieces is one record of perf's, for it decodes each by itself.
export SPOOR_AUX_CORESIGHT=1 SPOOR_AUX_CHUNK=300032
SPOOR_AUX_RELEASE=6.1.0 exits 0 "record -e cs_etm//" there \
	"$SPOOR" record -a -e cs_etm/@tmc_etr0,cycacc/u -o x.spoor -- "${until_traced[@]}"
is "$("$SPOOR" info --json x.spoor | jq -r '.aux | .tracer, .bytes' | xargs)" "Arm CoreSight $((300032 * cpus))" "info tells it"
exits 0 "export of CoreSight" "$SPOOR" export -f perf-data-file -o x.data x.spoor
is "$(python3 "$TOP/tests/oracles/perfdata.py" aux x.data | sort)" \
	"$(for ((cpu = 0; cpu < cpus; cpu++)); do echo $cpu $cpu -1 0 300032; done | sort)" "a record for each AUX record"
perf report -D -i x.data >dump 2>perf.err
unlike "$(cat perf.err)" "CS ETM|Couldn't find" "perf: nothing is missing"
is "$(sed -n 's/^\t\(PMU type\/num cpus\|Header version\|CPU\|TRC[A-Z0-9]*\)\t* *\([0-9a-f]*\)$/\1=\2/p' dump | head -n 10 | xargs -d '\n')" \
	"Header version=1 PMU type/num cpus=1e0000000$cpus CPU=0 TRCCONFIGR=850 TRCTRACEIDR=10 TRCIDR0=28000ea1 TRCIDR1=4100f403 TRCIDR2=20001088 TRCIDR8=0 TRCAUTHSTATUS=cc" \
	"perf: what its decoder has to know"
is "$(grep -c 'I_ATOM_F1' dump)" $((31 * 4688 * cpus)) "perf decodes each packet"
sed -n 's/.*ID:\([0-9a-f]*\);\tI_ADDR_L_64IS0.*Addr=\(0x[0-9A-F]*\).*/\1 \2/p' dump | sort >got
for ((cpu = 0; cpu < cpus; cpu++)); do
	for ((n = 0; n < 4688; n++)); do
		printf '%x 0x%016X\n' $((0x10 + 2 * cpu)) $(((cpu + 1) << 48 | n << 16))
	done
done | sort >wanted
is "$(diff wanted got | head -n 4)" "" "as they were, each by the ID of its CPU"

SPOOR_AUX_RELEASE=6.1.0 SPOOR_AUX_CHUNK=6400 exits 0 "record --per-thread -e cs_etm//" there \
	"$SPOOR" record --per-thread -e cs_etm//u -o x.spoor -- true
"$SPOOR" export -f perf-data-file -o x.data x.spoor 2>/dev/null
perf report -D -i x.data >dump 2>perf.err
unlike "$(cat perf.err)" "CS ETM: Couldn't find" "perf: nothing is missing of a thread"
is "$(grep -c 'I_ADDR_L_64IS0' dump)" 100 "perf decodes it"

# Kernels from 6.4 on tell the IDs by records; perf 6.1 has not heard of that.
SPOOR_AUX_RELEASE=6.8.0 SPOOR_AUX_HW_ID=48 SPOOR_AUX_CHUNK=640 exits 0 "record, IDs by records" there \
	"$SPOOR" record -a -e cs_etm/timestamp=0/ -o x.spoor -- "${until_traced[@]}"
is "$("$SPOOR" dump x.spoor | sed -n 's/.* AUX_OUTPUT_HW_ID .*hw_id=//p' | sort | xargs)" \
	"$(for ((cpu = 0; cpu < cpus; cpu++)); do printf '0x%x\n' $((48 + cpu)); done | sort | xargs)" "they are there"
"$SPOOR" export -f perf-data-file -o x.data x.spoor
like "$(python3 "$TOP/tests/oracles/perfdata.py" about x.data)" "^2 1e0000000$cpus 0 4040404040404040 0 8 40 80000010 28000ea1" \
	"decoders are told that others are right"
like "$(there "$SPOOR" record --dry-run -e cs_etm/@tmc_etr0/ 2>/dev/null)" 'config: 0x10004000,.*config2?.*0x8f2f9c0e' "the sink is config2"
exits 2 "no such sink" there "$SPOOR" record -a -e cs_etm/@none/ -o y.spoor -- true
like "$(cat err)" "no sink 'none'" "is told"
mv devices/cs_etm/cpu0/trcidr/trcidr8 .
exits 1 "no register" there "$SPOOR" record -a -e cs_etm// -o y.spoor -- true
like "$(cat err)" 'cannot read .*/cs_etm/cpu0/trcidr/trcidr8, which decoders need: No such file' "is told, too"
mv devices/cs_etm/cpu0 away
unit cpu0 mgmt/etmidr:0x4114f310 mgmt/etmccer:0x344008f2
exits 1 "ETMv3" there "$SPOOR" record -a -e cs_etm// -o y.spoor -- true
like "$(cat err)" 'the trace unit of CPU 0 cannot trace timestamps: ask for none by the term timestamp=0' "has no timestamps"
unset SPOOR_AUX_CORESIGHT
SPOOR_AUX_CHUNK=800

# Over the mlock quota: smaller.
SPOOR_AUX_PAGES_MAX=256 exits 0 "record, quota" there "$SPOOR" record -a -e intel_pt// -o x.spoor -- "${until_traced[@]}"
like "$(cat err)" 'AUX areas of 256 pages instead of 1024: more is over kernel.perf_event_mlock_kb' "smaller areas are told"

# What cannot be, in words.
SPOOR_AUX_NONE=1 exits 1 "a PMU without an AUX area" there "$SPOOR" record -a -e intel_pt// -o y.spoor -- true
like "$(cat err)" 'intel_pt//: cannot map an AUX area of 1024 pages: Operation not supported' "is told so"
exits 2 "two events that trace" there "$SPOOR" record -a -e intel_pt//,arm_spe_0// -o y.spoor -- true
like "$(cat err)" 'one event of a session traces' "are one too many"
exits 2 "one in a group" there "$SPOOR" record -a -e '{intel_pt//,page-faults}' -o y.spoor -- true
like "$(cat err)" 'an event that traces is in no group' "is in none"
exits 2 "-m N,AUX without such an event" "$SPOOR" record -m ,16 -o y.spoor -- true
exits 2 "-S without such an event" "$SPOOR" record -S -o y.spoor -- true
like "$(cat err)" 'are of an event with an AUX area, such as intel_pt//' "is told what it is for"
exits 2 "-S of no size" "$SPOOR" record -Sx -o y.spoor -- true
exits 2 "-S of more than there is" "$SPOOR" record -Se64K -m ,2 -e intel_pt// -o y.spoor -- true
like "$(cat err)" '65536 bytes are more than the AUX area of -m has, 8192' "is told"
nok "nothing is left of what failed" test -e y.spoor
like "$(there "$SPOOR" record --dry-run -e intel_pt//u -m ,16 2>/dev/null)" \
	'config: 0x300e601,.*aux_watermark: 16384' "the attr is perf's: config, and a quarter of the area to wake at"
# The size of a ring depends on the trace, and its watermark on the size.
exits 0 "record -v" there "$SPOOR" record -v -a -e intel_pt// -o x.spoor -- "${until_traced[@]}"
grep ' type: ' err >opened
there "$SPOOR" record --dry-run -a -e intel_pt// >dry 2>/dev/null
same "--dry-run has what is opened" opened dry

done_testing
