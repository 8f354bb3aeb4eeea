#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/lane.sh DIRECTORY COMMAND...: runs a test in a lane of its own. run.sh starts it in new mount, UTS, IPC and
# network namespaces. DIRECTORY is /tmp there; the caller removes it. Only loopback is up.
# What the command mounts, names or listens on ends with it.
#
# A lane has the host's PID namespace: the kernel gives pid 0 to what a recorder in a PID namespace sees of processes
# outside, so that a daemon would not be tested as it runs. Probes of tracefs are shared: the kernel has one set.
set -u
dir=$1
shift

ip link set lo up || exit 1
exec {tree}<"$PWD" {build}<"${BUILD:-build}" || exit 1
tree_path=$(pwd -P)
build_path=$(realpath "${BUILD:-build}")
mount --bind "$dir" /tmp || exit 1
unset TMPDIR # it may be a directory that is hidden now
# The tree and the build may lie below the /tmp that is hidden now. mount(8) would resolve a descriptor's link to that
# path; the kernel does not.
again() # PATH DESCRIPTOR
{
	case $1 in /tmp/*) ;; *) return 0 ;; esac
	mkdir -p "$1" && mount --no-canonicalize --bind "/proc/self/fd/$2" "$1"
}
again "$tree_path" "$tree" && again "$build_path" "$build" && cd "$PWD" || exit 1
exec {tree}<&- {build}<&-
exec "$@"
