#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A varlink client that we did not write completes every method: tests/varlink/client.go, built
# against Debian's golang-github-varlink-go-dev, with types that its generator makes from what
# GetInterfaceDescription answers.
. "$(dirname "$0")/../lib.sh"

SPOORD=$BUILD/spoord
library=/usr/share/gocode/src/github.com/varlink/go
need_command go
[ -d "$library" ] || skip_all "golang-github-varlink-go-dev is not installed"
need_record_all

export GO111MODULE=off GOFLAGS='' GOPATH="$TMP/go:/usr/share/gocode" GOCACHE="$TMP/cache"
interface=go/src/iospoorrecorder
mkdir -p $interface go/src/client archive

cat >spoord.conf <<-END
	archive_directory = $TMP/archive
	control_socket = $TMP/socket
	frequency = 99
	flight_recorder = 10s @ 99
	max_use = 64M
	keep_free = 0
END
background "$SPOORD" -c spoord.conf --foreground 2>spoord.log
wait_for 20 test -S socket || { diag_file spoord.log; bail "spoord does not come up"; }
wait_for 20 grep -q 'flight recorder: about' spoord.log || bail "the flight recorder does not come up"

# The generator of version 0.4.0 takes interface names in lower case only, which the protocol does not ask for.
go build -o generator github.com/varlink/go/cmd/varlink-go-interface-generator || bail "the generator does not build"
sed 's/^interface io\.spoor\.Recorder$/interface io.spoor.recorder/' \
	"$TOP/docs/io.spoor.Recorder.varlink" >$interface/io.spoor.recorder.varlink
(cd $interface && "$TMP/generator" io.spoor.recorder.varlink) || bail "the generator does not take the description"
sed -i 's/io\.spoor\.recorder\./io.spoor.Recorder./g' $interface/*.go
cp "$TOP/tests/varlink/client.go" go/src/client/
go build -o client client || bail "the client does not build"

# It speaks TAP itself.
./client "unix:$TMP/socket" "$TOP/docs/io.spoor.Recorder.varlink" || tests_failed=1
[ "$tests_failed" -eq 0 ] || diag_file spoord.log
