#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Exports of single samples: perf-script is what perf script prints of the same recording, and what
# stackcollapse-perf.pl makes of it is the folded export; json and csv have the same samples, in the order
# of their times, from archives, too. Hostile names are harmless; --max-size is kept and told.
. "$(dirname "$0")/../lib.sh"
need_command jq python3 perf
need_record_all

# Not all of the machine: files of others may be others' next time. By frame pointers: whole stacks lead through exit(3), whose
# last instruction is a call, and perf has no name for the address behind it.
"$SPOOR" record --fp -F 999 -o x.spoor -- sh -c '"$0" 300; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; dd if=/dev/zero of=/dev/null bs=1M count=2000' \
	"$FIXTURES/burn" >/dev/null 2>err || diag_file err

# --- perf script -----------------------------------------------------------------------------
fields=comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso
"$SPOOR" export -f perf-data-file --write-kallsyms kallsyms -o x.data x.spoor
perf script -i x.data --kallsyms kallsyms -F $fields 2>err >perf.txt
"$SPOOR" export -f perf-script --no-inline -o x.txt x.spoor
# Headers of samples are equal byte for byte, and frames of the kernel; where a file is not laid out as it
# is in memory perf has its offsets.
grep -v '^#' x.txt >ours
is "$(grep -c '^[^[:space:]#]' ours)" "$("$SPOOR" report --json x.spoor 2>err | jq .samples)" "each sample is in perf-script"
grep '^[^[:space:]]' ours >ours.heads
grep '^[^[:space:]]' perf.txt >perf.heads
same "perf-script: samples as perf script prints them" ours.heads perf.heads
# Left out of both are frames that cannot be compared: a caller at the very start of a function, where perf names that
# function and we what lies before, in which a call would be (the thunk of a retpoline "returns" to there, and a chain
# of frame pointers may have any value); and stubs of the PLT, which perf gives to _init, or has no name for.
awk '{
	if ((getline other <"ours") != 1)
		other = ""
	split(other, o)
	leaf = after_head
	after_head = /^[^\t]/
	if (/^\t/ && other ~ /^\t/ && (!leaf && $2 ~ /\+0x0$/ || $2 ~ /@plt\+/ || o[2] ~ /@plt\+/ ||
		$2 ~ /^_init\+0x[2-9a-f].$/ && o[2] == "[unknown]"))
		next
	print >"perf.frames"
	print other >"ours.frames"
}' perf.txt
is "$(wc -l <ours)" "$(wc -l <perf.txt)" "... as many frames"
grep 'kernel.kallsyms' ours.frames >ours.kernel
grep 'kernel.kallsyms' perf.frames >perf.kernel
same "... and frames of the kernel" ours.kernel perf.kernel
stacks_of_burn() # FILE: since its exec, without addresses, and the vDSO, whose symbols perf has not
{
	awk -v RS= -v ORS='\n\n' '/^burn / && /\/burn\)/' "$1" | sed 's/^\t *[0-9a-f]* /\t/; /(\[vdso\])$/d'
}
stacks_of_burn ours.frames >ours.burn
# perf prints a space in a name of an object as it is.
stacks_of_burn perf.frames | awk '{ if (match($0, /\(\/.*\)$/)) { name = substr($0, RSTART); gsub(/ /, "\\040", name); $0 = substr($0, 1, RSTART - 1) name } print }' >perf.burn
same "... and all of a program" ours.burn perf.burn
is "$(head -n 1 x.txt)" "# ========" "Firefox Profiler knows it by its first line"

