#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# tests/root.sh, with a pretended debootstrap: a tree of a few programs of this host.
. "$(dirname "$0")/../lib.sh"
need_command unshare pivot_root flock

mkdir fake machines
export SPOOR_MACHINES=$TMP/machines
root() # COMMAND...
{
	PATH=$TMP/fake:$PATH "$TOP/tests/root.sh" trixie "$@" >out 2>err </dev/null
}

printf '#!/bin/sh\necho 1000\n' >fake/id
chmod +x fake/id
root true
is "$? $(cat err)" "1 root.sh: not root" "another user than root is told so"
rm fake/id
[ "$(id -u)" -eq 0 ] || { skip "a tree is entered by root"; done_testing; exit; }

cat >fake/debootstrap <<'SH'
#!/bin/sh
mkdir "$3" && : >"$3/half"
echo "I: Retrieving Release"
echo "E: $SAYS"
exit 1
SH
chmod +x fake/debootstrap
SAYS='Failed getting release file http://mirror/dists/trixie/Release' root true
is "$?" 1 "no mirror: fails"
like "$(cat err)" '^root.sh: the mirror of trixie is out of reach: Failed getting release file http://mirror/' \
	"and says so"
SAYS='Tried to extract package, but file already exists.' root true
like "$(cat err)" "^root.sh: debootstrap has no trixie: Tried to .*\($TMP/machines/debootstrap.log\)" \
	"another failure is told, and where the rest stands"
nok "half a tree is none" test -e machines/trixie-build

# The release has what .ci/deps asks for.
cat >fake/debootstrap <<'SH'
#!/bin/bash
echo "$*" >>"$TMP/made"
tree=$3
mkdir -p "$tree"/{bin,etc,proc,sys,dev,run,tmp,usr/bin,lib}
for p in sh bash env cat ls id sed grep head umount rmdir; do
	file=$(command -v $p)
	cp -L "$file" "$tree/bin/"
	ldd "$file"
done | grep -o '/[^ ]*' | sort -u | while read -r library; do
	case $library in *:) continue ;; esac
	mkdir -p "$tree${library%/*}"
	cp -L "$library" "$tree$library"
done
cp "$tree/bin/env" "$tree/usr/bin/env"
cat >"$tree/bin/dpkg-query" <<'END'
#!/bin/sh
[ "$1" != -L ] || { echo libclang_rt; exit; }
shift 2
for p; do
	[ -e /lacking ] || echo "installed $p"
done
END
printf '#!/bin/sh\nexit 1\n' >"$tree/bin/apt-get"
chmod +x "$tree"/bin/*
SH
root sh -c 'exit 7'
is "$?" 7 "the command's exit status is that of root.sh" || diag_file err
like "$(cat err)" '^# debootstrap trixie from ' "the tree is made, and it is told from where"
root sh -c 'ls -a; echo "at $PWD of $(cat /proc/1/comm)"; ls /tmp; : >README.md; : >/tmp/mine'
is "$?" 0 "a second command"
is "$(wc -l <made)" 1 "has the same tree"
like "$(cat out)" '^README.md$' "a copy of the checkout"
unlike "$(cat out)" '^(build|\.git)$' "without its build"
like "$(cat out)" "^at /spoor of $(cat /proc/1/comm)$" "the host's processes"
is "$(sed '1,/^at /d' out)" "" "and a /tmp of its own"
ok "what is changed there stays there" test -s "$TOP/README.md"
is "$(find machines -maxdepth 1 -name 'work.*')" "" "and is removed"
: >machines/trixie-build/lacking
root true
is "$? $(grep -c '^root.sh: the packages of .ci/deps' err)" "1 1" "packages that cannot be had are told"
done_testing
