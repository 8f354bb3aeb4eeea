#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/root.sh CODENAME COMMAND...: runs the command, as root, on a clean copy of this checkout in a
# tree of that release of Debian or Ubuntu. The tree has the packages of .ci/deps and is kept in
# $SPOOR_MACHINES. The kernel, its processes and its control groups are the host's: events see them all,
# and ids mean the same on both sides. The exit status is the command's, or 1 with the reason on stderr.
set -eu
cd "$(dirname "$0")/.."
. tests/debootstrap.sh

fail() { echo "root.sh: $*" >&2; exit 1; }

[ $# -ge 2 ] || { echo "usage: tests/root.sh CODENAME COMMAND..." >&2; exit 2; }
codename=$1
shift
case $codename in '' | *[!a-z]*) fail "$codename is no codename of a release (such as trixie)" ;; esac
debootstrap_possible unshare pivot_root flock tar || fail "$debootstrap_why"

tree=$SPOOR_MACHINES/$codename-build
work=
trap '[ -z "$work" ] || rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# enter COMMAND...: in the tree, whose /spoor and /tmp are those of $work. Its mounts are its own.
enter()
{
	# shellcheck disable=SC2016 # for the shell in there
	unshare --mount --propagation private bash -euc '
		tree=$1 work=$2
		shift 2
		mount --bind "$tree" "$tree"
		cd "$tree"
		mount --rbind /proc proc
		mount --rbind /sys sys
		mount --rbind /dev dev
		mount -t tmpfs -o mode=755 tmpfs run
		mount --bind "$work/tmp" tmp
		mount --bind "$work/spoor" spoor
		mkdir run/host
		pivot_root . run/host
		umount -l /run/host
		rmdir /run/host
		cd /spoor
		exec "$@"' bash "$tree" "$work" \
		/usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		LANG=C.UTF-8 TERM="${TERM:-dumb}" ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

# What git would have, with what is not committed; no build, and no .git.
copy_checkout() # DIRECTORY
{
	if [ -e .git ] && command -v git >/dev/null; then
		git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
			[ ! -e "$f" ] || printf '%s\0' "$f"
		done | tar -c --null --no-recursion -T - | tar -x --no-same-owner -C "$1"
	else
		tar -c --exclude='./build*' . | tar -x --no-same-owner -C "$1"
	fi
}

options=()
[ "$(debootstrap_origin "$codename")" != Ubuntu ] || options=("--components=main,universe")
mkdir -p "$SPOOR_MACHINES"
work=$(mktemp -d "$SPOOR_MACHINES/work.XXXXXX")
mkdir "$work/spoor"
mkdir -m 1777 "$work/tmp"
copy_checkout "$work/spoor"
(
	flock 9 # who comes second waits for the tree, and finds it made
	debootstrap_tree "$tree" "$codename" "root.sh" "${options[@]}" || fail "$debootstrap_why"
	mkdir -p "$tree/spoor"
	cp --remove-destination -L /etc/resolv.conf /etc/hosts "$tree/etc/"
	enter .ci/deps build check || fail "the packages of .ci/deps are not to be had in $tree"
) 9>"$tree.lock"
status=0
enter "$@" || status=$?
exit $status
