#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
# @budget 70s
#
# The Makefile where a packager or a cross build bends it: tools by name, other flags, directories with a
# space, where files are installed.
. "$(dirname "$0")/../lib.sh"

run() # ARGUMENT...: make, in a build of its own
{
	# What was given to the make that runs this test is in the environment as well.
	env -u CC -u CXX -u AR -u PKG_CONFIG -u CFLAGS -u CPPFLAGS -u LDFLAGS -u WERROR -u SAN \
		"${MAKE:-make}" -s -C "$TOP" "$@" </dev/null
}

mkdir tools
for tool in ar pkg-config; do
	printf '#!/bin/sh\necho "$*" >>"%s"\nexec %s "$@"\n' "$TMP/$tool.log" "$tool" >tools/my-$tool
	chmod +x tools/my-$tool
done

at_exit 'run BUILD="$TMP/a build" clean'
ok "a directory with a space, tools by name, no optimization" run -j"$(nproc)" BUILD="$TMP/a build" \
	WERROR=1 CFLAGS=-O0 AR="$TMP/tools/my-ar" PKG_CONFIG="$TMP/tools/my-pkg-config" all
is "$("a build/spoor" --version 2>&1)" "$("$SPOOR" --version 2>&1)" "it is built there, and runs"
is "$(sed -n 's,^rcs .*/\(lib[a-z]*\.a\) .*,\1,p' ar.log | sort | tr '\n' ' ')" \
	"libdaemon.a libformat.a librecorder.a libsymbolizer.a " "AR made the archives"
like "$(cat pkg-config.log)" '^--cflags libbsd' "PKG_CONFIG told the flags"
like "$(cat pkg-config.log)" '^--libs .*libelf' "and the libraries"

compiles() # FLAGS...: format/bytes/buf.c, without a warning; optimization or fortification may be the builder's
{
	ok "no warning: $*" run BUILD="$TMP/flags" WERROR=1 "$@" "$TMP/flags/format/bytes/buf.o"
}
compiles CFLAGS=-g
compiles CFLAGS='-O3 -D_FORTIFY_SOURCE=3'
compiles CPPFLAGS=-D_FORTIFY_SOURCE=3
compiles CFLAGS='-O2 -O0'
like "$(run -n BUILD="$TMP/flags" V=1 CFLAGS=-Os "$TMP/flags/format/bytes/buf.o")" ' -D_FORTIFY_SOURCE=2 ' \
	"with optimization it is fortified"

# --- what is too old, or not there -----------------------------------------------------------

refused() # WORDS NAME ARGUMENT...
{
	local words=$1 name=$2

	shift 2
	run BUILD="$TMP/old" "$@" "$TMP/old/format/bytes/buf.o" >old.log 2>&1
	isnt "$?" 0 "$name: is not built by"
	like "$(cat old.log)" "$words" "$name: is named"
}
if "${CC:-gcc}" --version | grep -q clang; then
	refused 'clang 8 or newer' "an old compiler" CC="${CC:-gcc}" CPPFLAGS='-U__clang_major__ -D__clang_major__=7'
else
	refused 'gcc 7 or newer' "an old compiler" CC="${CC:-gcc}" CPPFLAGS='-U__GNUC__ -D__GNUC__=6'
fi
mkdir old-libc
printf '#include_next <features.h>\n#undef __GLIBC_MINOR__\n#define __GLIBC_MINOR__ 27\n' >old-libc/features.h
refused 'glibc 2\.28 or newer' "an old C library" CPPFLAGS="-I$TMP/old-libc"
cat >tools/old-pkg-config <<'SH'
#!/bin/sh
case "$*" in *libzstd\ * | *jansson*) exit 1 ;; esac
exec pkg-config "$@"
SH
chmod +x tools/old-pkg-config
refused '^spoor: missing: libzstd >= 1\.4\.0, jansson; "make deps"' "an old library, and one that is not there" \
	PKG_CONFIG="$TMP/tools/old-pkg-config"
refused '^spoor: missing: libiberty/demangle\.h;' "a library without pkg-config's file" CPPFLAGS=-nostdinc
refused '^spoor: missing: a compiler \(no-cc\);' "a compiler that is not there" CC=no-cc

