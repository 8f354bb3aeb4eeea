#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stack is walked by the rules of its own process's files. Rules can spell the bytes of a stack as addresses: a user who had
# his file taken for another one would read from a recording what root's processes have on their stacks.
. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "the other user's processes are begun by root"
need_command gcc readelf setpriv unshare
need_record_all
user=(setpriv --reuid 64005 --regid 64005 --clear-groups)
"${user[@]}" unshare -Urm true 2>err || skip_all "users have no namespaces here: $(cat err)"
chmod 711 "$TMP"

cat >bystander.c <<'END'
#include <time.h>
volatile unsigned n;
__attribute__((noinline)) static void work(time_t until) { while (time(NULL) < until) for (int i = 0; i < 1000000; i++) n++; }
int main(void) { work(time(NULL) + 6); return (int)n & 0; }
END
ok "a program of root's" gcc -O1 -fomit-frame-pointer -Wl,--build-id -o bystander bystander.c
id=$(readelf -n bystander | sed -n 's/.*Build ID: //p')
# Each step's return address is made of a byte of the stack; it is code wherever the other program may be.
cat >rules.S <<'END'
	.globl _start
_start:
	.cfi_startproc
	.cfi_def_cfa rsp, 1
	.cfi_escape 0x16, 16, 15, 0x77,0, 0x06, 0x08,0xff, 0x1a, 0x80,0, 0x0b,0x00,0xf0, 0x1a, 0x22, 0x23,1
1:	pause
	jmp 1b
	.skip 0x20000, 0x90
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
END
ok "a file with rules that spell a stack, of the same build-id" gcc -nostdlib -no-pie -Wl,"--build-id=0x$id" -o rules rules.S
cat >maps.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
int main(int argc, char **argv)
{
	const time_t until = time(NULL) + 2;
	for (int i = 1; i < argc; i++)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[i], O_RDONLY), 0) == MAP_FAILED)
			return 1;
	while (time(NULL) < until)
		;
	return 0;
}
END
ok "a program that maps files" gcc -O1 -o maps maps.c
chmod 755 bystander rules maps

stacks() # PID: of its program
{
	"$SPOOR" export -f folded --pid "$1" --comm bystander -i others.spoor 2>/dev/null
}
right() # PID: how many lead from main to work
{
	stacks "$1" | awk '/;main;work[; ]/ { n += $NF } END { print n + 0 }'
}

# The user runs his file under the path of root's, in a mount namespace of his own, then maps root's as well, and both.
for way in "" "--build-ids kernel"; do
	# shellcheck disable=SC2086 # words
	"$SPOOR" record --call-graph auto $way -F 199 -a -o others.spoor -- sleep 100 2>record.err &
	pid=$!
	ok "it records" wait_for 20 pgrep -P $pid -x sleep
	"${user[@]}" timeout 1.5 unshare -Urm --propagation private sh -c "mount --bind $TMP/rules $TMP/bystander && exec $TMP/bystander"
	"${user[@]}" ./maps "$TMP/bystander"
	"${user[@]}" ./maps "$TMP/bystander" "$TMP/rules"
	"${user[@]}" ./maps "$TMP/rules" "$TMP/bystander"
	./bystander &
	roots=$!
	wait $roots
	pkill -P $pid -x sleep
	wait $pid
	in_range "$(right $roots)" 20 1e9 "root's stacks are walked by root's file${way:+ ($way)}" || diag_file record.err
	is "$(stacks $roots | awk -F';' 'NF > 40' | cut -c1-300 | head -n 3)" "" "and are as deep as they are"
done
done_testing
