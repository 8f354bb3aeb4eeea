/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What -e strings become: as `perf evlist -v` shows them for the same strings (perf 6.1), but
 * that perf does not exclude guests once there is a modifier other than u.
 */
#include "recorder/event/event_spec.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include <cmocka.h>

#include "tests/lab/sysfs_lab.h"

enum { U = 1, K = 2, H = 4, I = 8, GUEST = 16, HOST = 32, PINNED = 64, EXCL = 128 };

/* x: what is excluded (U K H I GUEST HOST), and PINNED, EXCL */
static const struct row {
	const char *text;
	uint32_t type;
	uint64_t config;
	int x;
	unsigned precise;
	bool precise_max;
} rows[] = {
	{ "cycles", 0, 0, GUEST, 0, false },
	{ "cpu-cycles", 0, 0, GUEST, 0, false },
	{ "instructions:u", 0, 1, K | H | GUEST, 0, false },
	{ "cache-references", 0, 2, GUEST, 0, false },
	{ "cache-misses:k", 0, 3, U | H | GUEST, 0, false },
	{ "branches", 0, 4, GUEST, 0, false },
	{ "branch-instructions:h", 0, 4, U | K | GUEST, 0, false },
	{ "branch-misses", 0, 5, GUEST, 0, false },
	{ "bus-cycles", 0, 6, GUEST, 0, false },
	{ "stalled-cycles-frontend", 0, 7, GUEST, 0, false },
	{ "idle-cycles-backend", 0, 8, GUEST, 0, false },
	{ "ref-cycles", 0, 9, GUEST, 0, false },
	{ "cycles:P", 0, 0, GUEST, 0, true },
	{ "cycles:ppp", 0, 0, GUEST, 3, false },
	{ "cycles:upp", 0, 0, K | H | GUEST, 2, false },
	{ "cycles:uk", 0, 0, H | GUEST, 0, false },
	{ "cycles:G", 0, 0, HOST, 0, false },
	{ "cycles:HG", 0, 0, 0, 0, false },
	{ "cycles:D", 0, 0, GUEST | PINNED, 0, false },
	{ "cycles:e", 0, 0, GUEST | EXCL, 0, false },
	{ "cpu-clock", 1, 0, GUEST, 0, false },
	{ "cpu-clock:I", 1, 0, GUEST | I, 0, false },
	{ "cpu-clock:uI", 1, 0, K | H | GUEST | I, 0, false },
	{ "task-clock", 1, 1, GUEST, 0, false },
	{ "page-faults", 1, 2, GUEST, 0, false },
	{ "faults:u", 1, 2, K | H | GUEST, 0, false },
	{ "context-switches", 1, 3, GUEST, 0, false },
	{ "cs", 1, 3, GUEST, 0, false },
	{ "migrations", 1, 4, GUEST, 0, false },
	{ "minor-faults", 1, 5, GUEST, 0, false },
	{ "major-faults", 1, 6, GUEST, 0, false },
	{ "dummy", 1, 9, GUEST, 0, false },
	{ "cgroup-switches", 1, 11, GUEST, 0, false },
	{ "L1-dcache-loads", 3, 0, GUEST, 0, false },
	{ "L1-dcache-load-misses", 3, 0x10000, GUEST, 0, false },
	{ "L1-dcache-stores", 3, 0x100, GUEST, 0, false },
	{ "L1-dcache-prefetch-misses", 3, 0x10200, GUEST, 0, false },
	{ "L1-icache-load-misses:u", 3, 0x10001, K | H | GUEST, 0, false },
	{ "LLC-loads", 3, 2, GUEST, 0, false },
	{ "LLC-store-misses", 3, 0x10102, GUEST, 0, false },
	{ "dTLB-load-misses", 3, 0x10003, GUEST, 0, false },
	{ "iTLB-loads", 3, 4, GUEST, 0, false },
	{ "branch-loads", 3, 5, GUEST, 0, false },
	{ "L1-dcache", 3, 0, GUEST, 0, false },
	{ "L1-dcache-load-refs", 3, 0, GUEST, 0, false },
	{ "l1d-refs-load", 3, 0, GUEST, 0, false },
	{ "L1-data-read-access:u", 3, 0, K | H | GUEST, 0, false },
	{ "L1-dcache-miss", 3, 0x10000, GUEST, 0, false },
	{ "l1-i-speculative-read-misses", 3, 0x10201, GUEST, 0, false },
	{ "L2-write-ops", 3, 0x102, GUEST, 0, false },
	{ "d-tlb-misses-store", 3, 0x10103, GUEST, 0, false },
	{ "Instruction-TLB-Reference", 3, 4, GUEST, 0, false },
	{ "btb-miss", 3, 0x10005, GUEST, 0, false },
	{ "node", 3, 6, GUEST, 0, false },
	{ "cs:S", 1, 3, GUEST, 0, false },
	{ "cs:WbR", 1, 3, GUEST, 0, false },
	{ "1:3", 1, 3, GUEST, 0, false },
	{ "4:0x1a8:u", 4, 0x1a8, K | H | GUEST, 0, false },
	{ "cycles/config1=3/u", 0, 0, K | H | GUEST, 0, false },
	{ "r1a8//k", 4, 0x1a8, U | H | GUEST, 0, false },
	{ "L1-dcache/period=7/:u", 3, 0, K | H | GUEST, 0, false },
	{ "cpu/cycles/", 0, 0, GUEST, 0, false },
	{ "cpu/branch-misses/u", 0, 5, K | H | GUEST, 0, false },
	{ "cpu/L1-dcache-loads/", 3, 0, GUEST, 0, false },
	{ "cpu/r1a8/k", 78, 0x1a8, U | H | GUEST, 0, false },
	{ "cpu_core/cycles/", 0, 79ULL << 32, GUEST, 0, false },
	{ "cpu_core/LLC-load-misses/", 3, 79ULL << 32 | 0x10002, GUEST, 0, false },
	{ "cpu_core/r3c/", 79, 0x3c, GUEST, 0, false },
	{ "node-prefetches", 3, 0x206, GUEST, 0, false },
	{ "r1a", 4, 0x1a, GUEST, 0, false },
	{ "r003c:k", 4, 0x3c, U | H | GUEST, 0, false },
	/* The PMU that setup() makes: see there. */
	{ "fake/event=0x3c/", 77, 0x3c, GUEST, 0, false },
	{ "fake/event=0x13c,umask=3/u", 77, 0x10000033cULL, K | H | GUEST, 0, false },
	{ "fake/edge/", 77, 1 << 18, GUEST, 0, false },
	{ "fake/stall/", 77, 0x4000000a2ULL & 0xfffff, GUEST, 0, false },
	{ "fake/config=0x1234/", 77, 0x1234, GUEST, 0, false },
	{ "stall", 77, 0xa2, GUEST, 0, false },
	{ "stall:u", 77, 0xa2, K | H | GUEST, 0, false },
	{ "stall:P", 77, 0xa2, GUEST, 0, true },
	{ "sched:fork", 2, 4711, GUEST, 0, false },
	{ "sched:fork:k", 2, 4711, U | H | GUEST, 0, false },
	{ "fake/asks,umask=2/", 77, 0x201, GUEST, 0, false },
	{ "fake/umask=2,asks/", 77, 0x201, GUEST, 0, false },
	{ "asks/umask=2/", 77, 0x201, GUEST, 0, false },
	{ "stall/period=5/", 77, 0xa2, GUEST, 0, false },
};

