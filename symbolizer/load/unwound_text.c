/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/unwound_text.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const texts[UNWIND_STOPS_NR] = {
	/* but for CUT, see cut_text() */
	[UNWIND_END] = "to their outermost frames",
	[UNWIND_SHORT] = "to where the kernel's copy ends early (an untouched page, another stack)",
	[UNWIND_NO_MAP] = "to an address where no code is mapped",
	[UNWIND_NO_CFI] =
		("to code with neither call frame information nor frame pointers, or whose "
		 "file is not here"),
	[UNWIND_BAD_CFI] = "to call frame information that does not fit the stack",
	[UNWIND_LIMIT] = "to the limit of frames",
	[UNWIND_BUSY] = "not in time (they follow frame pointers)",
	[UNWIND_REFUSED] = "not at all (another machine, or a process of which nothing is known)",
};

/* A record has 65,535 bytes at most. */
#define MOST_BYTES 60000

static void
add_part(char out[UNWOUND_TEXT_MAX], size_t *len, uint64_t n, const char *text)
{
	int added;

	if (n == 0)
		return;
	added = snprintf(out + *len, UNWOUND_TEXT_MAX - *len, "%s %" PRIu64 " %s",
			 out[*len - 1] == ':' ? "" : ",", n, text);
	*len += (size_t)added < UNWOUND_TEXT_MAX - *len ? (size_t)added : 0;
}

/* The largest copy that was too small, as people say it. */
static void
cut_text(const struct unwind_stops *c, char *out, size_t size)
{
	const char *more = "dwarf,BYTES and auto,BYTES of --call-graph copy more";
	char bytes[32] = "";

	if (c->cut_bytes > MOST_BYTES)
		more = "no sample can have many more";
	if (c->cut_bytes && c->cut_bytes % 1024 == 0)
		snprintf(bytes, sizeof(bytes), "%" PRIu32 " KiB; ", c->cut_bytes / 1024);
	else if (c->cut_bytes)
		snprintf(bytes, sizeof(bytes), "%" PRIu32 " bytes; ", c->cut_bytes);
	snprintf(out, size, "to the end of the copied bytes (%s%s)", bytes, more);
}

bool
unwound_text(const struct unwind_stops *c, char out[UNWOUND_TEXT_MAX])
{
	const uint64_t all = unwind_stops_all(c);
	char cut[160];
	size_t len;

	if (all == 0)
		return false;
	cut_text(c, cut, sizeof(cut));
	len = (size_t)snprintf(out, UNWOUND_TEXT_MAX,
			       "%" PRIu64 " copied stacks were unwound:", all);
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		add_part(out, &len, c->stacks[i], i == UNWIND_CUT ? cut : texts[i]);
	return true;
}

bool
unwound_text_matters(const struct unwind_stops *c)
{
	const uint64_t all = unwind_stops_all(c);

	return (all - c->stacks[UNWIND_END]) * 100 > all;
}