# --- what is installed, and taken away -----------------------------------------------------------

# Not anew: with the variables of the make that built it.
installed() # ARGUMENT...: leaves the names in "files", and nothing under "a root"
{
	rm -rf "a root"
	"${MAKE:-make}" -s -C "$TOP" BUILD="$BUILD" DESTDIR="$TMP/a root" install "$@" >install.log 2>&1 </dev/null ||
		diag_file install.log
	(cd "a root" && find . -type f) | sed 's/^\.//' | sort >files
	cp install.log said
	grep -h '^ExecStart' "a root"/*/*/lib/systemd/system/spoord.service >started-by 2>/dev/null
	"${MAKE:-make}" -s -C "$TOP" BUILD="$BUILD" DESTDIR="$TMP/a root" uninstall "$@" >install.log 2>&1 </dev/null ||
		diag_file install.log
}

if [ -e /etc/debian_version ]; then
	of_packages=vendor-completions
else
	of_packages=site-functions
fi
installed PREFIX=/usr
for want in /etc/spoor/spoord.conf /usr/bin/spoor /usr/bin/spoorctl /usr/sbin/spoord /usr/libexec/spoor-unwind \
	/usr/share/bash-completion/completions/spoor "/usr/share/zsh/$of_packages/_spoor" \
	/usr/share/man/man8/spoord.8 /usr/lib/sysusers.d/spoor.conf; do
	ok "PREFIX=/usr: $want" grep -qxF "$want" files
done
is "$(find "a root" -type f)" "" "uninstall takes all of it away"
cp files of-usr
installed PREFIX=/usr/
ok "PREFIX=/usr/: the same files" cmp files of-usr
nok "a PREFIX that is not from the root on is refused" "${MAKE:-make}" -s -C "$TOP" BUILD="$BUILD" -n install PREFIX=inst
is "$(find "a root" -name spoor)" "" "nor are directories of its own left"
installed PREFIX=/usr/local
is "$(grep -v '^/usr/local/' files)" "" "PREFIX=/usr/local: nothing is elsewhere"
ok "PREFIX=/usr/local: zsh's site-functions" grep -qx /usr/local/share/zsh/site-functions/_spoorctl files
installed PREFIX=/opt/spoor
is "$(grep -v '^/opt/spoor/' files)" "" "PREFIX=/opt/spoor: nothing is elsewhere"
for want in etc/spoor/spoord.conf lib/systemd/system/spoord.service lib/sysusers.d/spoor.conf lib/tmpfiles.d/spoor.conf; do
	ok "PREFIX=/opt/spoor: $want" grep -qxF "/opt/spoor/$want" files
done
like "$(cat said)" "^configuration: .*a root/opt/spoor/etc/spoor/spoord.conf$" "where the configuration went is said"
like "$(cat said)" "^units: .*a root/opt/spoor/lib/systemd/system/spoord\.service and \.socket; .*systemctl link" "and where units did"
is "$(cat started-by)" "ExecStart=/opt/spoor/sbin/spoord --foreground -c /opt/spoor/etc/spoor/spoord.conf" "which start it with that configuration"
is "$(find "a root" -mindepth 1 ! -path "a root/opt")" "" "uninstall leaves nothing of it"
installed PREFIX=/opt/spoor zshdir=/z
ok "zshdir is where it is told" grep -qx /z/_spoor files
printf '#!/bin/sh\nexit 1\n' >tools/no-pkg-config
chmod +x tools/no-pkg-config
like "$(run -p -n BUILD="$TMP/flags" PKG_CONFIG="$TMP/tools/no-pkg-config" uninstall PREFIX=/usr 2>/dev/null)" \
	"'/usr/lib/systemd/system/spoord.service'" "without systemd.pc units go to /usr/lib/systemd/system"

# zsh itself, where it is installed: both directories are among those that it looks into.
if command -v zsh >/dev/null; then
	for dir in "/usr/share/zsh/$of_packages" /usr/local/share/zsh/site-functions; do
		like "$(zsh -fc 'print -l $fpath')" "^$dir\$" "zsh looks into $dir"
	done
else
	skip "zsh is not installed" 2
fi
done_testing
