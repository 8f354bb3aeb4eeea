#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 110s
#
# Debug information that the compiler split off: .dwo files, in all the places where they may be, and packages of
# them; and files that are none, which nobody may open. Each is compared with the same program in one piece.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/symbolize.sh"
need_command gcc g++ clang clang++ llvm-symbolizer llvm-dwp ld.lld objcopy readelf nm python3

# LLVM 14 is asked about the twin, the program in one piece: of clang's split units it loses inlined calls of
# several ranges. Packages by both makers; binutils' dwp crashes on DWARF 5.
hidden() # DIR COMMAND...: what it says while DIR is away
{
	mv "$1" "$1.away"
	"${@:2}"
	local status=$?
	mv "$1.away" "$1"
	return $status
}

llvm=$(llvm-symbolizer --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')
splits() # NAME CC CXX FLAGS...
{
	local name=$1
	made "$name-twin" "${@:2}" && made "$name" "${@:2}" -gsplit-dwarf || return
	is "$(find "$name.o" -name '*.dwo' | wc -l)" 2 "$name: what is split off"
	agrees "$name" "llvm@$name-twin" "$name .dwo"
	# LLVM's maker, up to 14, does not end on what GCC makes of DWARF 5 with -O0.
	[ "$name" != split-gcc-5-O0 ] || [ "$llvm" -gt 14 ] || return
	if timeout 60 llvm-dwp -e "$name" -o "$name.dwp" 2>log; then
		hidden "$name.o" agrees "$name" "llvm@$name-twin" "$name .dwp"
	else
		skip "no .dwp of $name: llvm-dwp: exit $?"
	fi
	rm -f "$name.dwp"
}

for version in 4 5; do
	for level in 0 2; do
		splits "split-gcc-$version-O$level" gcc g++ -O$level -gdwarf-$version
		splits "split-clang-$version-O$level" clang clang++ -O$level -gdwarf-$version
	done
done
# Types in units of their own, of which GCC gives each a section, before that of the code.
for version in 4 5; do
	splits "split-types-gcc-$version" gcc g++ -O2 -gdwarf-$version -fdebug-types-section
	splits "split-types-clang-$version" clang clang++ -O2 -gdwarf-$version -fdebug-types-section
done
for version in 4 5; do
	made split-inlining-$version clang clang++ -O2 -gdwarf-$version -gsplit-dwarf -fsplit-dwarf-inlining &&
		agrees split-inlining-$version llvm@split-clang-$version-O2-twin
	made split-single-$version clang clang++ -O2 -gdwarf-$version -gsplit-dwarf=single &&
		agrees split-single-$version llvm@split-clang-$version-O2-twin
done
LINK="-fuse-ld=lld -Wl,--plugin-opt=dwo_dir=lto.dwo" made split-lto clang clang++ -O2 -g -flto -gsplit-dwarf &&
	LINK=-fuse-ld=lld made split-lto-twin clang clang++ -O2 -g -flto && agrees split-lto llvm@split-lto-twin
for name in split-gcc-4-O2 split-types-gcc-4; do
	if (cd $name.o && dwp -e ../$name -o ../$name.dwp) 2>log; then
		hidden $name.o agrees $name llvm@$name-twin "binutils' .dwp of $name"
		rm $name.dwp
	else
		skip "no dwp: $(head -n 1 log)"
	fi
done

# Where they are looked for. Of one that is not here, or of another build, the lines stay, and it is said.
at() # FILE OFFSET: the address in nested_sum
{
	printf '%x\n' $((0x$(nm "$1" | sed -n 's/ T nested_sum$//p') + $2))
}

# An address with an inlined call: the same in all that this compiler made of that function.
for offset in $(seq 0 300); do
	deep=$offset
	[ "$("$SPOOR" symbolize --obj split-gcc-5-O2-twin "$(at split-gcc-5-O2-twin "$offset")" | grep -c .)" -lt 2 ] || break
done
ask() # FILE [OPTION...]: the functions there
{
	"$SPOOR" symbolize --obj "$1" "${@:2}" "$(at split-gcc-5-O2 "$deep")" 2>err | cut -f 1
}
whole=$(ask split-gcc-5-O2-twin --no-cache)
is "$(wc -l <<<"$whole")" 2 "an address with an inlined call"
is "$(ask split-gcc-5-O2 --no-cache)" "$whole" "as in one piece"
timeout 10 llvm-dwp -e split-gcc-5-O2 -o package 2>log || diag_file log
mkdir moved && cp split-gcc-5-O2 moved/program && mv split-gcc-5-O2.o moved.o
is "$(ask moved/program)" nested_sum "no .dwo: its function"
like "$("$SPOOR" symbolize --no-cache --obj moved/program "$(at moved/program "$deep")" 2>&1)" 'nested_sum.*nested.c:[1-9]' \
	"no .dwo: its line"
like "$(cat err)" "inlined functions of 1 or more compilation units: their .dwo files are not here" "no .dwo: said"
cp moved.o/nested.dwo moved
is "$(ask moved/program)" "$whole" ".dwo beside the program, and what it lacked was not cached"
is "$(cat err)" "" "nothing is said of units that were not asked for"
rm moved/nested.dwo
is "$(ask moved/program)" "$whole" "from the cache"
cp split-gcc-4-O2.o/nested.dwo moved
is "$(ask moved/program --no-cache)" nested_sum "that of another build is not taken"
like "$(cat err)" "not here" "and it is said"
for how in zlib zstd zlib-gnu; do
	objcopy --compress-debug-sections=$how moved.o/nested.dwo moved/nested.dwo 2>log || continue
	is "$(ask moved/program --no-cache)" "$whole" "packed by $how"
done
cp moved.o/nested.dwo moved && mkdir stripped && objcopy --strip-debug moved/program stripped/program
objcopy --only-keep-debug moved/program moved/program.debug
(cd moved && objcopy --add-gnu-debuglink=program.debug ../stripped/program) && mkdir stripped/.debug &&
	mv moved/program.debug stripped/.debug
is "$(ask stripped/program --no-cache)" "nested_sum" "of a stripped one without them"
cp moved/nested.dwo stripped/.debug
is "$(ask stripped/program --no-cache)" "$whole" "beside the file with the debug information"
rm stripped/.debug/nested.dwo
cp package stripped/program.dwp
is "$(ask stripped/program --no-cache)" "$whole" "a package beside the stripped program"
mv stripped/program.dwp stripped/.debug/program.debug.dwp
is "$(ask stripped/program --no-cache)" "$whole" "a package beside the file with the debug information"

# What a name may lead to: the file is the same but for the name of its .dwo.
mkdir names.o
(cd names.o && gcc -O2 -g -gsplit-dwarf -c ../nested.c -o nes.o && g++ -O2 -g -c ../shapes.cc &&
	gcc -g -c ../leaf.s && g++ ./*.o -o ../names) >log 2>&1 || diag_file log
named() # NAME of 7 bytes at most: the functions at the address
{
	python3 - names renamed "$1" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
assert data.count(b'nes.dwo\0') == 1
open(sys.argv[2], 'wb').write(data.replace(b'nes.dwo\0', sys.argv[3].encode().ljust(7, b'\0') + b'\0'))
END
	timeout 20 "$SPOOR" symbolize --no-cache --obj renamed "$(at names "$deep")" 2>err | cut -f 1
}
is "$(named nes.dwo)" "$whole" "the program as it was"
mv names.o/nes.dwo .o
is "$(named ../.o)" "$whole" "a name with .."
is "$(named x/../.o)" "$whole" "beside the program only the end of the name counts"
mv .o na
is "$(named ../na)" nested_sum "what is not called as such files are is not asked for"
rm na
mkfifo names.o/p p
cp names names.o/p.elf
ln -s /dev/zero names.o/zero
for name in p ./p zero /dev/fd //dev/f p.elf . .. / "" ../../x; do
	is "$(named "$name")" nested_sum "a name that is '$name'"
done

# Damaged .dwo and .dwp, also their index: an answer, or a sentence.
cp split-gcc-4-O2 damaged4 && cp split-gcc-5-O2 damaged5
if python3 "$TOP/tests/oracles/symbolize_damage.py" "$SPOOR" damaged5:package:damaged5.dwp damaged5:moved.o/shapes.dwo:shapes.dwo \
	damaged4:split-gcc-4-O2.o/shapes.dwo:split-gcc-4-O2.o/shapes.dwo >log 2>&1; then
	pass "damaged files: $(tail -n 1 log)"
else
	fail "damaged files"
	diag_file log
fi

# As many units as a program of many files has, none of whose .dwo is here.
python3 - 20000 >many.s <<'END'
import sys
print('.text')
for i in range(int(sys.argv[1])):
    print(f'f{i}: .fill 4, 1, 0x90')
print('.globl _start\n_start: ret\n.section .debug_abbrev,"",@progbits')
print('.uleb128 1, 0x4a\n.byte 0\n.uleb128 0x76, 8, 0x1b, 8, 0x11, 1, 0x12, 6\n.byte 0, 0, 0')
print('.section .debug_info,"",@progbits')
for i in range(int(sys.argv[1])):
    print(f'.long 2f-1f\n1: .value 5\n.byte 4, 8\n.long 0\n.quad {i}\n.uleb128 1\n.string "u{i}.dwo", "/nowhere"\n.quad f{i}\n.long 4\n2:')
END
gcc -nostdlib -no-pie many.s -o many 2>log || diag_file log
nm many | sed -n 's/ t f[0-9]*$//p' | timeout 60 "$SPOOR" symbolize --no-cache --obj many >answers 2>err
is "$(grep -c '^f[0-9]' answers)" 20000 "20,000 units without their .dwo"
like "$(cat err)" "inlined functions of 20000 or more compilation units" "and how many they are"

done_testing
