# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of spoord, after lib.sh: . "$TOP/tests/daemon.sh". There is one daemon at a time, that of
# $TMP/spoord.conf, which has to name $socket; what it says is in $TMP/log, its process is $pid.
spoord=$BUILD/spoord
socket=$TMP/socket
pid=

start() # in the background; it may not yet answer: wait_for 20 ctl status
{
	background "$spoord" -c spoord.conf --foreground 2>>log
	pid=$!
}

stop() # in order; returns its exit status, and $pid is empty
{
	local ended

	kill -TERM "$pid" 2>/dev/null
	wait "$pid"
	ended=$?
	pid=
	return $ended
}

ctl() # ARGUMENT...: of spoorctl
{
	"$BUILD/spoorctl" --socket "$socket" "$@"
}

status() # KEY: of spoorctl status; prints nothing when nobody answers
{
	ctl status --json 2>/dev/null | jq -r ".$1"
}

samples_over() # COUNT: it has more samples than that; fails when nobody answers
{
	[ "$(status samples)" -gt "$1" ] 2>/dev/null
}

suspended() # true|false: whether it says that it cannot write
{
	[ "$(status suspended)" = "$1" ]
}

descriptors() # how many it has open
{
	find "/proc/$pid/fd" -mindepth 1 | wc -l
}

rss_kib() # its memory
{
	awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"
}

# PROGRAM MS: in a root that is gone when it ends. In the background its process is the program's own.
# shellcheck disable=SC2016,SC2034 # for sh; for tests
container=(unshare --mount --propagation private sh -c '
	mount -t tmpfs jail jail && mkdir jail/bin && cp "$1" "jail/bin/$1" && exec chroot jail "/bin/$1" "$2"' -)

# It lives as long as that takes, and so that it is sampled: a daemon that has no CPU looks later.
container_until_stored() # PROGRAM COPY
{
	local program stored=0

	mkdir -p jail
	background "${container[@]}" "$1" 600000
	program=$!
	wait_for 60 test -f "$2" || stored=1
	sleep 2
	kill "$program"
	return $stored
}
