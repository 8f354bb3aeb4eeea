#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The vDSO of a 32-bit process has its names, and copied stacks go on through it: each system call of such a process
# goes through __kernel_vsyscall. The program has no C library, so that it is built on any x86-64.
. "$(dirname "$0")/../lib.sh"
need_command clang ld.lld
need_record_all
[ "$(uname -m)" = x86_64 ] || skip_all "no 32-bit processes of x86 here"

cat >calls.c <<'END'
static void *vsyscall; /* AT_SYSINFO: the vDSO's __kernel_vsyscall */

__attribute__((noinline)) static int call(int number)
{
	int r;

	__asm__ volatile("call *%1" : "=a"(r) : "m"(vsyscall), "0"(number) : "memory", "ecx", "edx");
	return r;
}
__attribute__((noinline)) int deepest(int n) { int s = 0; while (n-- > 0) s += call(64 /* getppid */); return s; }
__attribute__((noinline)) int middle(int n) { return deepest(n) + 1; }
__attribute__((noinline)) int outer(int n) { return middle(n) + 1; }
__attribute__((used)) void begin(int *stack)
{
	int *at = stack + 1 + *stack + 1;

	while (*at++)
		;
	for (; *at; at += 2)
		if (*at == 32)
			vsyscall = (void *)at[1];
	outer(3000000);
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
__asm__(".globl _start\n_start: .cfi_startproc\n.cfi_undefined eip\nmov %esp, %eax\nsub $12, %esp\npush %eax\n"
	"call begin\nhlt\n.cfi_endproc\n");
END
clang --target=i386-linux-gnu -O1 -g -fomit-frame-pointer -fno-stack-protector -fno-pic -fasynchronous-unwind-tables -c calls.c ||
	bail "no compiler"
ld.lld -m elf_i386 -o calls calls.o || bail "no linker"
./calls 2>/dev/null || [ $? -ne 126 ] || skip_all "this kernel executes no 32-bit program"

"$SPOOR" record -q -e cpu-clock -F 999 --call-graph dwarf -o x.spoor -- ./calls 2>err
is "$?" 0 "a 32-bit program is recorded" || diag_file err
exits 0 "its stacks" "$SPOOR" export -f folded -i x.spoor -o folded
awk '{ n = $NF; through = /;__kernel_vsyscall[; ]/; whole = /^calls;_start;begin;outer;middle;deepest;call;__kernel_vsyscall[; ]/
	inside += through ? n : 0; callers += whole ? n : 0; raw += /\[vdso\]/ ? n : 0 }
	END { print (inside > 0), inside - callers, raw + 0 }' folded >counts
is "$(cat counts)" "1 0 0" "all that was sampled in __kernel_vsyscall has its name, and its callers" || diag_file folded
is "$("$SPOOR" report -i x.spoor --json --sort dso,sym --symbol __kernel_vsyscall 2>/dev/null | grep -c '"\[vdso\]"')" 1 \
	"the object is [vdso]"

# The image comes out of a program of a moment: the kernel's log tells of programs with an executable stack, and a host
# may forbid files in memory to be executed that do not ask for it.
"$SPOOR" record -q -e cpu-clock -o reading.spoor -- "$SPOOR" export -f folded -i x.spoor -o folded 2>err
like "$("$SPOOR" dump reading.spoor)" 'filename="/memfd:spoor-vdso32' "a program is made for a moment"
unlike "$("$SPOOR" dump reading.spoor)" 'filename="\[stack\]"' "without an executable stack"
strict() { unshare -pf --mount-proc sh -c "echo 1 >/proc/sys/vm/memfd_noexec && exec \"$SPOOR\" export -f folded -i x.spoor"; }
if [ -e /proc/sys/vm/memfd_noexec ]; then
	strict >sealed 2>err
	same "where memory is not executed, names are the same" folded sealed
fi
done_testing
