#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 45s
#
# spoor and perf record the same load at the same time, and agree: sample counts within 2 %, and for
# the ten hottest symbols of either the shares within 2 points, names equal.
#
# Only the time in which both recorded is compared: neither knows when the other has opened its events, and on a busy
# machine a second may lie between. Two more things are made alike first: what has no symbol perf prints as its address,
# a row each; here it is one row an object. And some perfs demangle by libiberty, as is done here, others by libstdc++,
# with parameters: c++filt does it for all of them.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command perf python3 gcc dd c++filt

seconds=${AGREE_SECONDS:-10}

python3 - >big.c <<'PY'
for i in range(600):
    print(f"int f{i}(int *a, int n) {{ int s = 0; for (int i = 0; i < n; i++) {{ s += a[i] * {i};"
          f" if (s & {i + 1}) s ^= a[(i * {i}) % n]; }} return s; }}")
PY
cat >fib.py <<'PY'
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(24)
PY
# By names of their own: what others compile meanwhile, perhaps in a container with other files, is not
# compared.
ln -s "$(gcc -print-prog-name=cc1)" load_cc1
ln -s "$(python3 -c 'import sys; print(sys.executable)')" load_python
ln -s "$(command -v dd)" load_dd
cat >load.sh <<'SH'
end=$(($(date +%s) + $1))
until_end() { while [ "$(date +%s)" -lt "$end" ]; do "$@"; done; }
compile() { ./load_cc1 -quiet -O2 -o /dev/null big.c; sleep 0.3; }
python() { /usr/bin/env ./load_python fib.py; sleep 0.2; }
copy() { ./load_dd if=/dev/zero of=/dev/null bs=64k count=30000 2>/dev/null; sleep 0.5; }
until_end compile & until_end python & until_end copy &
wait
SH

# Leaves in $span from when to when both have samples, and in $span_s how long that is.
both() # PERF.DATA RECORDING
{
	read -r span span_s < <({
		perf script -i "$1" -F time --ns 2>/dev/null | tr -d ' :' | sort -n | sed -n '1p;$p'
		"$SPOOR" dump --json "$2" | jq -r 'select(.type == "SAMPLE") | .time / 1e9' | sort -n | sed -n '1p;$p'
	} | sort -n | sed -n '2p;3p' | xargs | awk '{ printf "%.9f,%.9f %.3f\n", $1, $2, $2 - $1 }')
	[ -n "$span_s" ]
}

# perf 6.1 aborts on an ELF file with an overlong build-id that any process of the host maps
# meanwhile: such a recording of perf's is no oracle, and both are made again.
record_both()
{
	local load perf_pid status

	background bash load.sh $((seconds + 3))
	load=$!
	sleep 1
	background perf record -q -B -N -a -k mono -F 999 -g -e cpu-clock -o perf.data -- sleep "$seconds"
	perf_pid=$!
	"$SPOOR" record -a -F 999 -e cpu-clock --duration "${seconds}s" -o agree.spoor 2>spoor.err
	spoor_status=$?
	wait "$perf_pid"
	status=$?
	wait "$load"
	[ $status -eq 0 ] && both perf.data agree.spoor &&
		perf report -i perf.data --time "$span" --no-children -g none --percent-limit 0 --stdio \
		-F sample,comm,dso,sym -t $'\001' --no-demangle 2>perf.err | c++filt -p >perf.txt
}
for _ in 1 2 3; do
	! record_both || break
done
is "$spoor_status" 0 "spoor record" || diag_file spoor.err
in_range "$span_s" $((seconds / 2)) $((seconds + 1)) "both recorded at the same time: $span_s s"
exits 0 "spoor report" "$SPOOR" report --time "$span" --json agree.spoor
mv out spoor.json
ok "perf report has rows" grep -q load_cc1 perf.txt || diag_file perf.err

cat >compare.py <<'PY'
import collections, json, re, sys

LOAD = ("load_cc1", "load_python", "load_dd", "swapper")

def alike(sym):
    sym = re.sub(r"^\[.\] ", "", sym).strip()
    # Functions of stripped objects have a place with us, and nothing with perf.
    if re.fullmatch(r"0x[0-9a-f]+|.*\[0x[0-9a-f]+\]", sym):
        return "[unknown]"
    return sym

perf, spoor = collections.Counter(), collections.Counter()
for line in open("perf.txt", errors="surrogateescape"):
    f = [x.strip() for x in line.split("\1")]
    if len(f) == 4 and f[0].isdigit():
        perf[f[1], f[2], alike(f[3])] += int(f[0])
report = json.load(open("spoor.json"))
for r in report["rows"]:
    spoor[r["comm"], r["dso"], alike(r["symbol"])] += r["samples"]
p, s = sum(perf.values()), sum(spoor.values())
print(f"samples perf {p} spoor {s} lost {report['lost']}")
bad = 0
hottest = set()
for side in perf, spoor:
    of_load = [k for k in side if k[0] in LOAD]
    hottest.update(sorted(of_load, key=lambda k: -side[k])[:10])
for k in sorted(hottest, key=lambda k: -perf[k]):
    a, b = 100 * perf[k] / p, 100 * spoor[k] / s
    wrong = abs(a - b) > 2 or not perf[k] or not spoor[k]
    bad += wrong
    print(f"{a:6.2f} {b:6.2f} {'WRONG' if wrong else '     '} {k}")
print("hottest agree" if not bad and len(hottest) >= 10 else "hottest differ")
PY
python3 compare.py >compared 2>&1
read -r _ _ perf_samples _ spoor_samples _ < <(grep '^samples' compared)
in_range "${spoor_samples:-}" $((${perf_samples:-0} * 98 / 100)) $((${perf_samples:-0} * 102 / 100)) \
	"sample counts within 2 %: perf ${perf_samples:-?}, spoor ${spoor_samples:-?}"
is "$(tail -n 1 compared)" "hottest agree" "the ten hottest symbols: shares within 2 points, names equal" ||
	diag_file compared
# The rate itself, with every CPU busy: one that was offline once and idles is not sampled in every VM,
# by perf neither. What a virtual machine was not run for has no samples, and is no fault: perf tells how much that is.
for cpu in $(seq 0 $(($(nproc) - 1))); do
	background taskset -c "$cpu" sh -c 'while :; do :; done'
done
record_busy()
{
	local perf_pid

	background perf record -q -B -N -a -k mono -F 999 -e cpu-clock -o busy.data -- sleep 6
	perf_pid=$!
	"$SPOOR" record -a -F 999 -e cpu-clock --duration 6s -o busy.spoor 2>spoor.err
	spoor_status=$?
	wait "$perf_pid" && both busy.data busy.spoor
}
for _ in 1 2 3; do
	! record_busy || break
done
is "$spoor_status" 0 "spoor record, all CPUs busy" || diag_file spoor.err
in_range "$span_s" 3 7 "perf record at the same time: $span_s s"
busy=$("$SPOOR" report --time "$span" --json busy.spoor | jq .samples)
perf_busy=$(perf script -i busy.data --time "$span" -F time 2>/dev/null | wc -l)
in_range "${busy:-}" $((perf_busy * 98 / 100)) $((perf_busy * 102 / 100)) "and as many as perf at 999 Hz: $busy, $perf_busy"
in_range "${busy:-}" 1 "$(awk -v s="$span_s" -v n="$(nproc)" 'BEGIN { print s * 999 * n * 1.05 }')" "not more than 999 Hz make"
done_testing
