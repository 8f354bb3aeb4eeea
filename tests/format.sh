#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/format.sh --check|--write FILE...: clang-format over the sources. Only version 14's output
# is the reference: versions differ in small things, and two of them would never agree.
set -eu

mode=$1
shift
tool=clang-format
if command -v clang-format-14 >/dev/null 2>&1; then
	tool=clang-format-14
fi
version=$($tool --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != 14 ]; then
	echo "format: SKIPPED, clang-format is version $version and the reference is 14" >&2
	exit 0
fi

case $mode in
--check)
	bad=$(printf '%s\0' "$@" | xargs -0 -P "$(nproc)" -n 40 "$tool" --dry-run -Werror 2>&1 |
		sed -nE 's/^([^:]*):[0-9]+:[0-9]+: error: .*/\1/p' | sort -u)
	for file in $bad; do
		echo "format: $file is not as clang-format has it (make format)" >&2
	done
	[ -z "$bad" ]
	;;
--write) exec "$tool" -i "$@" ;;
*) echo "usage: $0 --check|--write FILE..." >&2; exit 2 ;;
esac
