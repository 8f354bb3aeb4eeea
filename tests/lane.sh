#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/lane.sh DIRECTORY COMMAND...: runs a test in a lane of its own. run.sh starts it in new mount, UTS, IPC and
# network namespaces. DIRECTORY, which is the caller's to remove, is /tmp there, and the only network is a loopback
# device. What the command mounts, names or listens on ends with it.
#
# A lane has the host's PID namespace: the kernel gives pid 0 to what a recorder in a PID namespace sees of processes
# outside, so that a daemon would not be tested as it runs. It has the host's tracefs, which the kernel has once.
set -u
dir=$1
shift

ip link set lo up || exit 1
exec {tree}<"$PWD" {build}<"${BUILD:-build}" || exit 1
build_path=$(realpath "${BUILD:-build}")
mount --bind "$dir" /tmp || exit 1
# The tree and the build may lie below the /tmp that is hidden now. mount(8) would resolve a descriptor's link to that
# path; the kernel does not.
again() # PATH DESCRIPTOR
{
	case $1 in /tmp/*) ;; *) return 0 ;; esac
	mkdir -p "$1" && mount --no-canonicalize --bind "/proc/self/fd/$2" "$1"
}
again "$PWD" "$tree" && again "$build_path" "$build" && cd "$PWD" || exit 1
exec {tree}<&- {build}<&-
exec "$@"
