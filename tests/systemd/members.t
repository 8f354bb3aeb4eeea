#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 90s
#
# What users cost, on the installed service in a booted machine: floods of calls, labels, odd programs, a budget that does
# not suffice, and a file system without inodes. What each promise is in numbers is tests/daemon/'s; here it holds with
# spoord's real user, capabilities and limits.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/systemd/machine.sh"
need_command jq

machine_make || skip_all "$machine_why"
machine_install
config() # LINE...: and what all have
{
	printf '%s\n' 'frequency = 99' 'block_age = 1s' 'segment_age = 1h' 'store_objects = all' 'max_use = 64M' \
		'keep_free = 0' "$@" >"$machine/etc/spoor/spoord.conf"
}
config 'cpu_budget = 0'
archive=$machine/var/lib/spoor

is_status() # FILTER
{
	[ "$(status "cpu_use | ($1)")" = true ]
}

samples_over() # COUNT
{
	[ "$(status samples)" -gt "$1" ]
}

as() # USER COMMAND...: in his home
{
	local user=$1

	shift
	machine setpriv --reuid "$user" --regid "$user" --init-groups env HOME="/home/$user" sh -c 'cd && exec "$@"' - "$@"
}

ok "it boots" machine_boot || exit 1
machine systemd-sysusers
machine systemd-tmpfiles --create
machine useradd --create-home --groups spoor member
machine useradd --create-home --groups spoor other
machine useradd --create-home mallory
install -m 644 "$TOP/tests/varlink/member_flood.py" "$machine/srv/member_flood.py"
ok "it starts" machine systemctl start spoord.service || { journal >said; diag_file said; exit 1; }
pid=$(machine systemctl show -P MainPID spoord.service)
socket=$(machine systemctl show -P Listen spoord.socket | sed 's/ .*//')
wait_for 20 samples_over 0

# --- calls ----------------------------------------------------------------------------------------

flood() # SECONDS WAY...
{
	as member python3 /srv/member_flood.py "$socket" "$@" >flood.out 2>flood.err
}
began=$(date +%s)
flood 12 status refused captures keep sync list odd unread bytewise &
flooder=$!
as other spoorctl capture --duration 3s -F 97 -o theirs.spoor >capture.out 2>&1 &
capture=$!
asked=0
missed=0
while kill -0 $flooder 2>/dev/null; do
	machine spoorctl status >/dev/null 2>&1 || missed=$((missed + 1))
	as other spoorctl status >/dev/null 2>&1 || missed=$((missed + 1))
	asked=$((asked + 2))
	sleep 0.2
done
seconds=$(($(date +%s) - began + 1))
read -r calls connections _ <flood.out || diag_file flood.err
diag "$calls calls answered on $connections connections in $seconds s"
in_range "$asked" 2 1e9 "root and another member ask during a flood"
is "$missed" 0 "and are answered each time"
in_range "$calls" 10 $((600 + 150 * seconds)) "member_log_flood: the flood is answered, within a user's turns"
ok "another member's capture is made" wait $capture || diag_file capture.out
in_range "$("$SPOOR" info --json "$machine/home/other/theirs.spoor" 2>/dev/null | jq .samples)" 10 1e9 "and has samples"
uid=$(machine id -u member)
in_range "$(journal | grep -c "no capture for uid $uid: ")" 1 $((seconds / 60 + 2)) \
	"member_log_flood: refused captures have one line a minute, with the uid"
