#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The recording half stays clean of ELF and DWARF code, whatever its sources look like.
. "$(dirname "$0")/../lib.sh"
need_command nm

undefined() # ARCHIVE: the symbols that it takes from outside the recording half
{
	nm -g "$BUILD/libformat.a" "$BUILD/librecorder.a" 2>/dev/null |
		awk 'NF == 3 && $2 != "U" { print $3 }' | sort -u >ours
	nm -u "$BUILD/$1" 2>/dev/null | awk '$1 == "U" { print $2 }' | sort -u | comm -23 - ours
}

elf='^(elf(32|64)?_|gelf_|dwarf_|dwfl_|dwelf_|ebl_|cplus_demangle)'
for archive in libformat.a librecorder.a; do
	ok "$archive is there" test -s "$BUILD/$archive"
	isnt "$(nm -u "$BUILD/$archive" 2>/dev/null | grep -c ' U ')" 0 "$archive refers to something (nm works)"
	unlike "$(undefined $archive)" "$elf" "$archive refers to no ELF or DWARF library"
done
unlike "$(undefined librecorder.a)" '^ZSTD_' "librecorder.a leaves compression to format/"
unlike "$(undefined libformat.a)" '^(pthread_create|socket|connect|printf|__printf_chk|exit|clock_gettime)$' \
	"libformat.a neither prints, exits, asks the clock nor talks"

# The check would see it: an object that does call libelf.
printf 'int elf_version(int); int f(void); int f(void) { return elf_version(1); }\n' >elf.c
"${CC:-gcc}" -c elf.c -o elf.o && ar rcs elf.a elf.o
like "$(nm -u elf.a | awk '$1 == "U" { print $2 }')" "$elf" "a reference to libelf is seen"

done_testing