/* What is wrong, at which character, and a part of what is said. */
static const struct refused {
	const char *text;
	size_t at;
	const char *said;
} refused[] = {
	/* names */
	{ "", 1, "an event is missing" },
	{ "nosuch", 1, "unknown event 'nosuch'" },
	{ "cyclse", 1, "unknown event 'cyclse'" },
	{ "cs,nosuch", 4, "unknown event 'nosuch'" },
	{ "cycles,,cs", 8, "an event is missing" },
	{ "cycles,", 8, "an event is missing" },
	{ ",cycles", 1, "an event is missing" },
	{ "{cycles,cs}", 1, "group" },
	{ "cs}", 3, "group" },
	{ "cycles cs", 1, "unknown event 'cycles cs'" },
	{ "cs,  nosuch ", 6, "unknown event 'nosuch'" },
	{ "rxyz", 1, "unknown event" },
	{ "r", 1, "unknown event 'r'" },
	{ "r12345678123456789", 1, "unknown event" },
	{ "L1-icache-stores", 1, "unknown event" },
	{ "iTLB-prefetches", 1, "unknown event" },
	{ "L1-dcache-", 1, "unknown event" },
	{ "L1-dcache-loads-loads", 1, "unknown event" },
	{ "L1-dcache-miss-refs", 1, "unknown event" },
	{ "L1-dcache-loadsmisses", 1, "unknown event" },
	{ "L3-loads", 1, "unknown event" },
	{ "bpf-output", 1, "BPF program" },
	{ "cs,bpf-output", 4, "BPF program" },
	/* waits */
	{ "off-cpu:u", 8, "off-cpu/min=TIME,freq=HZ/" },
	{ "off-cpu/min=soon/", 9, "'min=soon'" },
	{ "cs,off-cpu/freq=0/", 12, "'freq=0'" },
	{ "off-cpu/min=1ms", 16, "off-cpu/min=TIME" },
	/* modifiers */
	{ "cycles:z", 8, "unknown modifier 'z'" },
	{ "cycles:uz", 9, "unknown modifier 'z'" },
	{ "cs,cycles:ukz", 13, "unknown modifier 'z'" },
	{ "cycles:pppp", 11, "at most three p" },
	{ "cycles:uu", 9, "modifier u stands here twice" },
	{ "cycles:uku", 10, "modifier u stands here twice" },
	{ "cycles:DD", 9, "twice" },
	{ "cycles:PuP", 10, "twice" },
	{ "cycles:X", 8, "unknown modifier 'X'" },
	{ "cycles:u:k", 9, "unknown modifier ':'" },
	{ "cycles::u", 8, "unknown modifier ':'" },
	{ "cycles:u k", 9, "unknown modifier ' '" },
	{ "stall:z", 7, "unknown modifier 'z'" },
	{ "r1a:z", 5, "unknown modifier 'z'" },
	{ "fake/event=1/z", 14, "unknown modifier 'z'" },
	{ "fake/event=1/:z", 15, "unknown modifier 'z'" },
	{ "fake/event=1/uu", 15, "twice" },
	{ "sched:fork:z", 12, "unknown modifier 'z'" },
	{ "sched:fork:kk", 13, "twice" },
	{ "L1-dcache:q", 11, "unknown modifier 'q'" },
	/* terms */
	{ "fake/nosuch/", 6, "fake has no term or event 'nosuch'" },
	{ "fake/event=1,nosuch/", 14, "no term or event" },
	{ "cs,fake/event=1,nosuch=3/u", 17, "no term or event" },
	{ "fake/event=0x10000000000/", 12, "more bits" },
	{ "fake/umask=256/", 12, "more bits" },
	{ "fake/event=1,umask=0x100/", 20, "more bits" },
	{ "fake/edge=2/", 11, "more bits" },
	{ "fake/event=x/", 12, "not a number" },
	{ "fake/event=/", 12, "not a number" },
	{ "fake/event=-1/", 12, "not a number" },
	{ "fake/event=1 /", 12, "not a number" },
	{ "fake/event=0x/", 12, "not a number" },
	{ "fake/event=1=2/", 12, "not a number" },
	{ "fake/config=18446744073709551616/", 13, "not a number" },
	{ "fake/,event=1/", 6, "a term is missing" },
	{ "fake/event=1,/", 14, "a term is missing" },
	{ "fake/event=1,,umask=2/", 14, "a term is missing" },
	{ "fake/=1/", 6, "a term is missing" },
	{ "fake/event", 5, "second one is missing" },
	{ "fake/event=1", 5, "second one is missing" },
	{ "cs,fake/event=1", 8, "second one is missing" },
	{ "fake/round/", 6, "circle" },
	{ "fake/asks/", 6, "needs a value of umask" },
	{ "fake/asks,mask=1,xumask=1/", 6, "needs a value of umask" },
	{ "fake/name='a,umask=1',asks/", 23, "needs a value of umask" },
	{ "fake/asks/,fake/umask=1/", 6, "needs a value of umask" },
	{ "fake/odd/", 6, "in no way that is known" },
	{ "fake/cycles/", 6, "only PMUs of cores do" },
	{ "fake/L1-dcache-loads/", 6, "only PMUs of cores do" },
	{ "cpu/nosuch/", 5, "cpu has no term or event" },
	{ "cpu/rxyz/", 5, "cpu has no term or event" },
	{ "cpu/page-faults/", 5, "cpu has no term or event" },
	{ "cpu/cycles=1/", 5, "cpu has no term or event" },
	{ "nosuch/event=1/", 1, "no PMU 'nosuch'" },
	{ "cs,nosuch/event=1/", 4, "no PMU 'nosuch'" },
	{ "../fake/event=1/", 1, "no PMU" },
	{ "fake/../type/", 6, "no term or event '../type'" },
	{ "fake/period=0/", 13, "a number over 0" },
	{ "fake/period/", 6, "a number over 0" },
	{ "fake/period=1k/", 13, "a number over 0" },
	{ "fake/freq=x/", 11, "a number over 0" },
	{ "fake/freq=9223372036854775808/", 11, "a number over 0" },
	{ "cycles/period=/", 15, "a number over 0" },
	{ "cycles/nosuch/", 8, "no term 'nosuch'" },
	{ "cycles/period=1,umask=1/", 17, "no term 'umask'" },
	{ "cycles/config=x/", 15, "not a number" },
	{ "sched:fork/config=4713/", 12, "no term 'config'" },
	{ "sched:fork/nosuch=1/", 12, "no term 'nosuch'" },
	{ "fake/name=/", 11, "a name" },
	{ "fake/name/", 6, "a name" },
	{ "fake/name='loads/", 11, "a quote without its end" },
	{ "fake/name='a'b/", 14, "behind a quote" },
	{ "fake/call-graph=lbrr/", 17, "fp, auto, dwarf, lbr or no" },
	{ "fake/call-graph/", 6, "fp, auto, dwarf, lbr or no" },
	{ "fake/stack-size=7/", 17, "a multiple of 8" },
	{ "fake/stack-size=65536/", 17, "a multiple of 8" },
	{ "fake/max-stack=0/", 16, "a number of frames" },
	{ "fake/max-stack=65536/", 16, "a number of frames" },
	{ "fake/no-inherit=1/", 17, "has no value" },
	{ "fake/branch_type=any+zz/", 22, "'zz' is no kind of branch" },
	{ "fake/time=0/", 11, "every sample has its time" },
	{ "fake/percore/", 6, "perf stat" },
	{ "cs/aux-action=pause/", 4, "aux-action has an event pause a trace" },
	{ "fake/event=1,nr=5/", 14, "--duration" },
	{ "fake/overwrite/", 6, "share its ring" },
	{ "fake/aux-sample-size=4096/", 6, "AUX area" },
	/* numbers, tracepoints */
	{ "1:", 3, "not the number of an event" },
	{ "1:x", 3, "not the number of an event" },
	{ "4294967296:1", 1, "not the number of a PMU" },
	{ "1:3:z", 5, "unknown modifier 'z'" },
	{ "sched:nosuch", 7, "neither an event" },
	{ "cs,sched:nosuch", 10, "neither an event" },
	{ "nosuch:fork", 8, "neither an event" },
	{ "sched:nosuch_*", 7, "neither an event" },
	{ "sched:", 7, "neither an event" },
	{ ":fork", 2, "neither an event" },
	{ "../x:y", 1, "no PMU" },
	{ "sched:enable", 7, "neither an event" },
	{ "sched:.", 7, "neither an event" },
	{ "sched:fork/call-graph=fp", 11, "second one is missing" },
	/* breakpoints */
	{ "mem:", 5, "not an address" },
	{ "mem:zz", 5, "not an address" },
	{ "mem:main", 5, "not an address" },
	{ "mem:-1", 5, "not an address" },
	{ "mem:/bin/true:main", 5, "only spoor record finds symbols" },
	{ "mem:main=", 10, "not an address" },
	{ "mem:/bin/a=b:main=x:w", 19, "not an address" },
	{ "cs,mem:/bin/true:main=0x10/3:w", 28, "1, 2, 4 or 8" },
	{ "cs,mem:0x:w", 8, "not an address" },
	{ "mem:0x10000000000000000", 5, "not an address" },
	{ "mem:0x10/3", 10, "1, 2, 4 or 8" },
	{ "mem:0x10/", 10, "1, 2, 4 or 8" },
	{ "mem:0x10/16:w", 10, "1, 2, 4 or 8" },
	{ "mem:0x10:q", 10, "unknown modifier 'q'" },
	{ "mem:0x10:wq", 11, "r, w, x" },
	{ "mem:0x10:rr", 11, "each once" },
	{ "mem:0x10:rx", 11, "not for both" },
	{ "mem:0x10:wx", 11, "not for both" },
	{ "mem:0x10:rwx", 12, "not for both" },
	{ "mem:0x10/1:x", 10, "for x is 8" },
	{ "mem:0x10:w:q", 12, "unknown modifier 'q'" },
	{ "mem:0x10:w:u:k", 13, "unknown modifier ':'" },
	/* probes */
	{ "uprobe:", 8, "whole path" },
	{ "uprobe:a.out:0x10", 8, "whole path" },
	{ "uprobe:/bin/true", 17, "PATH:SYMBOL" },
	{ "uprobe:/bin/true:", 18, "not a place in the file" },
	{ "uprobe:/bin/true:main", 18, "not a place in the file" },
	{ "uprobe:/bin/true:main=x", 23, "not a place in the file" },
	{ "uprobe:/bin/true:0x10:z", 23, "unknown modifier 'z'" },
	{ "cs,uretprobe:/bin/true:0x10:uu", 30, "twice" },
	{ "usdt:", 6, "whole path" },
	{ "usdt:/b/t", 10, "PATH:PROVIDER:NAME" },
	{ "usdt:/b/t:p", 12, "PATH:PROVIDER:NAME" },
	{ "cs,usdt:/b/t:p:n", 14, "only spoor record finds probes by name" },
	{ "usdt:/b/t:p:n=x", 15, "not a place in the file" },
	{ "usdt:/b/t:p:n=1+", 17, "not a place in the file" },
	{ "usdt:/b/t:p:n=1+2+z:u", 19, "not a place in the file" },
	{ "usdt:/b/t:p:n=1:z", 17, "unknown modifier 'z'" },
	{ "uprobe:/b/t:0x10(", 18, "behind a semaphore's place" },
	{ "uprobe:/b/t:0x10(2)3", 18, "behind a semaphore's place" },
	{ "uprobe:/b/t:0x10(z)", 18, "not the place of a semaphore" },
	{ "uprobe:/b/t:0x10(3)", 18, "not the place of a semaphore" },
	{ "uprobe:/b/t:0x10(0)", 18, "not the place of a semaphore" },
	{ "uprobe:/b/t:n=0x10+2", 15, "not a place in the file" },
	{ "cs,sdt:p:n:u", 4, "only spoor record finds" },
	{ "kprobe:", 8, "function of the kernel" },
	{ "kprobe:+4", 8, "function of the kernel" },
	{ "kprobe:do_exit+x", 16, "not an offset" },
	{ "kretprobe:do_exit+4", 19, "a return probe is of a whole function" },
	{ "kprobe:0x", 8, "not an address" },
	{ "kprobe:0", 8, "not an address" },
	{ "kprobe:12q", 8, "not an address" },
	{ "cs,kprobe:0xffffffff81234560+4", 11, "not an address" },
	{ "kretprobe:do_exit:q", 19, "unknown modifier 'q'" },
	{ "mem:0x10/period=1", 9, "the second one is missing" },
	{ "mem:0x10:w/period=x/", 19, "a number over 0" },
	{ "mem:0x10/3/period=1/", 10, "1, 2, 4 or 8" },
	{ "mem:0x10:w:u/period=1/", 13, "behind the terms" },
	{ "mem:0x10:w/period=1/q", 21, "unknown modifier 'q'" },
	{ "mem:0x10/config1=5/", 10, "no term 'config1'" },
	{ "mem:zz/period=1/", 5, "not an address" },
	{ "uprobe:/bin/true:0x10/peri=1/", 23, "no term 'peri': such an event has name" },
	{ "cs,uprobe:/bin/true:0x10:u/period=1/", 27, "behind the terms" },
	{ "uprobe:/bin/true/period=1/", 27, "PATH:SYMBOL" },
	{ "uprobe:/bin/true:main/period=1/,cs", 18, "not a place in the file" },
	{ "kprobe:do_exit+x/period=1/", 16, "not an offset" },
	{ "kprobe:do_exit/config2=1/", 16, "no term 'config2'" },
};

