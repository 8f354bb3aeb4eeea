#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# Linkage stubs have their names whoever made them. What each function calls is what its name says: that is
# where its stub is, whatever a disassembler makes of the stub itself.
. "$(dirname "$0")/../lib.sh"
need_command clang ld.lld ld.bfd ld.gold mold llvm-objdump llvm-strip

functions='alpha beta gamma_ delta epsilon'
for f in $functions; do
	echo "void $f(void); void call_$f(void) { $f(); __asm__ volatile(\"\"); }"
	echo "void $f(void) { }" >&2
done >calls.c 2>callees.c

# Where call_NAME calls to, at last: i386 asks where it is itself by a call. And NAME.
calls() # FILE
{
	llvm-objdump -d --no-show-raw-insn "$1" 2>/dev/null |
		awk '/^[0-9a-f]+ <.*>:$/ { f = substr($2, 2); sub(/>:$/, "", f) }
			f ~ /^call_/ && $2 ~ /^(callq?l?|bl)$/ && $3 ~ /^0x/ { to[f] = substr($3, 3) }
			END { for (f in to) print to[f], substr(f, 6) "@plt" }' | sort
}

stubs() # NAME LINKER EMULATION CC-FLAGS [LD-FLAGS...]
{
	local name=$1 linker=$2 emulation=$3 flags=$4
	shift 4
	# shellcheck disable=SC2086 # flags are several
	{ clang $flags -O1 -c -o calls.o calls.c && clang $flags -O1 -c -o callees.o callees.c; } || bail "no compiler"
	"$linker" -m "$emulation" -shared -o libcallees.so callees.o || bail "no linker"
	"$linker" -m "$emulation" "$@" -e call_alpha -o program calls.o libcallees.so 2>log || diag_file log
	calls program >truth
	is "$(wc -l <truth)" "$(wc -w <<<"$functions")" "$name: each function has a call"
	llvm-strip -o stripped program
	cut -d ' ' -f 1 truth | "$SPOOR" symbolize --no-cache --no-inline --obj stripped | cut -f 1 | sed '/^$/d' >ours
	is "$(paste -d ' ' <(cut -d ' ' -f 1 truth) ours)" "$(cat truth)" "$name: each stub has its name"
}

x86='--target=x86_64-linux-gnu -fno-stack-protector -fcf-protection=none'
ibt='--target=x86_64-linux-gnu -fno-stack-protector -fcf-protection=full'
i386='--target=i386-linux-gnu -fno-stack-protector -fcf-protection=none'
ibt32='--target=i386-linux-gnu -fno-stack-protector -fcf-protection=full'
arm='--target=aarch64-linux-gnu'
bti='--target=aarch64-linux-gnu -mbranch-protection=standard'
for linker in ld.bfd ld.gold ld.lld mold; do
	for bind in lazy now; do
		stubs "x86-64, $linker, $bind" "$linker" elf_x86_64 "$x86 -fPIC" -z $bind -pie
		stubs "i386, $linker, $bind" "$linker" elf_i386 "$i386 -fno-pic" -z $bind
		stubs "i386, $linker, $bind, not at an address of its own" "$linker" elf_i386 "$i386 -fPIC" -z $bind -shared
	done
done
for linker in ld.bfd ld.lld mold; do
	stubs "x86-64 with IBT, $linker" "$linker" elf_x86_64 "$ibt -fPIC" -z lazy -pie
	stubs "i386 with IBT, $linker" "$linker" elf_i386 "$ibt32 -fPIC" -z lazy -shared
done
stubs "x86-64, retpolines" ld.lld elf_x86_64 "$x86 -fPIC" -z lazy -z retpolineplt -pie
stubs "x86-64, retpolines, now" ld.lld elf_x86_64 "$x86 -fPIC" -z now -z retpolineplt -pie
stubs "i386, retpolines" ld.lld elf_i386 "$i386 -fPIC" -z lazy -z retpolineplt -shared
stubs "x32" ld.bfd elf32_x86_64 "--target=x86_64-linux-gnux32 -fno-stack-protector -fPIC" -z lazy -shared
for linker in ld.lld mold; do
	for bind in lazy now; do
		stubs "aarch64, $linker, $bind" "$linker" aarch64linux "$arm -fPIC" -z $bind -pie
	done
done
stubs "aarch64 with BTI" ld.lld aarch64linux "$bti -fPIC" -z lazy -z force-bti -pie
stubs "aarch64 with BTI and PAC" ld.lld aarch64linux "$bti -fPIC" -z lazy -z force-bti -z pac-plt -pie
done_testing
