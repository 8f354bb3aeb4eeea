#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 60s
#
# cpu_budget: the status says that the budget is exceeded, since when, by what, and what was given up for it; captures are
# told by the user who asked for them, and that no more is used than the budget.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/daemon.sh"
need_command jq
need_record_all
at_exit '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'

config() # CPU-BUDGET
{
	cat >spoord.conf <<-END
		archive_directory = $TMP/archive
		control_socket = $socket
		frequency = 1999
		cpu_budget = $1
		memory_budget = 0
		max_use = 256M
		keep_free = 0
		block_age = 1s
	END
}

is_status() # FILTER
{
	[ "$(status "cpu_use | ($1)")" = true ]
}

# So small that not even one sample a second fits, whatever the machine.
config 0.001%
began=$(date +%s)
ok "it starts" start
background "$FIXTURES/burn" 600000
ok "the status says that the budget is exceeded" wait_for 120 is_status .exceeded
ok "and what was lowered for it" wait_for 60 is_status \
	'.exceeded and (.given_up | any(test("^cpu_budget: sampling at [0-9]+ of 1999 Hz$")))'
# Both of one moment: each second more may be lowered.
for _ in {1..50}; do
	ctl status --json >json
	ctl status >text
	ctl status --json | jq -e --slurpfile j json '.cpu_use == $j[0].cpu_use' >/dev/null && break
done
in_range "$(jq .cpu_use.exceeded_since_s json)" "$began" "$(date +%s)" "since when"
is "$(jq .cpu_use.budget_percent json)" 0.001 "which budget"
# A thread tells its time now and then, so that a part may have some of the window before: test_cpu_use has equality.
ok "by what: the parts are the whole" jq -e '.cpu_use | .percent - (.samples + .sideband + .helpers + .flight_recorder + .rest +
	(.captures | add // 0)) < 0.0001' json
ok "samples or side-band are in it" jq -e '.cpu_use | .samples + .sideband > 0' json
# shellcheck disable=SC2016
jq -r '.cpu_use.given_up[]' json >given
like "$(cat text)" 'OVER BUDGET cpu_budget of 0\.001 % since [0-9]{4}-[0-9-]+ [0-9:]+: [0-9.]+ % of a CPU' "in words"
is "$(sed -n '/^given up/,/^[a-z]* /s/^\(given up\)\{0,1\} *\(cpu_budget: .*\)/\2/p' text)" "$(cat given)" "with what was given up"

# For a capture nothing is lowered: it is told whose it is.
background "$BUILD/spoorctl" --socket "$socket" capture --duration 600 -F 1999 -o capture.spoor
capture=$!
ok "captures are told by their user" wait_for 60 is_status ".captures[\"$(id -u)\"] > 0"
kill -INT "$capture"
wait "$capture"
ok "as long as there is one" wait_for 60 is_status '.captures | length == 0'

# With room there is nothing to be told of but what has not been raised yet.
config 100%
ok "more is allowed" ctl reload
ok "it is exceeded no more" wait_for 60 is_status '.exceeded | not'
is "$(status 'cpu_use.exceeded_since_s')" null "since no time"
unlike "$(ctl status)" 'OVER BUDGET' "in words neither"
config 0
ok "without a budget" ctl reload
is "$(status 'cpu_use.budget_percent')" 0 "none is told"
ok "stop" stop
[ "$tests_failed" -eq 0 ] || { diag_file json; diag_file text; diag_file log; }
done_testing