static struct event_spec_roots roots;

#define PMU "bus/event_source/devices/fake/"

static int
setup(void **state)
{
	sysfs_lab_file(PMU "type", "77");
	sysfs_lab_file(PMU "format/event", "config:0-7,32-35");
	sysfs_lab_file(PMU "format/umask", "config:8-15");
	sysfs_lab_file(PMU "format/edge", "config:18");
	sysfs_lab_file(PMU "format/ldlat", "config1:0-15");
	sysfs_lab_file(PMU "events/stall", "event=0xa2");
	sysfs_lab_file(PMU "events/round", "round");
	sysfs_lab_file(PMU "events/asks", "event=1,umask=?");
	sysfs_lab_file(PMU "format/odd", "config9:0");
	sysfs_lab_file("events/sched/fork/id", "4711");
	sysfs_lab_file("events/sched/exit/id", "4712");
	sysfs_lab_file("events/sched/enable", "0");
	sysfs_lab_file("events/skb/free/id", "4713");
	sysfs_lab_file("bus/event_source/devices/cpu/type", "78");
	sysfs_lab_file("bus/event_source/devices/cpu_core/type", "79");
	sysfs_lab_file("bus/event_source/devices/cpu_core/cpus", "0-1");
	sysfs_lab_file("bus/event_source/devices/cpu_core/events/both", "config=1");
	sysfs_lab_file("bus/event_source/devices/cpu_atom/events/both", "config=2");
	sysfs_lab_file("bus/event_source/devices/cpu_atom/type", "80");
	sysfs_lab_file("bus/event_source/devices/cpu_atom/cpus", "2-3");
	sysfs_lab_file("bus/event_source/devices/imc_0/type", "81");
	sysfs_lab_file("bus/event_source/devices/imc_1/type", "82");
	sysfs_lab_file("bus/event_source/devices/imc_10/type", "83");
	sysfs_lab_file("bus/event_source/devices/imc_free/type", "84");
	sysfs_lab_file("bus/event_source/devices/uprobe/type", "8");
	sysfs_lab_file("bus/event_source/devices/uprobe/format/retprobe", "config:0");
	sysfs_lab_file("bus/event_source/devices/kprobe/type", "7");
	sysfs_lab_file("bus/event_source/devices/kprobe/format/retprobe", "config:0");
	roots = (struct event_spec_roots){ sysfs_lab_root(), sysfs_lab_root() };
	return 0;
}

