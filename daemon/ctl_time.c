/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <bsd/stdlib.h>

#include "daemon/config_value.h"

#define NS_PER_S UINT64_C(1000000000)

static int
parse_epoch(const char *text, int64_t *ret_s)
{
	const char *problem;
	long long n = strtonum(text, 0, INT64_MAX, &problem);

	if (problem)
		return -EINVAL;
	*ret_s = n;
	return 0;
}

static int
parse_relative(const char *text, int64_t now_s, int64_t *ret_s)
{
	uint64_t ns;

	if (config_time_parse(text + 1, &ns) < 0)
		return -EINVAL;
	*ret_s = *text == '-' ? now_s - (int64_t)(ns / NS_PER_S) : now_s + (int64_t)(ns / NS_PER_S);
	return 0;
}

/* Midnight, so many days from today. */
static int64_t
midnight(int64_t now_s, int days)
{
	struct tm tm;

	localtime_r(&(time_t){ now_s }, &tm);
	tm.tm_mday += days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return mktime(&tm);
}

static int
parse_calendar(const char *text, int64_t now_s, int64_t *ret_s)
{
	static const struct {
		const char *format;
		bool today;
	} forms[] = {
		{ "%Y-%m-%d %H:%M:%S", false },
		{ "%Y-%m-%dT%H:%M:%S", false },
		{ "%Y-%m-%d %H:%M", false },
		{ "%Y-%m-%dT%H:%M", false },
		{ "%Y-%m-%d", false },
		{ "%H:%M:%S", true },
		{ "%H:%M", true },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 };
		const char *end;
		time_t t;

		if (forms[i].today) {
			localtime_r(&(time_t){ now_s }, &tm);
			tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		}
		end = strptime(text, forms[i].format, &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		t = mktime(&tm);
		if (t < 0)
			return -EINVAL;
		*ret_s = t;
		return 0;
	}
	return -EINVAL;
}

int
ctl_time_parse(const char *text, int64_t now_s, int64_t *ret_s)
{
	static const struct {
		const char *word;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };

	if (strcmp(text, "now") == 0) {
		*ret_s = now_s;
		return 0;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i].word) == 0) {
			*ret_s = midnight(now_s, words[i].days);
			return 0;
		}
	if (*text == '@')
		return parse_epoch(text + 1, ret_s);
	if (*text == '-' || *text == '+')
		return parse_relative(text, now_s, ret_s);
	return parse_calendar(text, now_s, ret_s);
}
