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