static void
check_row(const struct row *row, const struct event_spec *s)
{
	const struct perf_event_attr *a = &s->attr;
	int x = (a->exclude_user ? U : 0) | (a->exclude_kernel ? K : 0) | (a->exclude_hv ? H : 0) |
		(a->exclude_idle ? I : 0) | (a->exclude_guest ? GUEST : 0) |
		(a->exclude_host ? HOST : 0) | (a->pinned ? PINNED : 0) | (a->exclusive ? EXCL : 0);

	if (a->type != row->type || a->config != row->config || x != row->x ||
	    a->precise_ip != row->precise || s->precise_max != row->precise_max)
		fail_msg("%s: type %u config %#llx excluded %#x precise %u", row->text, a->type,
			 (unsigned long long)a->config, x, (unsigned)a->precise_ip);
	assert_string_equal(s->name, row->text);
	assert_int_equal(s->each, row->type == PERF_TYPE_TRACEPOINT);
	assert_int_equal(s->modified,
			 strpbrk(row->text, ":/") &&
				 !strchr("/:", row->text[strlen(row->text) - 1]) &&
				 (strrchr(row->text, '/') || x != GUEST || a->precise_ip ||
				  s->precise_max || s->sample_read || s->weak));
	assert_false(s->named);
}

static void
test_table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[EVENT_SPEC_ERROR_BYTES] = "";

		if (event_spec_parse(rows[i].text, &roots, &l, err, sizeof(err)) < 0)
			fail_msg("%s: %s", rows[i].text, err);
		assert_int_equal(l.nr, 1);
		check_row(&rows[i], &l.specs[0]);
		event_spec_list_done(&l);
	}
}

