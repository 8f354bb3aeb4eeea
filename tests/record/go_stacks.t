#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# @budget 60s
#
# Stacks of Go end where its runtime ends them: at a goroutine's or a thread's first function, and where another stack
# was changed to. None ends at an address without a map, by copied stacks or by frame pointers, stripped or not.
. "$(dirname "$0")/../lib.sh"
need_command go jq strip

mkdir src && cat >src/main.go <<'GO'
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func turn(n int) uint64 {
	x := uint64(1)
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		if i%200 == 0 {
			runtime.Gosched() // by mcall(), on the thread's own stack
		}
	}
	return x
}

func main() {
	var all sync.WaitGroup
	sums := make([]uint64, 8)
	for k := range sums {
		all.Add(1)
		go func(k int) {
			defer all.Done()
			sums[k] = turn(10000000)
		}(k)
	}
	all.Wait()
	fmt.Println(sums)
}
GO
(cd src && HOME=$TMP GO111MODULE=off GOFLAGS='' GOCACHE=$TMP/cache go build -o ../goes main.go) || bail "no Go program"
strip -g -o stripped goes

for program in goes stripped; do
	"$SPOOR" record -e cpu-clock:u --call-graph dwarf,4096 -F 499 -o $program.spoor -- ./$program >/dev/null 2>err || bail "record: $(cat err)"
	"$SPOOR" report --children --json $program.spoor >$program.json 2>err
	ok "$program: stacks were unwound" jq -e '.unwound.stacks > 0' $program.json
	is "$(jq -c '[.unwound | .no_map, .bad_cfi]' $program.json)" "[0,0]" "... none to where nothing is mapped"
	"$SPOOR" export -f folded $program.spoor >$program.folded 2>err
	ok "... there are some on the stack of a thread" grep -q 'runtime\.mcall;' $program.folded
	is "$(grep 'runtime\.mcall;' $program.folded | grep -v "^$program;runtime\.mcall;")" "" "... which end there"
done
"$SPOOR" record -e cpu-clock:u -g -F 499 -o fp.spoor -- ./goes >/dev/null 2>err || bail "record: $(cat err)"
"$SPOOR" export -f folded fp.spoor >fp.folded 2>err
ok "by frame pointers: goroutines" grep -q '^goes;runtime\.goexit.*;main\.turn' fp.folded
is "$(grep -E ';\[unknown\];.*runtime\.(goexit|mstart|mcall)' fp.folded)" "" "... nothing without a map is behind the last function"
done_testing