# --- stackcollapse-perf.pl -------------------------------------------------------------------
# Its expressions, without what it takes off names of C++ and Java.
cat >collapse.py <<'PY'
import collections, re, sys
folded, stack, comm, wanted = collections.Counter(), [], None, None
for line in open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="\n"):
    line = line.rstrip("\n")
    if line.startswith("#"):
        continue
    if line == "":
        if comm is not None:
            folded[";".join([comm] + stack)] += period
        stack, comm = [], None
        continue
    m = re.match(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
    if m:
        e = re.search(r":\s*(\d+)*\s+(\S+):\s*$", line)
        period, event = int(e.group(1)), e.group(2)
        wanted = wanted or event
        comm = m.group(1).replace(" ", "_") if event == wanted else None
        continue
    m = re.match(r"^\s*(\w+)\s*(.+) \((.*)\)", line)
    if comm is None or not m:
        assert comm is None, line
        continue
    function, mod = re.sub(r"\+0x[\da-f]+$", "", m.group(2)), m.group(3)
    if function == "[unknown]":
        function = "[unknown]" if mod == "[unknown]" else "[" + re.sub(r".*/", "", mod).strip("[]") + "]"
    stack.insert(0, function.replace(";", ":"))
for line, n in sorted(folded.items()):
    print(line, n)
PY
"$SPOOR" export -f perf-script -o inlined.txt x.spoor
python3 collapse.py inlined.txt >collapsed || diag "collapse.py failed"
"$SPOOR" export -f folded --weight period x.spoor 2>err | sed 's/ \[build-id mismatch\]//g' |
	python3 -c '
import collections, re, sys
n = collections.Counter()
def as_perf(frame): # what has a place alone has no name in perf-script
    place = re.fullmatch(r"(.*)\[0x[0-9a-f]+\]", frame)
    return "[" + place.group(1).strip("[]") + "]" if place else frame
for line in sys.stdin:
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    comm, rest = stack.split(";", 1)
    n[";".join([comm.replace(" ", "_")] + [as_perf(f) for f in rest.split(";")])] += int(count)
for line in sorted(n): print(line, n[line])' >wanted
same "what stackcollapse-perf.pl makes of it is folded" collapsed wanted

# --- json and csv ----------------------------------------------------------------------------
"$SPOOR" export -f json -o x.json x.spoor
"$SPOOR" export -f csv -o x.csv x.spoor
cat >fold.py <<'PY'
import collections, csv, json, sys
keys = ["time", "clock_ns", "cpu", "pid", "tid", "comm", "event", "period", "cgroup", "stack"]
frame_keys = ["symbol", "dso", "address", "file", "line", "inlined", "kernel"]
def name(f):
    if f["symbol"] is not None:
        return f["symbol"].replace(";", ":")
    dso = f["dso"].rsplit("/", 1)[-1] if f["dso"] else "[unknown]"
    return dso if dso[0] == "[" else "[" + dso + "]"
samples = [json.loads(line) for line in open("x.json")]
last = 0
for s in samples:
    assert list(s) == keys and s["clock_ns"] >= last and s["stack"]
    last = s["clock_ns"]
    for f in s["stack"]:
        assert list(f) == frame_keys and int(f["address"], 16) >= 0
assert [s["time"] for s in samples] == sorted(s["time"] for s in samples)
raw = open("x.csv", "rb").read()
assert raw.count(b"\r\n") == raw.count(b"\n") == len(samples) + 1
rows = list(csv.DictReader(open("x.csv", newline=""), strict=True))
assert len(rows) == len(samples)
folded = collections.Counter()
for s, r in zip(samples, rows):
    stack = ";".join(name(f) for f in reversed(s["stack"]))
    folded[s["comm"] + ";" + stack] += 1
    assert r["stack"].lstrip("'").replace(" [build-id mismatch]", "") == stack, (r["stack"], stack)
    for k in keys[:-1]:
        assert r[k] == str(s[k]), k
    assert r["symbol"] == (s["stack"][0]["symbol"] or "") and r["dso"] == s["stack"][0]["dso"]
for line, n in sorted(folded.items()):
    print(line, n)
PY
python3 fold.py >got || diag "fold.py failed"
"$SPOOR" export -f folded x.spoor 2>err | sed 's/ \[build-id mismatch\]//g' |
	python3 -c '
import collections, sys
n = collections.Counter()
for line in sys.stdin:
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    n[stack] += int(count)
for line in sorted(n): print(line, n[line])' >wanted
same "json and csv: the samples of folded, in the order of their times" got wanted

# --- values ----------------------------------------------------------------------------------
exits 0 "samples with addresses, weights and registers" "$SPOOR" record -q -o values.spoor -e page-faults -c 1 -d -W --intr-regs --user-regs -- true
"$SPOOR" export -f json -o values.json values.spoor
jq -c '.values | [.addr, .weight, .data_src, .regs_intr, .regs_user]' values.json >got
"$SPOOR" dump --json values.spoor | jq -c 'select(.type == "SAMPLE") | .fields' >records
jq -c ' [.addr, (.weight.var1 // .weight), .data_src.value,
	(.regs_intr | del(.abi)), (.regs_user | del(.abi))]' records >wanted
same "json: the values of each sample, as dump has its record" got wanted
unlike "$(jq -r '.values.regs_intr | length' values.json | sort -u)" '^[01]$' "registers are there"
"$SPOOR" export -f perf-data-file -o values.data values.spoor
jq -r '"\(.values.addr[2:]) \(.values.weight)"' values.json >got
perf script -i values.data -F addr,weight 2>err | awk '{ print $1, $2 }' >wanted
same "... as perf script has them of an export" got wanted
"$SPOOR" export -f csv -o values.csv values.spoor
python3 -c '
import csv
for row in csv.DictReader(open("values.csv", newline=""), strict=True): print(row["values"])' >got
"$SPOOR" export -f perf-script values.spoor | sed -n 's/^[^#[:space:]].* page-faults: //p' >wanted
same "csv and perf-script: the same text" got wanted
jq -r '.values | "addr=\(.addr) weight=\(.weight)"' values.json >wanted
sed 's/^\(addr=[^ ]* weight=[^ ]*\) .*/\1/' got >short
same "... of the same values" short wanted
is "$(jq -c 'select(.values)' x.json | wc -l)" 0 "samples without have none"