static void
test_list(void **state)
{
	static const char text[] = "cycles:u,fake/event=1,umask=2/k,mem:0x1000/8:w,sched:fork,cs";
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];

	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(event_spec_parse("faults", &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(l.nr, 6);
	assert_string_equal(l.specs[1].name, "fake/event=1,umask=2/k");
	assert_int_equal(l.specs[1].attr.config, 0x201);
	assert_true(l.specs[1].attr.exclude_user);
	assert_int_equal(l.specs[5].attr.config, 2);
	event_spec_list_done(&l);
}

/* Where the format is read stays known, whatever the event is called. */
static void
test_named_tracepoints(void **state)
{
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];

	(void)state;
	assert_int_equal(event_spec_parse("sched:*/name=a:b/u,cs", &roots, &l, err, sizeof(err)),
			 0);
	assert_int_equal(l.nr, 3);
	assert_string_equal(l.specs[0].name, "a:b");
	assert_string_equal(l.specs[0].tracepoint, "sched:exit");
	assert_string_equal(l.specs[1].name, "a:b");
	assert_string_equal(l.specs[1].tracepoint, "sched:fork");
	assert_null(l.specs[2].tracepoint);
	event_spec_list_done(&l);
}

static void
test_terms(void **state)
{
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];

	assert_int_equal(event_spec_parse("fake/event=1,ldlat=30,period=1000,name=loads/", &roots,
					  &l, err, sizeof(err)),
			 0);
	assert_string_equal(l.specs[0].name, "loads");
	assert_int_equal(l.specs[0].attr.config1, 30);
	assert_int_equal(l.specs[0].attr.sample_period, 1000);
	assert_false(l.specs[0].attr.freq);
	assert_true(l.specs[0].has_rate);
	assert_true(l.specs[0].named);
	event_spec_list_done(&l);
	assert_int_equal(event_spec_parse("fake/stall,freq=49/", &roots, &l, err, sizeof(err)), 0);
	assert_true(l.specs[0].attr.freq);
	assert_int_equal(l.specs[0].attr.sample_freq, 49);
	event_spec_list_done(&l);
}

