#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/install.sh DIRECTORY [VARIABLE=VALUE]...: `make install` below DIRECTORY with these variables of make, what
# is installed runs, and `make uninstall` takes every file away.
set -eu
cd "$(dirname "$0")/.."
root=$1
shift

rm -rf "$root"
make --no-print-directory install DESTDIR="$root" PREFIX=/usr "$@"
"$root/usr/bin/spoor" --version
"$root/usr/sbin/spoord" -n -c "$root/etc/spoor/spoord.conf" >/dev/null
"$root/usr/libexec/spoor-unwind" --version
make --no-print-directory uninstall DESTDIR="$root" PREFIX=/usr "$@"
left=$(find "$root" -type f)
[ -z "$left" ] || { echo "uninstall leaves: $left" >&2; exit 1; }
