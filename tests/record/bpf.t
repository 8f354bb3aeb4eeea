#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# A BPF program that is loaded, sampled and unloaded while we record has its name, also when it is gone and
# to a reader who knows nothing of this kernel.
. "$(dirname "$0")/../lib.sh"
need_command bpftrace jq python3 perf
need_record_all

ulimit -l unlimited 2>/dev/null
bpftrace -e 'BEGIN { exit(); }' >probe.out 2>&1 || skip_all "bpftrace attaches nothing here: $(tail -n 1 probe.out)"

"$SPOOR" record -a -F 4999 --duration 30s -o x.spoor 2>record.err &
recorder=$!
background bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); @h = hist(args->id); }' >bpf.out 2>&1
tracer=$!
wait_for 20 grep -q Attaching bpf.out || diag_file bpf.out
dd if=/dev/zero of=/dev/null bs=1 count=2000000 2>/dev/null
kill -INT "$tracer"
wait "$tracer"
# The kernel frees it later.
wait_for 20 sh -c '! grep -q "bpf_prog_.*_sys_enter" /proc/kallsyms'
kill -INT "$recorder"
wait "$recorder"
is $? 130 "SIGINT ends the recording" || diag_file record.err

samples() # FILTER: of rows
{
	"$SPOOR" report -s comm,dso,sym --json x.spoor 2>err | jq "[.rows[] | select($1) | .samples] | add // 0"
}
# Not libbpf's functions of such names.
ours='(.symbol | test("^bpf_prog_[0-9a-f]{16}_sys_enter$"))'
in_range "$(samples ".comm == \"dd\" and $ours")" 1 1000000 \
	"samples of dd are in the program"
is "$(samples "$ours and .kernel == false")" 0 "which is kernel code"
bpf=$(samples "$ours")
is "$(unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$SPOOR" report -s sym --json x.spoor 2>err |
	jq "[.rows[] | select($ours) | .samples] | add // 0")" "$bpf" "likewise without this kernel's symbols"
ok "its loading and unloading are in the recording" \
	sh -c '[ "$("$SPOOR" dump x.spoor 2>/dev/null | grep -c "KSYMBOL.*_sys_enter")" -ge 2 ]'

# --- several recorders ---------------------------------------------------------------------------
# The kernel lets the header of such records grow from one event to the next, whosever they are, with what was in the
# ring before behind them: all of them are read, and exported as others can read them.
cat >load.py <<'PY'
"""Loads 20 programs that return at once, and lets each go again."""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))
rights = ctypes.create_string_buffer(b"GPL")
for i in range(20):
    attr = ctypes.create_string_buffer(struct.pack("<IIQQIIQII16s", 1, 2, ctypes.addressof(code),
        ctypes.addressof(rights), 0, 0, 0, 0, 0, b"spoor_test%d" % i), 120)
    fd = libc.syscall(321, 5, attr, 120)  # bpf(BPF_PROG_LOAD)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    os.close(fd)
PY
files=(1.spoor 2.spoor 3.spoor)
for file in "${files[@]}"; do
	"$SPOOR" record -a -F 99 --duration 60s -o "$file" 2>"$file.err" &
	recorders+=($!)
done
wait_for 20 sh -c 'for f; do grep -q ^ "$f" || exit 1; done' - "${files[@]}"
sleep 1
python3 load.py || diag "no program can be loaded"
sleep 1
kill -INT "${recorders[@]}"
wait "${recorders[@]}"
for file in "${files[@]}"; do
	"$SPOOR" dump "$file" >records 2>err
	is "$(grep -c ' BAD ' records) $(grep -c ' BPF_EVENT .*bpf_type=PROG_LOAD ' records)" "0 20" "$file: each record is read"
	in_range "$(grep -c ' KSYMBOL .*_spoor_test' records)" 20 40 "and their names"
	"$SPOOR" export -f perf-data-file -o x.data "$file" 2>err
	is "$(perf script -i x.data --show-bpf-events -F time,event 2>err | grep -c 'PERF_RECORD_BPF_EVENT type 1')" 20 "perf reads them in the export"
	ok "and has them in order" sh -c "perf script -i x.data --show-bpf-events 2>/dev/null |
		awk '/PERF_RECORD_(BPF_EVENT|KSYMBOL)/ { match(\$0, /[0-9]+\.[0-9]+:/); t = substr(\$0, RSTART, RLENGTH) + 0
			if (t < last) exit 1; last = t }'"
done

done_testing