/* Whatever -F and -c say of the others, each switch, or so many a second. */
static void
test_off_cpu(void **state)
{
	struct event_spec_list l = { 0 };
	char err[256];

	assert_int_equal(event_spec_parse("off-cpu,off-cpu/min=1ms,freq=99/,cs", &roots, &l, err,
					  sizeof(err)),
			 0);
	assert_int_equal(l.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(l.specs[i].attr.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(l.specs[i].attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
		assert_int_equal(l.specs[i].attr.context_switch, i < 2);
		assert_int_equal(l.specs[i].has_rate, i < 2);
	}
	assert_true(!l.specs[0].attr.freq && l.specs[0].attr.sample_period == 1);
	assert_true(l.specs[1].attr.freq && l.specs[1].attr.sample_freq == 99);
	assert_string_equal(l.specs[1].name, "off-cpu/min=1ms,freq=99/");
	event_spec_list_done(&l);
	assert_int_equal(event_spec_parse("off-cpu/freq=soon/", &roots, &l, err, sizeof(err)),
			 -EINVAL);
	assert_non_null(strstr(err, "'freq=soon'"));
	event_spec_list_done(&l);
}

static void
test_breakpoints(void **state)
{
	static const struct {
		const char *text;
		uint64_t addr, len;
		uint32_t type;
		bool user_only;
	} bp[] = {
		{ "mem:0x1000", 0x1000, 4, HW_BREAKPOINT_RW, false },
		{ "mem:4096/1:w", 4096, 1, HW_BREAKPOINT_W, false },
		{ "mem:0x1000/8:rw:u", 0x1000, 8, HW_BREAKPOINT_RW, true },
		{ "mem:0xffffffff81000000:x", 0xffffffff81000000, sizeof(long), HW_BREAKPOINT_X,
		  false },
		{ "mem:0x10::u", 0x10, 4, HW_BREAKPOINT_RW, true },
		{ "mem:0x10:u", 0x10, 4, HW_BREAKPOINT_RW, true },
		{ "mem:0x10/8:x", 0x10, 8, HW_BREAKPOINT_X, false },
	};

	for (size_t i = 0; i < sizeof(bp) / sizeof(bp[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[EVENT_SPEC_ERROR_BYTES];

		assert_int_equal(event_spec_parse(bp[i].text, &roots, &l, err, sizeof(err)), 0);
		assert_int_equal(l.specs[0].attr.type, PERF_TYPE_BREAKPOINT);
		assert_true(l.specs[0].attr.bp_addr == bp[i].addr);
		assert_int_equal(l.specs[0].attr.bp_len, bp[i].len);
		assert_int_equal(l.specs[0].attr.bp_type, bp[i].type);
		assert_int_equal(l.specs[0].attr.exclude_kernel, bp[i].user_only);
		assert_true(l.specs[0].each);
		event_spec_list_done(&l);
	}
}

/* Whoever finds addresses by name tells the name as well. */
static void
test_named_breakpoints(void **state)
{
	static const char *const named[][2] = {
		{ "mem:/bin/true:main+8=0x401000/8:w:u", "mem:/bin/true:main+8/8:w:u" },
		{ "mem:/bin/a=b:main=0x401000", "mem:/bin/a=b:main" },
		{ "mem:word=4198400:x", "mem:word:x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[EVENT_SPEC_ERROR_BYTES];

		assert_int_equal(event_spec_parse(named[i][0], &roots, &l, err, sizeof(err)), 0);
		assert_string_equal(l.specs[0].name, named[i][1]);
		assert_true(l.specs[0].attr.bp_addr == 0x401000);
		event_spec_list_done(&l);
	}
}

static void
test_refused(void **state)
{
	assert_true(sizeof(refused) / sizeof(refused[0]) >= 100);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct refused *row = &refused[i];
		struct event_spec_list l = { 0 };
		char err[EVENT_SPEC_ERROR_BYTES] = "", begin[256];

		if (event_spec_parse(row->text, &roots, &l, err, sizeof(err)) != -EINVAL)
			fail_msg("'%s' was not refused", row->text);
		snprintf(begin, sizeof(begin), "%s: at character %zu: ", row->text, row->at);
		if (strncmp(err, begin, strlen(begin)) != 0 || !strstr(err, row->said))
			fail_msg("'%s': %s", row->text, err);
		event_spec_list_done(&l);
	}
}

/* What sysfs does not tell is no fault of the event. */
static void
test_no_sysfs(void **state)
{
	char missing[128], file[128], err[EVENT_SPEC_ERROR_BYTES];
	struct event_spec_roots none = { missing, missing }, unreadable = { file, file };
	static const char *const texts[] = { "fake/event=1/", "stall" };

	snprintf(missing, sizeof(missing), "%s/missing", sysfs_lab_root());
	snprintf(file, sizeof(file), "%s/plain", sysfs_lab_root());
	sysfs_lab_file("plain/bus/event_source/devices", "this is no directory");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct event_spec_list l = { 0 };

		assert_int_equal(event_spec_parse(texts[i], &none, &l, err, sizeof(err)), -EINVAL);
		assert_non_null(strstr(err, "no PMUs: there is no "));
		assert_non_null(strstr(err, "/missing/bus/event_source/devices: mount -t sysfs "));
		assert_int_equal(event_spec_parse(texts[i], &unreadable, &l, err, sizeof(err)),
				 -EINVAL);
		assert_non_null(strstr(err,
				       "/plain/bus/event_source/devices, which tells of PMUs: "
				       "Not a directory"));
		/* What the kernel knows by number is not looked for there. */
		assert_int_equal(event_spec_parse("cs", &unreadable, &l, err, sizeof(err)), 0);
		event_spec_list_done(&l);
	}
}

/* Of what is too long for a line, the part around the position is shown. */
static void
test_long(void **state)
{
	char text[2000] = "", err[EVENT_SPEC_ERROR_BYTES];
	struct event_spec_list l = { 0 };

	for (int i = 0; i < 100; i++)
		strlcat(text, "page-faults,", sizeof(text));
	strlcat(text, "nosuch", sizeof(text));
	for (int i = 0; i < 50; i++)
		strlcat(text, ",cs", sizeof(text));
	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), -EINVAL);
	assert_int_equal(l.nr, 100);
	assert_non_null(strstr(err, "...page-faults,"));
	assert_non_null(strstr(err, "page-faults,nosuch,cs"));
	assert_non_null(strstr(err, "cs...: at character 1201: unknown event 'nosuch'"));
	event_spec_list_done(&l);
	memset(text, 'a', 600);
	text[600] = '\0';
	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "at character 1: an event of more than 255 bytes"));
	assert_int_equal(l.nr, 0);
}

/* --- one string, several events ------------------------------------------------------------- */

static void
check_names(const char *text, const char *names)
{
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES], got[512] = "";

	if (event_spec_parse(text, &roots, &l, err, sizeof(err)) < 0)
		fail_msg("%s: %s", text, err);
	for (size_t i = 0; i < l.nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s=%u:%llu", i ? " " : "",
			 l.specs[i].name, l.specs[i].attr.type,
			 (unsigned long long)l.specs[i].attr.config);
	assert_string_equal(got, names);
	event_spec_list_done(&l);
}

static void
test_several(void **state)
{
	check_names("sched:*", "sched:exit=2:4712 sched:fork=2:4711");
	check_names("s*:f*:u", "sched:fork:u=2:4711 skb:free:u=2:4713");
	check_names("sched:[e]xit", "sched:exit=2:4712");
	check_names("*:fork/period=5/k,cs", "sched:fork:k=2:4711 cs=1:3");
	check_names("sched:fork/call-graph=no/", "sched:fork=2:4711");
	check_names("sched:fork/call-graph=no/:u", "sched:fork:u=2:4711");
	check_names("sched:fork/name=it/k", "it=2:4711");
	check_names("imc/config=3/",
		    "imc_0/config=3/=81:3 imc_1/config=3/=82:3 imc_10/config=3/=83:3");
	check_names("imc_?/config=3/k", "imc_0/config=3/k=81:3 imc_1/config=3/k=82:3");
	check_names("imc_*/name=all/", "all=81:0 all=82:0 all=83:0 all=84:0");
	check_names("both:u", "cpu_atom/both/u=80:2 cpu_core/both/u=79:1");
}

