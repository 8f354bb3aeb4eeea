#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# Names that are there are shown: of objects without a GNU build-id that were moved or copied, of a
# binary that is gone and whose symbols are installed.
. "$(dirname "$0")/../lib.sh"
need_command jq objcopy go gdb xz
need_record_all

# The symbol and object of the hottest row of a command.
hottest() # COMM [OPTION...]
{
	local comm=$1
	shift
	"$SPOOR" report --json --comm "$comm" --sort dso,sym "$@" 2>err |
		jq -r '.rows[0] | .dso + " " + .symbol'
}

"${CC:-gcc}" -O1 -g -pthread -fno-omit-frame-pointer -Wl,--build-id=none -o plain "$TOP/tests/fixtures/burn.c" ||
	bail "no compiler"
"${CC:-gcc}" -O1 -g -pthread -fno-omit-frame-pointer -Wl,--build-id=none -DBURN_OTHER -o other \
	-Dburn_hot=burn_cold "$TOP/tests/fixtures/burn.c" || bail "no compiler"
for way in kernel file; do
	exits 0 "a program without a build-id ($way)" "$SPOOR" record --build-ids $way -o x.spoor -- ./plain 300
	is "$(hottest plain -i x.spoor)" "plain burn_hot" "has names"
	mv plain away && mv away plain
	is "$(hottest plain -i x.spoor)" "plain burn_hot" "also moved and moved back"
	mkdir -p "root$TMP"
	cp -p plain "root$TMP/plain"
	mv plain away
	is "$(hottest plain -i x.spoor | cut -d ' ' -f 1)" "plain" "without it there are none"
	like "$("$SPOOR" report -i x.spoor 2>&1)" "$TMP/plain: the file is not on this machine" "and why is told"
	is "$(hottest plain -i x.spoor --symfs root)" "plain burn_hot" "a copy below --symfs serves"
	cp -p other plain
	like "$("$SPOOR" report -i x.spoor 2>&1)" "$TMP/plain: the file here is another build than the one that was recorded" \
		"another build does not"
	is "$(hottest plain -i x.spoor)" "plain [build-id mismatch]" "and gives no names"
	like "$("$SPOOR" report -i x.spoor --comm plain 2>&1)" '\[\.\] \[build-id mismatch\]$' "which stands where names do"
	is "$(hottest plain -i x.spoor --symbol '[build-id mismatch]')" "plain [build-id mismatch]" "is a symbol to filter by"
	"$SPOOR" export -f folded -i x.spoor -o folded 2>/dev/null
	like "$(cat folded)" '^plain;.*;\[plain\] \[build-id mismatch\] [0-9]+$' "and is in folded stacks"
	rm plain && mv away plain
done
exits 0 "an export" "$SPOOR" export -f perf-data-file -o x.data x.spoor
unlike "$(perf buildid-list -i x.data 2>/dev/null)" "$TMP/plain" "perf is not told a build-id that there is not"

# Go has an id of its own.
mkdir go && cat >go/main.go <<'END'
package main

import "time"

var sink uint32

//go:noinline
func burnGo() {
	for i := uint32(0); i < 100000; i++ {
		sink = sink*1103515245 + i
	}
}

func main() {
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		burnGo()
	}
}
END
(cd go && GO111MODULE=off GOFLAGS='' GOCACHE=$TMP/cache go build -o ../gone main.go) || bail "no Go program"
exits 0 "a Go program" "$SPOOR" record -o x.spoor -- ./gone
is "$(hottest gone -i x.spoor)" "gone main.burnGo" "has names"
cp -p gone copy && rm gone && mv copy gone
is "$(hottest gone -i x.spoor)" "gone main.burnGo" "also when it was copied"

