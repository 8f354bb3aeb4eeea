#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sandbox: under the installed unit, whose filter refuses capset(2), each helper has the capabilities of its work and no
# others, and does that work; where it cannot give them up it does nothing, which the log says once.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/systemd/machine.sh"

machine_make || skip_all "$machine_why"
machine_install
for program in burn jit; do
	install -D -m 755 "$FIXTURES/$program" "$machine/home/load/$program"
done
# The system lies on an overlay, so that all that runs is copied: there has to be room for it.
printf '%s\n' 'frequency = 199' 'block_age = 1s' 'segment_age = 5min' 'cpu_budget = 0' 'call_graph = auto' 'max_use = 256M' 'objects_share = 50%' \
	'keep_free = 0' >"$machine/etc/spoor/spoord.conf"

# Of each helper: permitted, effective, ambient, no_new_privs.
helpers()
{
	# shellcheck disable=SC2016 # expanded in there
	machine sh -c 'for pid in $(pgrep -x spoor-helper); do
		sed -n "s/^\(CapPrm\|CapEff\|CapAmb\|NoNewPrivs\):[[:space:]]*//p" "/proc/$pid/status" | paste -sd" "
	done'
}

has_helper() # TEXT
{
	helpers | grep -qx "$1"
}

# What the service recorded so far.
report() # OPTION...
{
	# shellcheck disable=SC2016
	machine sh -c 'spoorctl sync >/dev/null; spoor report --json -i /var/lib/spoor "$@" 2>/dev/null' - "$@" </dev/null
}

symbol_named() # COMM PATTERN
{
	report -s comm,sym | jq -e --arg c "$1" --arg s "$2" \
		'[.rows[] | select(.comm == $c and (.symbol | test($s)))] | length > 0'
}

objects()
{
	find "$machine/var/lib/spoor/spoor-objects" -name '*.debug' 2>/dev/null
}

copy_of() # BUILD-ID
{
	objects | grep -Eq "/${1:0:2}/${1:2}\.([0-9]+\.)?debug$"
}

ok "it boots" machine_boot || exit 1
machine systemd-sysusers
machine systemd-tmpfiles --create
machine useradd --create-home load 2>/dev/null
machine chown -R load: /home/load
machine chmod 700 /home/load/burn
machine systemctl daemon-reload
ok "the service starts" machine systemctl start spoord.service

# Bits: 2 CAP_DAC_READ_SEARCH, 19 CAP_SYS_PTRACE, 40 CAP_CHECKPOINT_RESTORE.
none=0000000000000000
jit=0000000000080004
files=0000010000080004
cp "$machine/home/load/burn" "$machine/home/load/gone"
build_id=$(readelf -n "$machine/home/load/gone" | sed -n 's/.*Build ID: //p')
machine systemd-run --quiet --uid=load --unit=load-burn --collect /home/load/burn 3600000
machine systemd-run --quiet --uid=load --unit=load-jit --collect --property=UMask=0077 /home/load/jit map 600
# Its file is gone, and in a /tmp of its own, so that there is a copy.
machine systemd-run --quiet --uid=load --unit=load-gone --collect --property=PrivateTmp=yes \
	sh -c 'cp /home/load/gone /tmp/gone && { (sleep 2; rm /tmp/gone) & exec /tmp/gone 3600000; }'
ok "names by a build-id of a file that its owner alone may read" wait_for 60 symbol_named burn burn_hot
ok "names of JIT code by a map that its owner alone may read" wait_for 60 symbol_named jit '^alpha\(\)$'
ok "a copy of a file in a /tmp of its own" wait_for 60 copy_of "$build_id"
ok "the worker that finds files has three capabilities" has_helper "$files $files $none 1"
ok "the one that reads names of JIT code two" has_helper "$jit $jit $none 1"
ok "and the one that copies files none" has_helper "$none $none $none 1"

# The process that unwinds: without capabilities, under its filter, and it does its work.
# shellcheck disable=SC2016 # expanded in there
unwinder=$(machine sh -c 'sed -n "s/^\(CapPrm\|CapEff\|CapAmb\|NoNewPrivs\|Seccomp\):[[:space:]]*//p" \
	"/proc/$(pgrep -x -n spoor-unwind)/status" | paste -sd" "')
is "$unwinder" "$none $none $none 1 2" "spoor-unwind has no capability, and a filter"
walked()
{
	report --children | jq -e '.unwound.end > 50'
}
ok "stacks are unwound while they are recorded" wait_for 30 walked || diag "$(report --children | jq -c .unwound)"
is "$(helpers | sort -u)" "$(printf '%s\n' "$none $none $none 1" "$jit $jit $none 1" "$files $files $none 1")" \
	"no helper has others"
unlike "$(journal)" 'cannot start a helper' "none had to be refused"

# As root each has all of them after an exec.
mkdir -p "$machine/etc/systemd/system/spoord.service.d"
printf '[Service]\nUser=root\nGroup=root\n' >"$machine/etc/systemd/system/spoord.service.d/root.conf"
machine systemctl daemon-reload
ok "with a user who cannot give them up" machine systemctl restart spoord.service
refused()
{
	journal | grep -q 'cannot start a helper process (it cannot give up the capabilities'
}
ok "the log says so" wait_for 30 refused
samples()
{
	local n
	n=$(machine spoorctl status --json 2>/dev/null | jq .samples)
	[ "${n:-0}" -gt "$1" ]
}
ok "and it records" wait_for 30 samples 1000
is "$(helpers | wc -l)" 1 "with the process alone that would start helpers"
is "$(journal | grep -c 'cannot start a helper process')" 1 "which is said once"
ok "stop" machine systemctl stop spoord.service
unlike "$(journal)" 'Sanitizer|Assertion|dumped core' "the journal has no crash"
done_testing
