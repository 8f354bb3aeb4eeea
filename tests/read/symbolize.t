#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# spoor symbolize against other symbolizers: the same functions, files, lines and inlined calls, whatever made the
# debug information and wherever it is. Each way of making it is tried once, the others being at their defaults
# (g++ -O2, DWARF 5). symbolize_oracle.py compares; which oracle is valid for which way is in each line here.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/symbolize.sh"
need_command gcc g++ clang clang++ llvm-symbolizer addr2line ld.lld objcopy readelf nm python3

# Compilers, versions, optimisation.
made gcc gcc g++ -O2 -g && agrees gcc llvm
agrees gcc gnu "gcc, another oracle"
made gcc-dwarf4 gcc g++ -O2 -gdwarf-4 && agrees gcc-dwarf4 llvm
made gcc-dwarf3 gcc g++ -O2 -gdwarf-3 -gstrict-dwarf && agrees gcc-dwarf3 llvm,gnu
made gcc-dwarf2 gcc g++ -O2 -gdwarf-2 && agrees gcc-dwarf2 llvm,gnu
made gcc-dwarf2-strict gcc g++ -O2 -gdwarf-2 -gstrict-dwarf && agrees gcc-dwarf2-strict llvm,gnu
made gcc-O0 gcc g++ -O0 -g && agrees gcc-O0 llvm
made gcc-lto gcc g++ -O2 -g -flto && agrees gcc-lto llvm
made gcc-types gcc g++ -O2 -g -fdebug-types-section && agrees gcc-types llvm,gnu
made gcc-dwarf64 gcc g++ -O2 -g -gdwarf64 && agrees gcc-dwarf64 llvm,gnu
made clang clang clang++ -O2 -g && agrees clang llvm
made clang-dwarf4 clang clang++ -O2 -gdwarf-4 && agrees clang-dwarf4 llvm
made clang-O0 clang clang++ -O0 -gdwarf-5 && agrees clang-O0 llvm
LINK=-fuse-ld=lld made clang-lto clang clang++ -O2 -g -flto && agrees clang-lto llvm
LINK=-fuse-ld=lld made clang-thinlto clang clang++ -O2 -g -flto=thin && agrees clang-thinlto llvm

# The linker's ways.
LINK=-Wl,--gc-sections made gc gcc g++ -O2 -g -ffunction-sections && agrees gc llvm
LINK="-fuse-ld=lld -Wl,--gc-sections" made gc-lld clang clang++ -O2 -g -ffunction-sections && agrees gc-lld llvm
LINK="-fuse-ld=lld -Wl,--gc-sections" made gc-lld-dwarf4 clang clang++ -O2 -gdwarf-4 -ffunction-sections &&
	agrees gc-lld-dwarf4 llvm
LINK=-no-pie made no-pie gcc g++ -O2 -g -fno-pie && agrees no-pie llvm
LINK=-static-pie made static-pie gcc g++ -O2 -g -fPIE && COUNT=20000 agrees static-pie llvm
LINK="-Wl,-z,noseparate-code" made together gcc g++ -O2 -g && agrees together llvm

# Sections that are packed. LLVM 14 knows no zstd, GNU 2.40 no .zdebug_.
for how in zlib:llvm zstd:gnu zlib-gnu:llvm; do
	if ! objcopy --compress-debug-sections=${how%:*} gcc packed-${how%:*} 2>log; then
		skip "this objcopy packs nothing with ${how%:*}"
		continue
	fi
	agrees packed-${how%:*} ${how#*:}
done

# Files beside it. GNU's reads no file by its build-id below another directory.
cp gcc linked
objcopy --only-keep-debug linked linked.debug && strip linked && objcopy --add-gnu-debuglink=linked.debug linked
agrees linked llvm "stripped, .gnu_debuglink"
mkdir .debug && mv linked.debug .debug
agrees linked llvm,gnu "the same below .debug"

# dwz within a file.
if command -v dwz >/dev/null; then
	made gcc-O1 gcc g++ -O1 -g
	cp gcc packed && dwz packed && agrees packed llvm,gnu "dwz of one file"
	# And of several files, which have a part of theirs in another file. LLVM's does not look there.
	mkdir dwz && cp gcc dwz/a && cp gcc-O1 dwz/b
	(cd dwz && dwz -m common.debug -M common.debug a b) && agrees dwz/a gnu "dwz of several files"
	mkdir -p usr && mv dwz/common.debug usr && like "$("$SPOOR" symbolize --no-cache --obj dwz/a \
		"$(nm gcc | sed -n 's/ T nested_sum$//p')" 2>&1)" "^nested_sum.*nested.c:[0-9]" "the other file is missing"
	cp usr/common.debug dwz && objcopy --remove-section .note.gnu.build-id dwz/common.debug
	is "$("$SPOOR" symbolize --no-cache --obj dwz/b "$(nm dwz/b | sed -n 's/ T nested_sum$//p')" 2>&1 | grep -c .)" \
		"$("$SPOOR" symbolize --no-cache --obj gcc-O1 "$(nm dwz/b | sed -n 's/ T nested_sum$//p')" | grep -c .)" \
		"another file of that name is not taken"
else
	skip "no dwz"
fi

# Other languages.
if command -v go >/dev/null && HOME=$TMP GO111MODULE=off GOFLAGS=-p=2 go build -o go-program pairs.go 2>log; then
	agrees go-program llvm,gnu "Go"
else
	skip "no go: $(head -n 1 log)"
fi
if HOME=$CALLER_HOME rustc -O -g -o rust-program areas.rs 2>log; then
	agrees rust-program llvm,gnu "Rust"
else
	skip "no rustc"
fi

# What is installed: big, packed, its debug information by build-id; or builds for debuggers, which have it themselves.
# COUNT=10000 BOUNDS= is for an afternoon.
for file in /lib/*-linux-gnu/libc.so.6 /usr/lib/*-linux-gnu/debug/libstdc++.so.6 /usr/lib/*-linux-gnu/libpython3.*d.so.1.0 \
	/usr/lib/jvm/java-[0-9][0-9]-openjdk-*/lib/server/libjvm.so; do
	id=$(readelf -n "$file" 2>/dev/null | sed -n 's/.*Build ID: //p')
	if [ -n "$id" ] && { readelf -SW "$file" | grep -q ' \.debug_info ' ||
		[ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; }; then
		COUNT=${COUNT-1000} BOUNDS=${BOUNDS-4000} agrees "$file" llvm "${file##*/}"
	else
		skip "no debug information of ${file##*/}"
	fi
done

# Numbers, and what is not one.
is "$(echo 10 | "$SPOOR" symbolize --obj gcc)" $'??\t??:0' "an address of no code"
nok "no number" "$SPOOR" symbolize --obj gcc zero
nok "no file" "$SPOOR" symbolize --obj nowhere 10
start=$(nm gcc | sed -n 's/ T nested_sum$//p')
like "$("$SPOOR" symbolize --obj gcc --no-inline "$start")" $'^nested_sum\tnested.c:[0-9]+$|^nested_sum\t.*/nested.c:[0-9]+$' \
	"--no-inline: one line"

# Stripped sections, cut files, flipped bytes: an answer, or a sentence; no crash of ours, none that takes long.
if python3 "$TOP/tests/oracles/symbolize_damage.py" "$SPOOR" gcc packed-zlib >log 2>&1; then
	pass "damaged files: $(tail -n 1 log)"
else
	fail "damaged files"
	diag_file log
fi

done_testing