cpu=$(jq -r .cpu x.json | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }') # beside others perhaps not CPU 0
is "$("$SPOOR" export -f json --cpu "$cpu" x.spoor 2>err | jq -r .cpu | sort | uniq -c)" \
	"$(jq -r .cpu x.json | sort | uniq -c | grep " $cpu\$")" "filters"
leaf=$(jq -r '.stack[0].symbol // empty' x.json | sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p')
is "$("$SPOOR" export -f json --symbol "$leaf" x.spoor 2>err | jq -r '.stack[0].symbol' | sort -u)" "$leaf" "... by names, too"

# --- archives --------------------------------------------------------------------------------
mkdir archive
ok "an archive of six segments" "$BUILD/tests/bench/archive_maker" -n -c 4 -s 10 -e 1795230000 archive 60
for cpus in 0 0-63; do
	taskset -c $cpus "$SPOOR" export -f json -o archive.$cpus archive 2>err || diag_file err
done
is "$(jq -s 'length' archive.0)" $((4 * 19 * 60)) "all samples of an archive"
ok "... in the order of their times" jq -se '[.[].clock_ns] | . == sort' archive.0
ok "... however many are read at once" cmp archive.0 archive.0-63

# --- who reads has enough --------------------------------------------------------------------
"$SPOOR" export -f json -i archive 2>err | head -n 1 >first
is "$(jq -r .event first | wc -l)" 1 "a reader that leaves"
is "$(cat err)" "" "is not worth a word"
exits 1 "a full disk" sh -c '"$0" export -f csv -i archive >/dev/full' "$SPOOR"
like "$(cat err)" 'No space left' "is said"

# --- --max-size ------------------------------------------------------------------------------
total=$(jq -s length x.json)
for form in perf-script json csv; do
	exits 0 "$form --max-size" "$SPOOR" export -f $form --max-size 20K -o cut.$form x.spoor
	size=$(wc -c <cut.$form)
	ok "... is no larger, and not much smaller" [ "$size" -le 20480 ] && [ "$size" -gt 12000 ]
	left=$(sed -n "s/.*left out the last \([0-9]*\) of $total samples.*/\1/p" err)
	case $form in
	perf-script) kept=$(grep -c '^[^[:space:]#]' cut.$form) ;;
	json) kept=$(jq -s 'map(select(.stack)) | length' cut.$form) ;;
	csv) kept=$(($(wc -l <cut.$form) - 1)) ;;
	esac
	is "$((kept + left))" "$total" "... and what is left out is told"
done
like "$(tail -n 1 cut.perf-script)" '^# spoor: --max-size: the last [0-9]+ of [0-9]+ samples' "perf-script says so"
is "$(tail -n 1 cut.json | jq '.left_out.samples + (input_line_number | 0)')" "$((total - $(wc -l <cut.json) + 1))" "json too"
"$SPOOR" export -f csv --max-size 1G -o all.csv x.spoor 2>err
ok "a limit that is not reached changes nothing" cmp all.csv x.csv
for size in 0 1K -5 10X '' 99999999999999999999G; do
	exits 2 "--max-size '$size'" "$SPOOR" export -f csv --max-size "$size" x.spoor
done

# --- hostile names ---------------------------------------------------------------------------
# So much work, not so much time: of which a busy machine leaves any share.
printf 'i=0\nwhile [ $i -lt 200000 ]; do i=$((i + 1)); done\n' >loop
for evil in $'e\e[31m"<;\n\x81' '=cmd|"x"!A1' 'a 1 2' '<script>' x $' \n'; do
	cp "$(command -v sh)" "$evil" && chmod +x "$evil"
	"$SPOOR" record -g -F 999 -o evil.spoor -- "./$evil" loop 2>err || diag_file err
	samples=$("$SPOOR" report --json evil.spoor 2>err | jq .samples)
	for form in perf-script json csv; do
		"$SPOOR" export -f $form -o evil.$form evil.spoor 2>err
	done
	name=$(printf %q "$evil")
	is "$(LC_ALL=C grep -ca $'[\e\x81]' evil.perf-script evil.csv | cut -d: -f2 | sort -u)" 0 "$name: no control character is in it"
	is "$(python3 collapse.py evil.perf-script | wc -l | sed 's/^[1-9].*/some/')" some "$name: perf-script reads"
	is "$(python3 collapse.py evil.perf-script | awk '{ n += $NF } END { printf "%.0f", n }')" \
		"$("$SPOOR" report --json evil.spoor 2>err | jq '[.events[].period] | add')" "... all of it"
	is "$(jq -s length evil.json)" "$samples" "... json"
	is "$(python3 -c '
import csv
rows = list(csv.reader(open("evil.csv", newline="", encoding="utf-8"), strict=True))
assert all(len(r) == 14 for r in rows), "columns"
assert not any(c[:1] in ("=", "+", "-", "@") for r in rows for c in r), "a formula"
print(len(rows) - 1)')" "$samples" "... csv"
done

done_testing