in_range "$(status "warnings | map(select(test(\"uid $uid\"))) | length")" 0 2 \
	"member_log_flood: two of the warnings are the member's at most"

# --- labels ---------------------------------------------------------------------------------------

# All of it was pinned by the flood, if anything was.
machine sh -c 'rm -rf /var/lib/spoor/kept/*'
ok "member_sync: a member's sync is answered" as member spoorctl sync
# As soon as root rotates: a member may every ten seconds.
machine spoorctl rotate >/dev/null 2>&1
for sealed in "$archive"/2*.spoor; do :; done
boot=${sealed##*/}
boot=${boot#*-}
for n in {1..6}; do
	old=$archive/20250101T00000$n.000000Z-$boot
	cp -p "$sealed" "$old"
	truncate -s 8M "$old"
	touch -d "2025-01-01 00:00:0$n UTC" "$old"
done
wait_for 20 eval 'machine spoorctl list | grep -q 20250101T000006'
keep() # USER UNTIL LABEL: the first UNTIL of these six
{
	as "$1" spoorctl keep --since '2025-01-01 00:00:00 UTC' --until "2025-01-01 00:00:0$2 UTC" --label "$3"
}
ok "member_keep: a member keeps three" keep member 3 mine
keep other 5 theirs >out 2>err
is $? 1 "member_keep: another does not get more than is left of the half"
like "$(cat err)" 'they may pin half of max_use' "member_keep: and is told so"
rm -f "$archive"/20250101T*.spoor

# --- programs ---------------------------------------------------------------------------------------

# log_flood: a build-id of one byte is no name of a copy. It is the fault of its file.
"${CC:-gcc}" -O1 -static -Wl,--build-id=0x07 -x c -o odd - <<'C' || bail "no compiler"
int main(void)
{
	for (volatile unsigned i = 0; i < 300000000; i++)
		;
	return 0;
}
C
for n in {1..10}; do
	install -m 755 odd "$machine/home/mallory/odd_$n"
	echo "$n" >>"$machine/home/mallory/odd_$n"
done
lines=$(journal | wc -l)
# shellcheck disable=SC2016 # for sh in there
as mallory sh -c 'for n in $(seq 10); do ./odd_$n & done; wait'
machine spoorctl sync
in_range "$(machine spoor report --json -s comm -i /var/lib/spoor 2>/dev/null |
	jq '[.rows[] | select(.comm | test("^odd_")) | .samples] | add // 0')" 50 1e9 "odd programs are sampled"
in_range "$(journal | tail -n +$((lines + 1)) | grep -c "odd_\|build-id")" 0 2 "log_flood: the journal is not filled by them"
is "$(status 'warnings | map(select(test("odd_"))) | length')" 0 "log_flood: nor are the warnings"

# --- a budget that does not suffice ---------------------------------------------------------------

config 'cpu_budget = 0.001%'
ok "a new configuration" machine systemctl reload spoord.service
ok "cpu_budget: it is exceeded" wait_for 120 is_status .exceeded
ok "cpu_budget: what was given up is told" wait_for 120 is_status '.given_up | any(test("^cpu_budget: sampling at "))'
config 'cpu_budget = 0'
machine systemctl reload spoord.service

# --- the service after all of it ------------------------------------------------------------------

is "$(machine systemctl show -P MainPID spoord.service)" "$pid" "the service is the same process"
in_range "$(status rss_bytes)" 1 $((128 << 20)) "within the memory of its unit"
is "$(status suspended)" false "and records" || journal | tail -n 5 >&2
unlike "$(journal)" 'Sanitizer|Assertion|dumped core' "the journal has no crash"

# --- no inodes ------------------------------------------------------------------------------------

# objects_inodes: copies go before a recording does.
ok "stop" machine systemctl stop spoord.service spoord.socket
machine mount -t tmpfs -o size=64m,nr_inodes=64,mode=750,uid="$(machine id -u spoor)",gid="$(machine id -g spoor)" \
	inodes /var/lib/spoor || bail "no tmpfs in the machine"
machine systemctl start spoord.socket spoord.service
wait_for 20 samples_over 10
machine systemctl stop spoord.service
in_archive() # COMMAND...: as spoor, in the archive
{
	machine setpriv --reuid spoor --regid spoor --clear-groups sh -c 'cd /var/lib/spoor && exec "$@"' - "$@"
}
segments=$(in_archive find . -maxdepth 1 -name '*.spoor')
isnt "$segments" "" "there is a segment"
in_archive sh -c 'umask 027; mkdir -p spoor-objects/.build-id/ab; for n in $(seq 100 163); do
	touch -d "2020-01-01 00:00:00" spoor-objects/.build-id/ab/$n.debug 2>/dev/null || break
done'
is "$(in_archive stat -f -c %d .)" 0 "copies have taken the last inode"
had=$(in_archive find spoor-objects -name '*.debug' | wc -l)
machine systemctl start spoord.service
ok "objects_inodes: it records" wait_for 20 samples_over 10 || journal | tail -n 5 >&2
is "$(comm -23 <(sort <<<"$segments") <(in_archive find . -maxdepth 1 -name '*.spoor' | sort))" "" \
	"objects_inodes: and no segment is gone for that"
in_range "$(in_archive find spoor-objects -name '*.debug' | wc -l)" 1 "$((had - 1))" "objects_inodes: but copies are, and not all"
ok "stop" machine systemctl stop spoord.service
done_testing