# What Go's runtime knows of its functions stays when it is stripped. In the table, names of assembler
# functions have no ABI, and type parameters and lengths are "...".
(cd go && GO111MODULE=off GOFLAGS='' GOCACHE=$TMP/cache go build -o ../gone main.go) || bail "no Go program"
go tool nm -type gone | sed -n 's/^ *\([0-9a-f]*\) [Tt] \(.*\)/\1 \2/p' | sort >functions
strip -s gone
exits 0 "a stripped Go program" "$SPOOR" record -o x.spoor -- ./gone
is "$(hottest gone -i x.spoor)" "gone main.burnGo" "has names"
cut -d ' ' -f 1 functions | "$SPOOR" symbolize --no-demangle --obj gone | cut -f 1 | sed '/^$/d' >ours
cut -d ' ' -f 2- functions | sed 's/\.abi0$//; s/\[[^]]*\]/[...]/g' >gos
is "$(wc -l <ours)" "$(wc -l <gos)" "each of its functions has a line"
paste -d '\n' ours gos | sed 's/\[[^]]*\]/[...]/g' | paste - - | awk -F '\t' '$1 != $2' >differ
in_range "$(wc -l <differ)" 0 4 "and the name that go tool nm has for it, but for marks of the linker"
diag_file differ

# Go 1.26 and later leave 0 for where the text begins; here Go programs, linked by Go and by gcc, are made to look so.
for how in -buildmode=pie -ldflags=-linkmode=external; do
	(cd go && GO111MODULE=off GOFLAGS='' GOCACHE=$TMP/cache go build "$how" -o ../gone main.go) || bail "no Go program"
	strip -s -o stated gone
	python3 - stated unstated <<'END' || bail "no program like those of Go 1.26"
import re, subprocess, sys
lines = subprocess.run(['objdump', '-hw', sys.argv[1]], capture_output=True, text=True).stdout
at, offset = (int(x, 16) for x in re.search(r'gopclntab +\w+ +(\w+) +\w+ +(\w+)', lines).groups())
data = bytearray(open(sys.argv[1], 'rb').read())
data[offset + 24:offset + 32] = bytes(8)
# The loader does not fill it in, either.
word = (at + 24).to_bytes(8, 'little') + (8).to_bytes(8, 'little')
if (k := data.find(word)) >= 0:
    data[k:k + 8] = (at + 16).to_bytes(8, 'little')
open(sys.argv[2], 'wb').write(data)
END
	go tool nm -type gone | sed -n 's/^ *\([0-9a-f]*\) [Tt] .*/\1/p' | sort >functions
	for file in stated unstated; do
		"$SPOOR" symbolize --no-demangle --obj $file <functions | cut -f 1 | sed '/^$/d' >$file.names
	done
	is "$(diff stated.names unstated.names)" "" "go build $how: $(grep -c '^main[.]' unstated.names) functions of main, without where the text begins"
done

# Linkage stubs of what is installed, as objdump names them.
for file in "$(readlink -f /bin/bash)" "$(readlink -f "$(command -v gdb)")" /lib/*/libc.so.6; do
	objdump -d -j .plt -j .plt.sec -j .plt.got "$file" 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\([^*]*\)@plt>:$/\1 \2/p' | sed 's/@.*//; s/$/@plt/' >stubs
	cut -d ' ' -f 1 stubs | "$SPOOR" symbolize --no-demangle --no-inline --obj "$file" | cut -f 1 | sed '/^$/d' >ours
	is "$(cut -d ' ' -f 2 stubs | diff ours -)" "" "$(wc -l <stubs) stubs of ${file##*/} have their names"
done
# Of a function that a resolver chooses, the resolver has the name, or one of its aliases.
nm -D --defined-only "$file" | sed -n 's/^0*\([0-9a-f]*\) i \([^@]*\).*/\1 \2/p' | sort >resolvers
cut -d ' ' -f 1 resolvers | sort -u >starts
"$SPOOR" symbolize --no-inline --obj "$file" <starts | cut -f 1 | sed '/^$/d; s/@.*//' >ours
paste -d ' ' starts ours | sort >named
isnt "$(wc -l <starts)" 0 "libc has functions that resolvers choose"
is "$(comm -23 named resolvers | grep -v ' __' | head -n 5)" "" "each has its resolver's name"

