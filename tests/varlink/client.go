// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls every method of io.spoor.Recorder with a varlink library that is not ours
// (github.com/varlink/go, Debian's golang-github-varlink-go-dev), through types that its generator
// made from the description the service itself gives: package iospoorrecorder. Prints TAP.
//
//	client ADDRESS SHIPPED-DESCRIPTION
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	iospoor "iospoorrecorder"

	"github.com/varlink/go/varlink"
)

var tests int
var failed bool

func ok(good bool, name string, err error) {
	tests++
	if good && err == nil {
		fmt.Printf("ok %d - %s\n", tests, name)
		return
	}
	failed = true
	fmt.Printf("not ok %d - %s\n", tests, name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "# %s: %#v\n", name, err)
	}
}

func service(ctx context.Context, c *varlink.Connection, shipped string) {
	var vendor, product, version, url string
	var interfaces []string

	err := c.GetInfo(ctx, &vendor, &product, &version, &url, &interfaces)
	ok(product == "spoord" && len(interfaces) == 2, "GetInfo", err)
	for _, i := range interfaces {
		_, err = c.GetInterfaceDescription(ctx, i)
		ok(true, "GetInterfaceDescription of "+i, err)
	}
	want, err := os.ReadFile(shipped)
	ok(len(want) > 0, "the shipped description", err)
	got, err := c.GetInterfaceDescription(ctx, "io.spoor.Recorder")
	ok(got == string(want), "the description is the shipped one", err)
	_, err = c.GetInterfaceDescription(ctx, "io.spoor.Nothing")
	var notFound *varlink.InterfaceNotFound
	ok(errors.As(err, &notFound), "an interface that there is not", nil)
	err = c.Call(ctx, "io.spoor.Recorder.Nothing", nil, nil)
	var noMethod *varlink.MethodNotFound
	ok(errors.As(err, &noMethod), "a method that there is not", nil)
	err = c.Call(ctx, "io.spoor.Recorder.List", map[string]string{"skip": "x"}, nil)
	var invalid *varlink.InvalidParameter
	ok(errors.As(err, &invalid) && invalid.Parameter == "skip", "a parameter of a wrong type", nil)
}

func monitor(ctx context.Context, address string) {
	c, err := varlink.NewConnection(ctx, address)
	if err != nil {
		ok(false, "Monitor", err)
		return
	}
	defer c.Close()
	second := int64(1)
	receive, err := iospoor.Monitor().Send(ctx, c, varlink.More, &second)
	for i := 0; i < 3 && err == nil; i++ {
		var flags uint64
		var frequency int64
		_, _, _, _, _, _, _, _, _, _, _, frequency, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, flags, err =
			receive(ctx)
		ok(flags&varlink.Continues != 0 && frequency > 0, fmt.Sprintf("Monitor, reply %d", i+1), err)
	}
	ok(true, "Monitor", err)
}

func capture(ctx context.Context, c *varlink.Connection, address string) {
	duration, frequency := 1.5, int64(199)
	graph := "fp"
	one, err := iospoor.Capture().Call(ctx, c, &duration, nil, &frequency, nil, &graph,
		nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	ok(!one.Running && one.File != nil && one.Elapsed_s > 1, "Capture", err)

	receive, err := iospoor.Capture().Send(ctx, c, varlink.More, nil, nil, &frequency, nil, nil,
		nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	if err != nil {
		ok(false, "Capture with more", err)
		return
	}
	one, flags, err := receive(ctx)
	ok(one.Running && flags&varlink.Continues != 0, "Capture with more, at once", err)
	one, flags, err = receive(ctx)
	ok(one.Running && flags&varlink.Continues != 0, "Capture with more, progress", err)

	other, err := varlink.NewConnection(ctx, address)
	if err != nil {
		ok(false, "a second connection", err)
		return
	}
	defer other.Close()
	all, err := iospoor.ListCaptures().Call(ctx, other)
	ok(len(all) == 1 && all[0].Id == one.Id, "ListCaptures", err)
	err = iospoor.StopCapture().Call(ctx, other, one.Id)
	ok(true, "StopCapture", err)
	for flags&varlink.Continues != 0 && err == nil {
		one, flags, err = receive(ctx)
	}
	ok(!one.Running, "Capture with more, the last reply", err)
	err = iospoor.StopCapture().Call(ctx, other, one.Id)
	var gone *iospoor.NoSuchCapture
	ok(errors.As(err, &gone), "StopCapture of one that ended", nil)
}

func archive(ctx context.Context, c *varlink.Connection) {
	ok(true, "Sync", iospoor.Sync().Call(ctx, c))
	ok(true, "Rotate", iospoor.Rotate().Call(ctx, c))
	file, _, err := iospoor.Dump().Call(ctx, c)
	ok(file != "", "Dump", err)
	label := "varlink-go"
	kept, files, err := iospoor.Keep().Call(ctx, c, time.Now().Unix()-600, nil, &label)
	ok(kept == label && files > 0, "Keep", err)
	total, list, err := iospoor.List().Call(ctx, c, nil)
	ok(total > 0 && int64(len(list)) == total, "List", err)
	age := int64(86400)
	_, _, _, err = iospoor.Vacuum().Call(ctx, c, nil, &age, nil)
	ok(true, "Vacuum", err)
	ok(true, "Reload", iospoor.Reload().Call(ctx, c))
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := varlink.NewConnection(ctx, os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "# %v\n", err)
		os.Exit(1)
	}
	service(ctx, c, os.Args[2])
	_, uptime, _, _, lost, _, _, _, _, _, _, frequency, _, _, _, cpus, _, use, rss, _, _, _, _, directory, _, _, _, _, _, _, _, _, _, _, _, _, _, _, err :=
		iospoor.GetStatus().Call(ctx, c)
	ok(uptime >= 0 && len(lost) > 5 && frequency > 0 && cpus > 0 && rss > 0 && use.Percent >= 0 && directory != "", "GetStatus", err)
	archive(ctx, c)
	capture(ctx, c, os.Args[1])
	monitor(ctx, os.Args[1])
	fmt.Printf("1..%d\n", tests)
	if failed {
		os.Exit(1)
	}
}
