/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/off_cpu.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"

#define TERM_BYTES 40
#define NAME_LEN (sizeof(OFF_CPU_EVENT) - 1)

const char *
off_cpu_name(enum off_cpu_why why)
{
	static const char *const names[] = {
#define X(name, word) OFF_CPU_EVENT ":" word,
		OFF_CPU_WHYS(X)
#undef X
	};

	return names[why];
}

bool
off_cpu_is_name(const char *event)
{
	return strncmp(event, OFF_CPU_EVENT, NAME_LEN) == 0 &&
		(event[NAME_LEN] == '\0' || event[NAME_LEN] == ':' || event[NAME_LEN] == '/');
}

static bool
parse_hz(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || n > INT32_MAX)
		return false;
	*ret = n;
	return true;
}

static bool
parse_term(const char *text, size_t len, struct off_cpu_terms *ret)
{
	char term[TERM_BYTES];

	if (len >= sizeof(term))
		return false;
	memcpy(term, text, len);
	term[len] = '\0';
	if (strncmp(term, "min=", 4) == 0)
		return time_text_duration(term + 4, &ret->min_ns) == 0;
	if (strcmp(term, "no-wakeups") == 0)
		return ret->no_wakeups = true;
	if (strcmp(term, "waker") == 0)
		return ret->waker = true;
	return strncmp(term, "freq=", 5) == 0 && parse_hz(term + 5, &ret->freq_hz);
}

int
off_cpu_parse(const char *name, struct off_cpu_terms *ret, const char **ret_bad, size_t *ret_len)
{
	struct off_cpu_terms terms = { 0 };
	const char *at;

	if (!off_cpu_is_name(name))
		return -FMT_E_UNSUPPORTED;
	at = name + NAME_LEN;
	for (char before = '/'; *at == before; before = ',') {
		*ret_bad = ++at;
		*ret_len = strcspn(at, ",/");
		if (!parse_term(at, *ret_len, &terms))
			return -FMT_E_CORRUPT;
		at += *ret_len;
	}
	*ret_bad = at;
	*ret_len = strlen(at);
	if (name[NAME_LEN] && strcmp(at, "/") != 0)
		return -FMT_E_CORRUPT;
	*ret = terms;
	return 0;
}

bool
off_cpu_event(const struct event *e, struct off_cpu_terms *ret)
{
	const char *bad;
	size_t len;

	return e->attr.type == PERF_TYPE_SOFTWARE &&
		e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
		event_attr_has(&e->attr, EVENT_ATTR_context_switch) &&
		off_cpu_parse(e->name, ret, &bad, &len) == 0;
}

bool
off_cpu_wakeups(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT && strcmp(e->name, OFF_CPU_WAKEUPS) == 0;
}
