/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/unwind_text.h"

#include <inttypes.h>
#include <stdio.h>

/* Behind a share of them. */
static const char *const texts[UNWIND_STOPS_NR] = {
	/* but for END, CUT and FREED */
	[UNWIND_SHORT] =
		"end where the kernel's copy ends early (an untouched page, another stack)",
	[UNWIND_NO_MAP] = "end at an address where no code is mapped",
	[UNWIND_NO_CFI] =
		("end in code with neither call frame information nor frame pointers, or whose "
		 "file is not here"),
	[UNWIND_BAD_CFI] = "end at call frame information that does not fit the stack",
	[UNWIND_LIMIT] = "end at the limit of frames",
	[UNWIND_BUSY] = "were not unwound in time (they follow frame pointers)",
	[UNWIND_REFUSED] =
		"were not unwound (another machine, or a process of which nothing is known)",
};

/* A record has 65,535 bytes at most. */
#define MOST_BYTES 60000

/* "99.2 %": 100 are all of them, and 0 none. */
static void
share(uint64_t n, uint64_t all, char out[16])
{
	const double percent = 100.0 * (double)n / (double)all;

	if (n == 0 || n == all)
		snprintf(out, 16, "%d %%", n ? 100 : 0);
	else if (percent < 0.05)
		snprintf(out, 16, "<0.1 %%");
	else
		snprintf(out, 16, "%.1f %%", percent > 99.9 ? 99.9 : percent);
}

/* The largest copy that was too small, as people say it. */
static void
cut_text(const struct unwind_stops *c, char *out, size_t size)
{
	const char *more = "dwarf,BYTES and auto,BYTES of --call-graph copy more";
	char bytes[32] = "bytes";

	if (c->cut_bytes > MOST_BYTES)
		more = "no sample can have many more";
	if (c->cut_bytes && c->cut_bytes % 1024 == 0)
		snprintf(bytes, sizeof(bytes), "%" PRIu32 " KiB", c->cut_bytes / 1024);
	else if (c->cut_bytes)
		snprintf(bytes, sizeof(bytes), "%" PRIu32 " bytes", c->cut_bytes);
	snprintf(out, size, "end at the copied %s (%s)", bytes, more);
}

/* " (0.3 % in libfoo.so, 0.1 % in libbar.so)": at most two of a stop, which are some of its stacks at least. */
static size_t
places_text(const struct unwind_stops *c, enum unwind_stop stop, char *out, size_t size)
{
	const uint64_t all = unwind_stops_all(c);
	const struct unwind_place *most[2] = { NULL, NULL };
	char percent[16];
	size_t len = 0;

	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++) {
		const struct unwind_place *p = &c->places[i];

		if (!p->stacks || p->stop != stop)
			continue;
		if (!most[0] || p->stacks > most[0]->stacks) {
			most[1] = most[0];
			most[0] = p;
		} else if (!most[1] || p->stacks > most[1]->stacks) {
			most[1] = p;
		}
	}
	for (size_t i = 0; i < 2 && most[i]; i++) {
		share(most[i]->stacks, all, percent);
		len += (size_t)snprintf(out + len, size - len, "%s%s in %s", i ? ", " : " (",
					percent, most[i]->object);
	}
	return len ? len + (size_t)snprintf(out + len, size - len, ")") : 0;
}

bool
unwind_text(const struct unwind_stops *c, char out[UNWIND_TEXT_MAX])
{
	const uint64_t all = unwind_stops_all(c);
	const char *sep = "; ";
	char percent[16], cut[160];
	size_t len;

	if (all == 0)
		return false;
	cut_text(c, cut, sizeof(cut));
	share(c->stacks[UNWIND_END], all, percent);
	len = (size_t)snprintf(out, UNWIND_TEXT_MAX, "%s of %" PRIu64 " copied stack%s whole",
			       percent, all, all == 1 ? " is" : "s are");
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++) {
		if (i == UNWIND_END || i == UNWIND_FREED || !c->stacks[i])
			continue;
		share(c->stacks[i], all, percent);
		len += (size_t)snprintf(out + len, UNWIND_TEXT_MAX - len, "%s%s %s", sep, percent,
					i == UNWIND_CUT ? cut : texts[i]);
		len += places_text(c, (enum unwind_stop)i, out + len, UNWIND_TEXT_MAX - len);
		sep = ", ";
	}
	if (c->stacks[UNWIND_FREED])
		snprintf(out + len, UNWIND_TEXT_MAX - len,
			 "; %" PRIu64
			 " more were in execve(2) or exit(2), which had freed the stack",
			 c->stacks[UNWIND_FREED]);
	return true;
}

bool
unwind_text_matters(const struct unwind_stops *c)
{
	const uint64_t all = unwind_stops_all(c);

	return (all - c->stacks[UNWIND_END]) * 100 > all;
}
