#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The attacks of spoord(8), SECURITY, on the installed service in a booted machine, where spoord has the capabilities of
# its unit and no more: a user with a shell, a member of group spoor, and authors of hostile files.
. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/systemd/machine.sh"

machine_make || skip_all "$machine_why"
machine_install
printf '%s\n' 'frequency = 499' 'cpu_budget = 0' 'block_age = 1s' 'segment_age = 1h' 'store_objects = all' \
	'objects_share = 50%' 'max_use = 64M' 'keep_free = 0' >"$machine/etc/spoor/spoord.conf"

archive=$machine/var/lib/spoor
mallory=(setpriv --reuid mallory --regid mallory --init-groups)
member=(setpriv --reuid member --regid member --init-groups)

samples_of() # COMM
{
	machine spoorctl sync >/dev/null 2>&1
	machine spoor report --json --comm "$1" -i /var/lib/spoor 2>/dev/null | jq '[.rows[].samples] | add // 0'
}

was_sampled() # COMM
{
	[ "$(samples_of "$1")" -ge 50 ]
}

ok "it boots" machine_boot || exit 1
machine systemd-sysusers
machine systemd-tmpfiles --create
machine useradd --create-home victim
machine useradd --create-home mallory
machine useradd --create-home --groups spoor member
install -m 755 "$FIXTURES/jit" "$machine/home/mallory/jit"
machine chown -R mallory: /home/mallory
ok "it starts" machine systemctl start spoord.service || { journal >said; diag_file said; exit 1; }
pid=$(machine systemctl show -P MainPID spoord.service)
is "$(machine sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$pid/status")" 0000014400080004 "with five capabilities"

# --- what members may read ------------------------------------------------------------------------

captured() # MODE NAME OPTION...: a capture of root's has this mode, and so a member reads it or does not
{
	local mode=$1 name=$2 file
	shift 2
	rm -f "$archive"/captures/*
	machine spoorctl capture --duration 300ms "$@" >out 2>err || diag_file err
	file=$(find "$archive/captures" -type f -printf '%f\n')
	is "$(stat -c %a "$archive/captures/$file")" "$mode" "$name: its mode"
	machine "${member[@]}" spoor info -i "/var/lib/spoor/captures/$file" >out 2>err
	is $? $((mode == 640 ? 0 : 1)) "$name: what a member may"
}
captured 640 "a capture without contents"
captured 600 "root_capture_stacks: stacks by a term of an event" -e cpu-clock/call-graph=dwarf/
captured 600 "root_capture_stacks: stacks by the option" --call-graph dwarf
captured 600 "root_capture_fields: fields of a tracepoint" -e sched:sched_switch

# --- names from files that their owner may not read --------------------------------------------------

# A process of mallory's has FILE in the place of its perf map, in a namespace of mounts of his own.
install -D -m 600 /dev/null "$machine/srv/private"
install -m 644 /dev/null "$machine/srv/public"
echo "1000 7ffffffff000 secret" | tee "$machine/srv/private" >"$machine/srv/public"
cat >"$machine/home/mallory/mounts" <<'SH'
touch /tmp/perf-$$.map && mount --bind "$1" /tmp/perf-$$.map && exec "/home/mallory/$2" none 2
SH
deputy() # NAME FILE
{
	# As young as the process: what is older would be of another one.
	touch "$machine/srv/private" "$machine/srv/public"
	cp "$machine/home/mallory/jit" "$machine/home/mallory/$1"
	machine "${mallory[@]}" unshare -Urm --propagation private bash /home/mallory/mounts "$2" "$1" >out 2>err ||
		diag_file err
	ok "jit_deputy: $1: its process was sampled" was_sampled "$1"
	machine spoor report --json --comm "$1" -i /var/lib/spoor 2>/dev/null >report.json
	is "$(jq '[.rows[] | select(.symbol == "secret") | .samples] | add // 0' report.json)" 0 \
		"jit_deputy: $1: the recorder took no name from it"
}
deputy private /srv/private
deputy public /srv/public
deputy syscall /proc/self/syscall
deputy device /dev/zero
# The same with a map of his own has names.
cp "$machine/home/mallory/jit" "$machine/home/mallory/honest"
machine "${mallory[@]}" /home/mallory/honest map 2 >out 2>err || diag_file err
has_names() # COMM
{
	machine spoorctl sync >/dev/null 2>&1
	machine spoor report --json --comm "$1" -i /var/lib/spoor 2>/dev/null >report.json
	[ "$(jq '[.rows[] | select(.symbol | test("^(alpha|beta)")) | .samples] | add // 0' report.json)" -ge 50 ]
}
ok "the map of a process that mounts nothing is read" wait_for 20 has_names honest || jq -c '.rows[]' report.json | head -5 >&2

# --- copies ----------------------------------------------------------------------------------------

# What its owner alone may read is in no copy. Each program has a build-id of its own, and the secret in its constants,
# its data and its code.
secret=Tr0ub4dor-and-3
for name in owned inside gone nosections public; do
	cat >private.c <<-END
		const char constants[] = "$secret $name", *volatile where = constants;
		char data[] = "$secret $name";
		__asm__(".text; .ascii \"$secret\"");
		int main(void)
		{
			volatile unsigned n = 0;
			for (unsigned i = 0; i < 600000000; i++)
				n += (unsigned)constants[i % 8] + (unsigned)data[i % 8];
			return *where != 'T';
		}
	END
	"${CC:-gcc}" -O1 -Wl,-z,noseparate-code -o "private-$name" private.c || bail "no compiler"
done
python3 - private-nosections <<'PY' || bail "no python"
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[0x28:0x30] = bytes(8) # e_shoff
b[0x3c:0x40] = bytes(4) # e_shnum, e_shstrndx
open(sys.argv[1], "wb").write(b)
PY
install -d -m 700 "$machine/home/victim/closed"
install -m 700 private-owned "$machine/home/victim/owned"
install -m 755 private-inside "$machine/home/victim/closed/inside"
install -m 700 private-nosections "$machine/home/victim/nosections"
install -m 755 private-public "$machine/home/victim/public"
install -m 755 private-gone "$machine/home/victim/gone"
machine chown -R victim: /home/victim
machine chmod 755 /home/victim
victim=(setpriv --reuid victim --regid victim --init-groups)
for run in owned closed/inside nosections public; do
	machine "${victim[@]}" "/home/victim/$run"
	ok "$run was sampled" was_sampled "${run##*/}"
done
machine "${victim[@]}" sh -c 'exec 9</home/victim/gone; rm /home/victim/gone; exec /proc/self/fd/9'
ok "an unlinked program was sampled" was_sampled 9
copies() # STRING
{
	grep -rl -e "$1" "$archive/spoor-objects" | wc -l
}
# The whole copy of what all may read shows that the secret would be found.
public_has_copy()
{
	[ "$(copies "$secret public")" -eq 1 ]
}
ok "the program that all may read has a whole copy" wait_for 20 public_has_copy
is "$(copies "$secret")" 1 "objects_whole_private, objects_no_sections: no other copy has the secret" ||
	grep -r -o -a -e "$secret [a-z]*" "$archive/spoor-objects" >&2

# --- the service after all of it --------------------------------------------------------------------

is "$(machine systemctl show -P MainPID spoord.service)" "$pid" "the service is the same process"
is "$(status suspended)" false "and records" || journal | tail -n 5 >&2
unlike "$(journal)" 'Sanitizer|Assertion|dumped core' "the journal has no crash"
ok "stop" machine systemctl stop spoord.service
done_testing