# Only the package with the symbols is left.
"${CC:-gcc}" -O1 -g -pthread -fno-omit-frame-pointer -Wl,--build-id=sha1 -o whole "$TOP/tests/fixtures/burn.c" ||
	bail "no compiler"
exits 0 "a program" "$SPOOR" record -o x.spoor -- ./whole 300
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
mkdir -p ".debug/.build-id/${id:0:2}/${id:2}"
objcopy --only-keep-debug whole ".debug/.build-id/${id:0:2}/${id:2}/debug"
rm whole
is "$(hottest whole -i x.spoor)" "whole burn_hot" "that is gone has the names of its debug file"

# Stripped as Fedora does: .dynsym, and the rest packed.
"${CC:-gcc}" -O1 -g -pthread -fno-omit-frame-pointer -o whole "$TOP/tests/fixtures/burn.c" || bail "no compiler"
nm -D whole --format=posix --defined-only | cut -d ' ' -f 1 | sort >dynamic
nm whole --format=posix --defined-only | sed -n 's/ [TtD] .*//p' | sort | comm -13 dynamic - >kept
objcopy --only-keep-debug whole debug
objcopy -S --remove-section .comment --keep-symbols=kept debug mini
if ! xz mini || ! strip -s -o stripped whole || ! objcopy --add-section .gnu_debugdata=mini.xz stripped packed; then
	bail "no MiniDebugInfo"
fi
exits 0 "a program with MiniDebugInfo" "$SPOOR" record -o x.spoor -- ./packed 300
is "$(hottest packed -i x.spoor)" "packed burn_hot" "has names"
nm whole | sed -n 's/^0*\([0-9a-f]*\) [Tt] .*/\1/p' | sort -u >starts
"$SPOOR" symbolize --obj packed <starts | cut -f 1 | sed '/^$/d; s/^??$/-/' >ours
sed 's/.*/info symbol 0x&/' starts >ask && gdb -nx -batch -x ask packed 2>/dev/null |
	sed 's/^No symbol.*/-/; s/ in section .*//; s/^\(.*\) + .*/\1/' >gdbs
is "$(wc -l <ours)" "$(wc -l <starts)" "each of its functions has a line"
is "$(diff ours gdbs)" "" "and the name that gdb has for it"

# What is missing is told by object, the larger part first, with what finds it.
"${CC:-gcc}" -O1 -pthread -fno-omit-frame-pointer -Wl,--build-id=sha1 -o lineless "$TOP/tests/fixtures/burn.c" ||
	bail "no compiler"
"${CC:-gcc}" -O1 -s -pthread -fno-omit-frame-pointer -DBURN_OTHER -Dburn_hot=burn_cold -Wl,--build-id=sha1 -o nameless \
	"$TOP/tests/fixtures/burn.c" || bail "no compiler"
exits 0 "programs of which one has no names, and none has lines" \
	"$SPOOR" record -o x.spoor -- sh -c './nameless 200; ./lineless 600'
told=$("$SPOOR" report -i x.spoor -s dso,srcline 2>&1)
lineless=$(readelf -n lineless | sed -n 's/.*Build ID: //p')
like "$told" "^# +[0-9.]+%  $TMP/nameless: the file is stripped: its functions have no names; install .*\(build-id [0-9a-f]{40}\)" "names"
like "$told" "^# +[0-9.]+%  $TMP/lineless: no debug information; install its debug symbols .*\(build-id $lineless\)" "lines"
unlike "$("$SPOOR" report -i x.spoor 2>&1)" "No source lines" "where they are asked for"
is "$("$SPOOR" report -i x.spoor -s comm -q 2>/dev/null | grep -c build-id)" 0 "not when only rows are"

