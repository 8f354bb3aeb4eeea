#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @full
#
# .ci/deps against a pretended package manager: asks for what is missing and nothing else.
. "$(dirname "$0")/../lib.sh"

mkdir fake tools
for t in sh env sed grep head cat id true mkdir mktemp tar gzip mv rm; do
	ln -s "$(command -v $t)" tools/
done

cat >fake/dpkg-query <<'SH'
#!/bin/sh
[ "$1" != -L ] || { echo "${PARTS-}"; exit; }
shift 2
for p; do
	case $p in
	clang) case " $MISSING " in *" clang "*) exit 1 ;; esac; [ "$#" -gt 1 ] || { echo "clang-14 (>= 14.0)"; exit; } ;;
	esac
	case " $MISSING " in *" $p "*) ;; *) echo "installed $p" ;; esac
done
SH
cat >fake/apt-get <<'SH'
#!/bin/sh
echo "apt-get $*" >>log
[ -z "${OFFLINE-}" ] || [ "$2" != update ]
SH
cat >fake/apt-cache <<'SH'
#!/bin/sh
case $2 in "${UNKNOWN:-none}") exit 100 ;; esac
echo 'Depends: clang-14 (>= 14~)'
SH
cat >fake/npm <<'SH'
#!/bin/sh
echo "npm $*" >>"$LOG"
[ "$*" != "${*%"${NOT_THERE:-none}"}" ] && exit 1
for last; do :; done
echo content >content
mkdir package && mv content package/
tar -czf "$(echo "$last" | sed 's/^@//; s,/,-,; s/@/-/').tgz" package
SH
printf '#!/bin/sh\necho sudo >>log\nexec "$@"\n' >fake/sudo
printf '#!/bin/sh\necho ${FAKE_ID:-0}\n' >fake/id
chmod +x fake/*
rm tools/id

deps() # MISSING ARGUMENTS...: runs with only the fakes and a few tools in sight
{
	local missing=$1
	shift
	: >log
	env -i LOG="$TMP/log" NOT_THERE="${NOT_THERE-}" SPOOR_MACHINES="$TMP/machines" MISSING="$missing" UNKNOWN="${UNKNOWN-}" PARTS="${PARTS-}" OFFLINE="${OFFLINE-}" FAKE_ID="${FAKE_ID-0}" PATH="$TMP/fake:$TMP/tools" \
		sh "$TOP/.ci/deps" "$@" >out 2>err
}

deps ''
is "$?" 0 "nothing missing: succeeds"
is "$(cat log out err)" "" "nothing missing: says and does nothing"

deps 'libbsd-dev jq'
is "$?" 0 "two missing: succeeds"
like "$(grep install log)" '^apt-get -q install -y --no-install-recommends libbsd-dev jq *$' "two missing: just those are installed"
like "$(cat err)" 'missing: libbsd-dev jq' "two missing: said before it is done"

deps 'libbsd-dev jq' build
unlike "$(cat log)" 'jq' "what only tests need is left when only building"

deps 'clang libclang-rt-14-dev'
like "$(grep install log)" 'clang .*libclang-rt-14-dev' "clang brings the runtime of its version"

UNKNOWN=libclang-rt-14-dev deps 'clang libclang-rt-14-dev'
unlike "$(grep install log)" 'libclang-rt' "which is not asked for where no such package is"
PARTS=/usr/lib/libclang_rt.fuzzer.a deps 'libclang-rt-14-dev'
is "$(cat log out err)" "" "nor where libclang-common has it"

OFFLINE=1 deps 'jq'
is "$?" 0 "package lists that cannot be renewed are not the end"

FAKE_ID=1000 deps 'jq'
like "$(cat log)" '^sudo' "not root: by sudo"
like "$(cat err)" 'sudo apt-get install' "not root: said"

NOT_THERE=@1.25.0 deps '' viewers
is "$?" 1 "a package that npm has not: fails"
like "$(cat err)" 'speedscope@1.25.0 is not to be had' "... and says which"
is "$(find machines -type f)" "" "... and leaves nothing"
deps '' viewers
is "$?" 0 "viewers: succeeds"
is "$(grep -c '^npm pack' log) $(find machines -name content | LC_ALL=C sort | tr '\n' ' ')" \
	"2 machines/npm/firefox-devtools-profiler-cli-0.10.0/content machines/npm/speedscope-1.25.0/content " "... each is unpacked"
is "$(find machines/npm -mindepth 1 -maxdepth 1 | wc -l)" 2 "... and nothing is left beside"
deps '' viewers
is "$(cat log out err)" "" "... and the second time nothing is done"
rm -r machines
FAKE_ID=1000 deps '' viewers
like "$(cat log)" '^sudo' "viewers, not root: by sudo"
mv fake/npm npm.away
rm -r machines
deps '' viewers
like "$(grep install log)" '^apt-get -q install -y --no-install-recommends npm *$' "no npm: Debian's"
mv npm.away fake/npm

mv fake/sudo sudo.away
FAKE_ID=1000 deps 'jq'
is "$?" 1 "no sudo: fails"
like "$(cat err)" 'as root run: apt-get install jq' "no sudo: says what to do"
mv sudo.away fake/sudo

rm fake/dpkg-query fake/apt-get
deps ''
is "$?" 1 "another distribution: stops"
like "$(cat err)" 'libbsd\(pkg-config\)' "another distribution: names what is missing"
like "$(cat err)" 'not a Debian' "another distribution: says so"

done_testing
