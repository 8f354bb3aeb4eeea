#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/headers.sh [ROOT]: every header compiles on its own, twice over (its guard works); after banned.h, too, which only
# adds declarations: there all headers of a directory are compiled as one. Each bears the guard DIR_FILE_H, as those of
# tests do. Tables (*_tbl.h) are included by macro and exempt.
set -u
cd "${1:-.}" || exit 2

flags=(-std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -iquote . -I format/uapi -I recorder/uapi -Wall -Wextra -Wundef -Werror -fsyntax-only)
read -r -a libraries <<<"$("${PKG_CONFIG:-pkg-config}" --cflags libbsd libmd libzstd libelf libdw jansson zlib liblzma capstone)"
bad=0

complain()
{
	echo "headers: $1: $2" >&2
	bad=$((bad + 1))
}

look_at_guard() # HEADER
{
	local guard=${1^^} line
	guard=${guard//[\/.-]/_}
	while read -r line; do
		[ "$line" != "#ifndef $guard" ] || return
	done <"$1"
	complain "$1" "has not the guard $guard"
}

# The compiler names the header and the line. One process of it reads many files: most of these are short.
compiles() # FLAG... FILE...
{
	"${CC:-gcc}" "${flags[@]}" ${libraries[@]+"${libraries[@]}"} "$@"
}

units=$(mktemp -d "${TMPDIR:-/tmp}/spoor-headers.XXXXXX") || exit 2
trap 'rm -rf "$units"' EXIT
mkdir "$units/alone" "$units/together"
declare -A together
while read -r header; do
	look_at_guard "$header"
	name=${header//\//,}
	printf '#include "%s"\n#include "%s"\nextern int unused;\n' "$header" "$header" >"$units/alone/${name%.h}.c"
	together[${header%/*}]+="#include \"$header\""$'\n'
done < <(find format recorder symbolizer daemon -name '*.h' ! -name '*_tbl.h' 2>/dev/null | sort)
for dir in "${!together[@]}"; do
	printf '%sextern int unused;\n' "${together[$dir]}" >"$units/together/${dir//\//,}.c"
done
[ ${#together[@]} -eq 0 ] || {
	compiles "$units"/alone/*.c || complain "what is named above" "does not compile alone"
	compiles -include banned.h "$units"/together/*.c || complain "what is named above" "does not compile after banned.h"
}
while read -r header; do
	look_at_guard "$header"
done < <(find tests/lab tests/fixtures -name '*.h' 2>/dev/null | sort)

[ $bad -eq 0 ]
