#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A BPF program that is loaded, sampled and unloaded while we record has its name, also when it is gone and
# to a reader who knows nothing of this kernel.
. "$(dirname "$0")/../lib.sh"
need_command bpftrace jq
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

done_testing
