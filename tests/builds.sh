#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/root.sh CODENAME tests/builds.sh [NAME...]: everything, tests included, built as others would build
# it, each time without a single warning: other flags, clang, other targets (which are not run). Compilers
# and libraries of those targets are installed: not on a machine that somebody lives on.
set -u
cd "$(dirname "$0")/.." || exit 1
[ "$PWD" = /spoor ] || { echo "usage: tests/root.sh CODENAME tests/builds.sh [NAME...]" >&2; exit 2; }

mapfile -t libraries < <(sed -n "s/^\(build\|check\)='//p" .ci/deps | grep -o '[^ ]*-dev\>' | grep '^lib\|^zlib')
wanted=$*
failed=0

build() # NAME VARIABLE=VALUE...
{
	local name=$1 start=$SECONDS verdict="no warning" log=build-$1.log

	[[ -z $wanted || " $wanted " = *" $name "* ]] || return 0
	shift
	if ! env "$@" make -j"$(nproc)" WERROR=1 BUILD="build-$name" all build-tests >"$log" 2>&1; then
		verdict=FAILED
	elif grep -q '[wW]arning:' "$log"; then
		verdict=warnings # of the linker, or of its compiler
	fi
	printf '%-10s %s, %d s: %s\n' "$name" "$verdict" $((SECONDS - start)) "$*"
	if [ "$verdict" != "no warning" ]; then
		grep -E -A4 '[wW]arning:|[eE]rror:|undefined|\*\*\*' "$log" | head -n 40
		failed=1
	fi
	rm -rf "build-$name"
}

install_for() # ARCHITECTURE PACKAGE...
{
	dpkg-query -s "${@:2}" >/dev/null 2>&1 || {
		dpkg --add-architecture "$1" && apt-get -q update &&
			DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${@:2}"
	}
}

cross() # CPU ARCHITECTURE: as the compilers and dpkg call it
{
	local cpu=$1 architecture=$2 packages

	[[ -z $wanted || " $wanted " = *" $cpu "* ]] || return 0
	packages=("gcc-$cpu-linux-gnu" "g++-$cpu-linux-gnu" "${libraries[@]/%/:$architecture}")
	if ! install_for "$architecture" "${packages[@]}" >"apt-$cpu.log" 2>&1; then
		echo "$cpu        its packages are not to be had:"
		tail -n 5 "apt-$cpu.log"
		failed=1
		return
	fi
	# i386's compiler is i686's and its directory is not.
	build "$cpu" CC="$cpu-linux-gnu-gcc" CXX="$cpu-linux-gnu-g++" AR="$cpu-linux-gnu-ar" \
		PKG_CONFIG_LIBDIR="/usr/lib/${cpu/i686/i386}-linux-gnu/pkgconfig:/usr/share/pkgconfig"
}

build plain CFLAGS='-O2 -g'
build O0 CFLAGS='-O0 -g'
build O3-lto CFLAGS='-O3 -flto=auto'
build fortify CFLAGS='-O2 -g -D_FORTIFY_SOURCE=3'
build clang CC=clang CXX=clang++
cross aarch64 arm64
cross i686 i386
exit $failed
