#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 100s
#
# A budget that any load exceeds, and then a large one: the frequency falls and rises in real time, and spoord says so.
# What the samples count meanwhile: governor.t.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq
need_record_all

config() # LINE
{
	cat >spoord.conf <<-END
		archive_directory = $TMP/archive
		control_socket = $socket
		max_use = 64M
		keep_free = 1
		frequency = 1999
		memory_budget = 0
		$1
	END
}

is_status() # KEY VALUE
{
	[ "$(status "$1")" = "$2" ]
}

is_lowered()
{
	[ "$(status frequency_hz)" -lt 1999 ]
}

mkdir archive
config 'cpu_budget = 0.02%'
start
ok "it records" wait_for 20 suspended false || diag_file log
background "$FIXTURES/burn" 3600000 >/dev/null
load=$!
ok "the frequency falls" wait_for 60 is_lowered || diag_file log
kill "$load"
is "$(status governor)" cpu_budget "which the status explains"
is "$(status wanted_frequency_hz)" 1999 "telling what is configured"
like "$(cat log)" 'cpu_budget: sampling at [0-9]+ of 1999 Hz' "the log says so"

config 'cpu_budget = 100%'
ok "a large budget" ctl reload
# A minute for each step. Side-band of other programs may have lowered it to 1 Hz, and make it several steps.
ok "brings it back" wait_for 400 is_status governor ''
ok "to what is configured" wait_for 5 is_status frequency_hz 1999
like "$(cat log)" 'sampling at 1999 of 1999 Hz' "the log says that, too"
stop
is $? 0 "it stops"
done_testing
