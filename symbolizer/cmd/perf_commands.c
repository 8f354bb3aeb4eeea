/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/perf_commands.h"

#include <stddef.h>
#include <string.h>

#define OF_SPOORCTL(name)                                                                          \
	{                                                                                          \
		name, "it is of spoorctl: spoorctl " name                                          \
	}
#define OF_MEMORY "spoor record -d -W -e EVENT, then spoor report --mem-mode"
#define OF_BUILDIDS                                                                                \
	"spoor dump prints build-ids; spoor-input(7) says where their files are looked for"
#define OF_WAITS                                                                                   \
	"spoor record --off-cpu, then spoor report or flamegraph: where threads waited, and how long"

static const struct {
	const char *name, *instead;
} commands[] = {
	{ "archive", "spoor pack puts what names the samples into the recording" },
	{ "bench", "perf bench measures the kernel; spoor only records" },
	{ "buildid-cache", OF_BUILDIDS },
	{ "buildid-list", OF_BUILDIDS },
	{ "c2c", OF_MEMORY },
	{ "config", "spoor has options alone; that of spoord is in spoord.conf(5)" },
	{ "daemon", "spoord(8) records all the time; spoorctl(1) asks it" },
	{ "data", "spoor export -f FORMAT converts recordings, spoor import a perf.data" },
	{ "evlist", "spoor info lists the events of a recording, spoor info -v with their attrs" },
	{ "ftrace", "spoor record -e kprobe:FUNCTION samples the calls of a function" },
	{ "inject",
	  "not needed: recordings have build-ids and the names of code made at run time" },
	{ "iostat", "spoor record --counters=EVENT,..., then spoor counters" },
	{ "kallsyms", "recordings have the kernel's symbols; spoor export --write-kallsyms FILE" },
	{ "kmem", "spoor record -a -e 'kmem:*', then spoor report -s trace" },
	{ "kvm", "spoor record -a -e 'kvm:*', then spoor report -s trace" },
	{ "kwork", "spoor record -a -e 'irq:*' -e 'workqueue:*', then spoor report -s trace" },
	{ "lock", OF_WAITS },
	{ "mem", OF_MEMORY },
	{ "probe", "not needed: spoor record -e uprobe:PATH:SYMBOL or -e kprobe:SYMBOL" },
	{ "sched", OF_WAITS },
	{ "script", "spoor export -f perf-script prints samples, spoor dump all records" },
	{ "stat", "spoor record --counters -- COMMAND, then spoor counters" },
	{ "test", "perf test is about perf; spoor verify checks a recording" },
	{ "timechart", "spoor timeline and spoor heatmap say what ran when" },
	{ "trace",
	  "spoor record -e raw_syscalls:sys_enter -c 1 -- COMMAND, then spoor export -f perf-script" },
	{ "version", "spoor --version" },
	OF_SPOORCTL("status"),
	OF_SPOORCTL("capture"),
	OF_SPOORCTL("captures"),
	OF_SPOORCTL("stop"),
	OF_SPOORCTL("keep"),
	OF_SPOORCTL("sync"),
	OF_SPOORCTL("rotate"),
	OF_SPOORCTL("vacuum"),
	OF_SPOORCTL("reload"),
	OF_SPOORCTL("monitor"),
};

const char *
perf_commands_instead(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].instead;
	return NULL;
}
