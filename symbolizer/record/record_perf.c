/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_perf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/record/record_watch.h"

enum perf_takes { ALL, LEVEL, SIZE, NUMBER, WORD_ALL, NONE };

static const struct perf_option {
	int value;
	const char *name;
	enum perf_takes takes;
	const char *why;
} perf_options[] = {
#define X(id, letter, name, arg, takes, help, why)                                                 \
	{ (letter) ? (letter) : RECORD_PERF_##id, name, takes, why },
	RECORD_PERF_TABLE(X)
#undef X
};

/* text: NULL where it was left out. */
static bool
takes_it(enum perf_takes takes, const char *text)
{
	const char *problem = NULL;
	uint64_t n;

	switch (takes) {
	case ALL:
		return true;
	case LEVEL:
		if (text)
			(void)strtonum(text, 1, 22, &problem);
		return !problem;
	case SIZE:
		return record_watch_size(text, &n);
	case NUMBER:
		(void)strtonum(text, 1, INT32_MAX, &problem);
		return !problem;
	case WORD_ALL:
		return strcmp(text, "all") == 0;
	case NONE:
		break;
	}
	return false;
}

bool
record_perf_set(int value, const char *text, int *ret)
{
	for (size_t i = 0; i < sizeof(perf_options) / sizeof(perf_options[0]); i++) {
		const struct perf_option *o = &perf_options[i];

		if (o->value != value)
			continue;
		*ret = CLI_GO_ON;
		if (!takes_it(o->takes, text))
			*ret = cli_usage_error("record", "--%s%s%s: %s", o->name, text ? "=" : "",
					       text ? text : "", o->why);
		return true;
	}
	return false;
}