static void
test_own_settings(void **state)
{
	static const char text[] =
		"cs/call-graph=dwarf,stack-size=1024,no-inherit/,cycles:SW,"
		"cs/max-stack=5,branch_type=any_call+u/,cs/call-graph=no,inherit/";
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];

	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(l.nr, 4);
	assert_true(l.specs[0].has_call_graph && l.specs[0].call_graph == SESSION_CALL_GRAPH_DWARF);
	assert_int_equal(l.specs[0].stack_bytes, 1024);
	assert_true(l.specs[0].has_inherit && !l.specs[0].inherit);
	assert_true(l.specs[1].sample_read && l.specs[1].weak && !l.specs[1].has_call_graph);
	assert_int_equal(l.specs[2].attr.sample_max_stack, 5);
	assert_true(l.specs[2].has_call_graph &&
		    l.specs[2].call_graph == SESSION_CALL_GRAPH_DEFAULT);
	assert_int_equal(l.specs[2].attr.branch_sample_type,
			 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_true(l.specs[3].has_call_graph && l.specs[3].call_graph == SESSION_CALL_GRAPH_NONE);
	assert_true(l.specs[3].has_inherit && l.specs[3].inherit);
	event_spec_list_done(&l);
}

/* Quotes keep commas and slashes in a name. */
static void
test_quotes(void **state)
{
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];

	assert_int_equal(
		event_spec_parse("fake/name='a,b/c=d',event=1/u,fake/event=2,name=\"it's\"/",
				 &roots, &l, err, sizeof(err)),
		0);
	assert_int_equal(l.nr, 2);
	assert_string_equal(l.specs[0].name, "a,b/c=d");
	assert_int_equal(l.specs[0].attr.config, 1);
	assert_true(l.specs[0].attr.exclude_kernel);
	assert_string_equal(l.specs[1].name, "it's");
	event_spec_list_done(&l);
}

static void
test_probes(void **state)
{
	static const struct {
		const char *text, *name, *place;
		uint32_t type;
		uint64_t config, offset;
		bool user_only;
	} probes[] = {
		{ "uprobe:/bin/true:0x1139", "uprobe:/bin/true:0x1139", "/bin/true", 8, 0, 0x1139,
		  false },
		{ "uprobe:/bin/true:main=0x1139", "uprobe:/bin/true:main", "/bin/true", 8, 0,
		  0x1139, false },
		{ "uretprobe:/b/t:f+4=16:u", "uretprobe:/b/t:f+4:u", "/b/t", 8, 1, 16, true },
		{ "kprobe:do_exit", "kprobe:do_exit", "do_exit", 7, 0, 0, false },
		{ "kprobe:do_exit+0x10", "kprobe:do_exit+0x10", "do_exit", 7, 0, 16, false },
		{ "kretprobe:do_exit", "kretprobe:do_exit", "do_exit", 7, 1, 0, false },
		{ "kprobe:0xffffffff81234560", "kprobe:0xffffffff81234560", NULL, 7, 0,
		  0xffffffff81234560, false },
		{ "kretprobe:0xffffffff81234560:u", "kretprobe:0xffffffff81234560:u", NULL, 7, 1,
		  0xffffffff81234560, true },
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[EVENT_SPEC_ERROR_BYTES];

		assert_int_equal(event_spec_parse(probes[i].text, &roots, &l, err, sizeof(err)), 0);
		assert_string_equal(l.specs[0].name, probes[i].name);
		if (probes[i].place)
			assert_string_equal(l.specs[0].probe, probes[i].place);
		else
			assert_null(l.specs[0].probe);
		assert_int_equal(l.specs[0].attr.type, probes[i].type);
		assert_int_equal(l.specs[0].attr.config, probes[i].config);
		assert_int_equal(l.specs[0].attr.config1, 0);
		assert_int_equal(l.specs[0].attr.config2, probes[i].offset);
		assert_int_equal(l.specs[0].attr.exclude_kernel, probes[i].user_only);
		assert_true(l.specs[0].each);
		event_spec_list_done(&l);
	}
}