# Deleted, or in another root, while it runs.
"${CC:-gcc}" -O1 -g -pthread -static -fno-omit-frame-pointer -Wl,--build-id=sha1 -o lives "$TOP/tests/fixtures/burn.c" ||
	bail "no compiler"
mkdir jail && cp lives jailed
background ./lives 60000
lives=$!
exits 0 "a program that goes on" "$SPOOR" record -p $lives --duration 300ms -o x.spoor
rm lives
is "$(hottest lives -i x.spoor)" "lives burn_hot" "has names when its file is deleted"
# Two processes that nobody can read the maps of, in an exec that does not end.
mkdir stuck && if mknod fuse c 10 229 2>/dev/null; then
	background "$FIXTURES/silent_fs" "$TMP/fuse" "$TMP/stuck" /bin/true flush "$FIXTURES/silent_user" exec 2 600 >stuck.out 2>&1
	silent=$!
	wait_for 10 grep -q ready stuck.out && sleep 0.5
	held_up() { ! timeout 1 cat /proc/[0-9]*/maps >/dev/null 2>&1; }
fi
if [ -e fuse ] && held_up; then
	is "$(timeout 60 "$SPOOR" report --json --comm lives -i x.spoor 2>err | jq -r '.rows[0].symbol')" "burn_hot" \
		"also beside processes that hold up whoever reads their maps"
else
	skip "no process can be made that holds up whoever reads its maps"
fi
[ -z "${silent-}" ] || { kill "$silent" && wait "$silent"; }
kill $lives
wait $lives
is "$(hottest lives -i x.spoor)" "lives [unknown]" "as long as it lives"
like "$("$SPOOR" report -i x.spoor)" '^# \[unknown\]: [0-9]+ of ' "which files lack names is told"
unlike "$("$SPOOR" report -s comm,pid -i x.spoor)" '\[unknown\]' "to who asks for names"
if [ "$(id -u)" = 0 ]; then
	# As a container is made: the mount namespace's root, and the old one gone.
	background unshare -m sh -c 'mount -t tmpfs jail jail && cp jailed jail/ && exec python3 -c "
import ctypes, os
libc = ctypes.CDLL(None)
os.chdir(\"jail\")
if libc.pivot_root(b\".\", b\".\") == 0 and libc.umount2(b\".\", 2) == 0:
    os.execv(\"/jailed\", [\"jailed\", \"60000\"])"'
	jailed=$!
	wait_for 10 grep -q jailed "/proc/$jailed/comm"
	exits 0 "one in the root of a container" "$SPOOR" record -p $jailed --duration 300ms -o x.spoor
	is "$(hottest jailed -i x.spoor)" "jailed burn_hot" "has names"
	kill $jailed
	wait $jailed
	is "$(hottest jailed -i x.spoor)" "jailed [unknown]" "as long as it lives"
	is "$(hottest jailed -i x.spoor --symfs .)" "jailed burn_hot" "and below --symfs"
fi

# Where debuginfod's client keeps what it fetched; nothing is fetched.
cp jailed whole
exits 0 "a program" "$SPOOR" record -o x.spoor -- ./whole 300
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
mkdir -p "cache/debuginfod_client/$id" && mv whole "cache/debuginfod_client/$id/executable"
is "$(XDG_CACHE_HOME=$TMP/cache hottest whole -i x.spoor)" "whole burn_hot" "in the cache of debuginfod's client"
is "$(DEBUGINFOD_CACHE_PATH=$TMP/cache/debuginfod_client hottest whole -i x.spoor)" "whole burn_hot" "wherever it is"
: >"cache/debuginfod_client/$id/debuginfo"
rm "cache/debuginfod_client/$id/executable"
like "$(XDG_CACHE_HOME=$TMP/cache "$SPOOR" report -i x.spoor 2>&1)" "$TMP/whole: the file is not on this machine" \
	"where a file without bytes says that there is none"

done_testing
