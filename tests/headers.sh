#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/headers.sh [ROOT]: every header compiles on its own, twice over (its guard works), with and
# without banned.h; and bears the guard DIR_FILE_H, as those of tests do. Tables (*_tbl.h) are included by macro and exempt.
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
	local guard
	guard=$(printf '%s' "$1" | tr '[:lower:]/.-' '[:upper:]___')
	grep -qx "#ifndef $guard" "$1" || complain "$1" "has not the guard $guard"
}

while read -r header; do
	look_at_guard "$header"
	for banned in '' '-include banned.h'; do
		# shellcheck disable=SC2086 # two words or none
		printf '#include "%s"\n#include "%s"\nextern int unused;\n' "$header" "$header" |
			"${CC:-gcc}" "${flags[@]}" ${libraries[@]+"${libraries[@]}"} $banned -x c - ||
			complain "$header" "does not compile alone${banned:+ after banned.h}"
	done
done < <(find format recorder symbolizer daemon -name '*.h' ! -name '*_tbl.h' 2>/dev/null | sort)
while read -r header; do
	look_at_guard "$header"
done < <(find tests/lab tests/fixtures -name '*.h' 2>/dev/null | sort)

[ $bad -eq 0 ]