/* A static probe, at several places, with a semaphore of each. */
static void
test_static_probes(void **state)
{
	static const char text[] = "usdt:/b/t:p:n=0x10(0x20)+0x30+64(0x22):u";
	char err[EVENT_SPEC_ERROR_BYTES], many[EVENT_PLACES_MAX * 8 + 64];
	struct event_spec_list l = { 0 };
	size_t n;

	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), -EINVAL);
	assert_true(l.absent);
	assert_non_null(strstr(err, "at character 20: this kernel counts no semaphores"));
	event_spec_list_done(&l);

	sysfs_lab_file("bus/event_source/devices/uprobe/format/ref_ctr_offset", "config:32-63");
	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(l.nr, 1);
	assert_string_equal(l.specs[0].name, "usdt:/b/t:p:n:u");
	assert_string_equal(l.specs[0].probe, "/b/t");
	assert_int_equal(l.specs[0].attr.config, UINT64_C(0x20) << 32);
	assert_int_equal(l.specs[0].attr.config2, 0x10);
	assert_int_equal(l.specs[0].nr_more, 2);
	assert_int_equal(l.specs[0].more[0].config, 0);
	assert_int_equal(l.specs[0].more[0].config2, 0x30);
	assert_int_equal(l.specs[0].more[1].config, UINT64_C(0x22) << 32);
	assert_int_equal(l.specs[0].more[1].config2, 64);
	event_spec_list_done(&l);

	/* Of a return the lowest bit stays. */
	assert_int_equal(event_spec_parse("uretprobe:/b/t:f=1(4),cs", &roots, &l, err, sizeof(err)),
			 0);
	assert_int_equal(l.specs[0].attr.config, UINT64_C(4) << 32 | 1);
	event_spec_list_done(&l);
	assert_int_equal(event_spec_parse("uprobe:/b/t:1(0x100000000)", &roots, &l, err,
					  sizeof(err)),
			 -EINVAL);
	assert_non_null(strstr(err, "no semaphore so far behind"));
	event_spec_list_done(&l);

	n = strlcpy(many, "usdt:/b/t:p:n=1000", sizeof(many));
	for (size_t i = 1; i < EVENT_PLACES_MAX; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "+%zu", 1000 + i);
	assert_int_equal(event_spec_parse(many, &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(l.specs[0].nr_more, EVENT_PLACES_MAX - 1);
	event_spec_list_done(&l);
	(void)strlcat(many, "+9", sizeof(many));
	assert_int_equal(event_spec_parse(many, &roots, &l, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "more than 512 places"));
	event_spec_list_done(&l);
}

/* Terms stand behind a place, which has slashes of its own. */
static const struct {
	const char *text, *name;
	uint64_t period;
	bool user_only, call_graph;
} of_places[] = {
	{ "mem:0x10/period=3/", "mem:0x10/period=3/", 3, false, false },
	{ "mem:0x10/8:w/period=3,call-graph=no/u", "mem:0x10/8:w/period=3,call-graph=no/u", 3, true,
	  true },
	{ "mem:0x10:w/call-graph=no,period=5/:u", "mem:0x10:w/call-graph=no,period=5/:u", 5, true,
	  true },
	{ "mem:/b/t:sum+4=0x10/4:w/period=7/", "mem:/b/t:sum+4/4:w/period=7/", 7, false, false },
	{ "mem:/b/t:sum=0x10/no-inherit,period=7/", "mem:/b/t:sum/no-inherit,period=7/", 7, false,
	  false },
	{ "uprobe:/b/t:0x10/period=2/", "uprobe:/b/t:0x10/period=2/", 2, false, false },
	{ "uretprobe:/b/t:f=0x10/period=2,max-stack=9/u", "uretprobe:/b/t:f/period=2,max-stack=9/u",
	  2, true, true },
	/* As Go has its symbols. */
	{ "uprobe:/b/t:net/http.Get=0x10", "uprobe:/b/t:net/http.Get", 0, false, false },
	{ "uprobe:/b/t:g.com/a/b.F=0x10/period=4/u", "uprobe:/b/t:g.com/a/b.F/period=4/u", 4, true,
	  false },
	{ "kprobe:do_exit+4/period=9/", "kprobe:do_exit+4/period=9/", 9, false, false },
	{ "kretprobe:do_exit/name='a/b,c',period=9/k", "a/b,c", 9, false, false },
	{ "mem:0x10:x/inherit,name='a/b',period=9/", "a/b", 9, false, false },
	{ "mem:0x10:x/name=calls,period=9/", "calls", 9, false, false },
	{ "uprobe:/b/t:0x10//u", "uprobe:/b/t:0x10//u", 0, true, false },
};

static void
parse_places(const char *text, struct event_spec_list *ret)
{
	char err[EVENT_SPEC_ERROR_BYTES];

	if (event_spec_parse(text, &roots, ret, err, sizeof(err)) < 0)
		fail_msg("%s: %s", text, err);
}

static void
test_terms_of_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_places) / sizeof(of_places[0]); i++) {
		const char *text = of_places[i].text;
		struct event_spec_list l = { 0 };

		parse_places(text, &l);
		assert_int_equal(l.nr, 1);
		assert_string_equal(l.specs[0].name, of_places[i].name);
		assert_int_equal(l.specs[0].has_rate, of_places[i].period != 0);
		assert_int_equal(l.specs[0].attr.sample_period, of_places[i].period);
		assert_int_equal(l.specs[0].attr.exclude_kernel, of_places[i].user_only);
		assert_int_equal(l.specs[0].has_call_graph, of_places[i].call_graph);
		assert_int_equal(event_spec_bytes(text, ",{}"), strlen(text));
		event_spec_list_done(&l);
	}
}

/* Each ends where it ends alone. */
static void
test_list_of_places(void **state)
{
	struct event_spec_list l = { 0 };
	char list[1024] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(of_places) / sizeof(of_places[0]); i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? " , " : "",
			 of_places[i].text);
	parse_places(list, &l);
	assert_int_equal(l.nr, sizeof(of_places) / sizeof(of_places[0]));
	for (size_t i = 0; i < l.nr; i++)
		assert_string_equal(l.specs[i].name, of_places[i].name);
	event_spec_list_done(&l);
}

/* What stands beside an event of sysfs, however it is named; of what is no such event nothing. */
static void
test_units(void **state)
{
	static const char text[] =
		"fake/joules/,fake/joules,umask=3/,joules,fake/level/,fake/bad/,fake/event=9/,"
		"fake/within/,cycles";
	static const struct {
		double scale;
		const char *name;
		bool snapshot, per_pkg;
	} want[] = {
		{ 0x1p-32, "Joules", false, false },
		{ 0x1p-32, "Joules", false, false },
		{ 0x1p-32, "Joules", false, false },
		{ 64, "", true, true },
		{ 0, "", false, false },
		{ 0, "", false, false },
		/* Of an alias within an alias, as perf: what the outer one has beside it. */
		{ 0, "", false, false },
		{ 0, "", false, false },
	};
	struct event_spec_list l = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES] = "";

	sysfs_lab_file(PMU "events/joules", "event=9");
	sysfs_lab_file(PMU "events/joules.scale", "2.3283064365386962890625e-10");
	sysfs_lab_file(PMU "events/joules.unit", "Joules");
	sysfs_lab_file(PMU "events/joules.snapshot", "0");
	sysfs_lab_file(PMU "events/level", "event=9");
	sysfs_lab_file(PMU "events/level.scale", "64");
	sysfs_lab_file(PMU "events/level.snapshot", "1");
	sysfs_lab_file(PMU "events/level.per-pkg", "1");
	sysfs_lab_file(PMU "events/bad", "event=9");
	sysfs_lab_file(PMU "events/bad.scale", "inf");
	sysfs_lab_file(PMU "events/bad.unit", "A unit that is longer than perf takes");
	sysfs_lab_file(PMU "events/within", "joules");
	if (event_spec_parse(text, &roots, &l, err, sizeof(err)) < 0)
		fail_msg("%s", err);
	assert_int_equal(l.nr, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < l.nr; i++) {
		const struct count_unit *u = &l.specs[i].unit;

		assert_true(u->scale == want[i].scale);
		assert_string_equal(u->name, want[i].name);
		assert_int_equal(u->snapshot, want[i].snapshot);
		assert_int_equal(u->per_pkg, want[i].per_pkg);
	}
	event_spec_list_done(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_named_tracepoints),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_named_breakpoints),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_sysfs),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_own_settings),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_static_probes),
		cmocka_unit_test(test_terms_of_places),
		cmocka_unit_test(test_list_of_places),
		cmocka_unit_test(test_off_cpu),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
