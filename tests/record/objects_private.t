#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# objects_whole_private: a copy of a program is whole only where every user can reach and read the file. Where the
# mode of the file alone says so, those who may read the copies would read what the file keeps from them.
. "$(dirname "$0")/../lib.sh"
need_record_all
need_command python3 readelf unshare
[ "$(id -u)" = 0 ] || skip_all "not root: no containers"
mkdir jail
mount -t tmpfs jail jail 2>/dev/null || skip_all "no tmpfs can be mounted here"
umount jail

program() # NAME: a program of its own, with what is secret in its code and in its data
{
	cat >secret.c <<-END
		const char secret_$1[] = "the secret of $1"; char data_$1[] = "the secret of $1";
		__asm__(".text; .ascii \"the secret of $1\"; .balign 16");
	END
	"${CC:-gcc}" -static -O2 -o "$1" "$TOP/tests/fixtures/deep.c" secret.c || bail "no compiler"
	chmod 755 "$1"
}
copy_of() # PROGRAM
{
	local id

	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	echo "a/spoor-objects/.build-id/${id:0:2}/${id:2}.debug"
}
recorded() # COMMAND...: while it runs
{
	rm -rf a && mkdir a
	exits 0 "recorded" "$SPOOR" record -q -a --store-objects=ephemeral -o a/x.spoor -- "$@"
}
reduced() # WHAT PROGRAM
{
	ok "$1: there is a copy" test -f "$(copy_of "$2")"
	nok "$1: with nothing of what is secret" grep -qr 'secret of' a/spoor-objects
	is "$(readelf -SW "$(copy_of "$2")" | grep -c ' \.text .*NOBITS')" 1 "$1: without code"
	like "$("$SPOOR" report --no-pager -i a/x.spoor --sort sym 2>&1)" '[0-9]% .* deep_leaf' "$1: names are known"
}
whole() # WHAT PROGRAM
{
	cmp -n "$(stat -c %s "$2")" "$2" "$(copy_of "$2")" 2>err
	is $? 0 "$1: is stored whole" || diag_file err
}

chmod 755 .
program seen
recorded ./seen 1500
whole "what all can reach and read" seen

# --- no name --------------------------------------------------------------------------------------

# Before the recorder sees the process: until then it may be read by all.
program gone && program memory
cat >nameless.py <<'END'
import fcntl, os, sys
if sys.argv[1] == "memory":
	# One that is not sealed any user may write to who gets it, and it is not root's.
	fd = os.memfd_create("unseen", os.MFD_ALLOW_SEALING)
	os.write(fd, open("memory", "rb").read())
	fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
else:
	fd = os.open("gone.run", os.O_RDONLY)
	os.unlink("gone.run")
os.execv("/proc/self/fd/%d" % fd, ["unseen", "1500"])
END
cp gone gone.run
recorded python3 nameless.py gone
reduced "a deleted file" gone
recorded python3 nameless.py memory
reduced "a file in memory" memory

# --- a private directory --------------------------------------------------------------------------

program hidden && mkdir private && cp hidden private && chmod 700 private
recorded private/hidden 1500
reduced "a directory of mode 0700" hidden
chmod 711 private
recorded private/hidden 1500
whole "one that others may search" hidden
chmod 701 private
recorded private/hidden 1500
reduced "one that all may search but its group" hidden
chmod 755 private && chmod 705 private/hidden
recorded private/hidden 1500
reduced "a file that all may read but its group" hidden
chmod 755 private/hidden
# user::rwx user:1234:--- group::r-x mask::r-x other::r-x
if python3 -c 'import os, struct
os.setxattr("private", "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in
	((1, 7, 0xffffffff), (2, 0, 1234), (4, 5, 0xffffffff), (16, 5, 0xffffffff), (32, 5, 0xffffffff))))' 2>err; then
	recorded private/hidden 1500
	reduced "a directory with an access control list" hidden
else
	diag "no access control lists here: $(tail -n 1 err)"
fi
rm -r private

# --- another root ---------------------------------------------------------------------------------

program inside
recorded unshare --mount --propagation private sh -c '
	mount -t tmpfs -o mode=755 jail jail && mkdir jail/bin && cp inside jail/bin && chroot jail /bin/inside 1500'
reduced "a container's root" inside
# Where the host has another file of that path.
program elsewhere && mkdir place && cp seen place/elsewhere
recorded unshare --mount --propagation private sh -c '
	mount -t tmpfs -o mode=755 jail place && cp elsewhere place && exec place/elsewhere 1500'
reduced "another file in the host's root" elsewhere

# --- copies of earlier recorders ------------------------------------------------------------------

# Whole, and by the rules of before, which have no number. One is linked where it is kept.
program early
copy=$(copy_of early)
rm -rf a && (umask 027 && mkdir -p "$(dirname "$copy")")
cat >mark.py <<'END'
import binascii, struct, sys
def crc32c(data):
	crc = 0xffffffff
	for byte in data:
		crc ^= byte
		for _ in range(8):
			crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
	return crc ^ 0xffffffff
elf, id, to, rules = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[2]), sys.argv[3], int(sys.argv[4])
mark = b"\x89spoor object\r\n\0" + struct.pack("<IIQIBB", 1, 1, len(elf), 0, 0, len(id)) + id + struct.pack("<H", rules)
open(to, "wb").write(elf + mark + struct.pack("<I", crc32c(mark)))
END
id=$(readelf -n early | sed -n 's/.*Build ID: //p')
python3 mark.py early "$id" "$copy" 0
ln "$copy" linked.debug && touch -d 2020-01-01 "$copy"
# Not a copy: a debug file that its owner put there.
cp seen "$(dirname "$copy")/other.debug"
is_renewed() { ! grep -q 'secret of early' "$copy"; }
exits 0 "recorded" "$SPOOR" record -q -a --store-objects=ephemeral -o a/x.spoor --duration 4s -- ./early 2000
ok "a copy that an earlier recorder made whole is reduced" is_renewed
nok "under its other name, too" grep -q 'secret of early' linked.debug
same "both are one file" "$copy" linked.debug
is "$(readelf -SW "$copy" | grep -c ' \.text .*NOBITS')" 1 "it has no code"
ok "what is no copy stays" cmp -s seen "$(dirname "$copy")/other.debug"
mv early early.away
like "$("$SPOOR" report --no-pager -i a/x.spoor --sort sym 2>&1)" '[0-9]% .* deep_leaf' "and names the samples"
python3 mark.py early.away "$id" "$copy" 65535
exits 0 "recorded" "$SPOOR" record -q -a --store-objects=ephemeral -o a/y.spoor --duration 3s
ok "one by later rules is left alone" grep -q 'secret of early' "$copy"

done_testing
