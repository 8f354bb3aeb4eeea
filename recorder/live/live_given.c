/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_given.h"

#include <stdlib.h>
#include <string.h>

#define QUEUED_MAX (1u << 20) /* bytes: while the disk is full, who knows how long */
#define GIVEN 512	      /* pairs of build-ids remembered as given; a power of two */

/* A build-id that the open file has. */
struct given {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	struct buildid id;
};

struct live_given {
	struct buf payload;	      /* of the next BUILDIDS block */
	size_t nr;		      /* entries in it */
	struct given given[GIVEN][2]; /* the later one first */
};

struct live_given *
live_given_new(void)
{
	struct live_given *g = calloc(1, sizeof(*g));

	if (g)
		buf_init(&g->payload);
	return g;
}

void
live_given_free(struct live_given *g)
{
	if (!g)
		return;
	buf_done(&g->payload);
	free(g);
}

void
live_given_begin_file(struct live_given *g)
{
	memset(g->given, 0, sizeof(g->given));
	g->nr = 0;
}

void
live_given_put(struct live_given *g, const struct buildid_entry *e)
{
	if (!g->nr)
		buildids_begin(&g->payload);
	buildids_add(&g->payload, e);
	g->nr++;
}

void
live_given_put_once(struct live_given *g, const struct buildid_entry *e)
{
	const uint64_t ino = e->ino;
	struct given *at =
		g->given[(ino ^ ino >> 10 ^ (uint64_t)e->min << 3 ^ e->ino_generation) % GIVEN];

	for (int i = 0; i < 2; i++)
		if (at[i].ino == ino && at[i].maj == e->maj && at[i].min == e->min &&
		    at[i].ino_generation == e->ino_generation &&
		    buildid_cmp(&at[i].id, &e->id) == 0)
			return;
	/* Nothing is written: it is given again when a file is begun, or when it is mapped again. */
	if (g->payload.len > QUEUED_MAX)
		return;
	at[1] = at[0];
	at[0] = (struct given){ e->maj, e->min, ino, e->ino_generation, e->id };
	live_given_put(g, e);
}

int
live_given_write(struct live_given *g, struct recording_writer *w, struct fmt_where *where)
{
	int rc;

	if (!g->nr)
		return 0;
	if (buf_failed(&g->payload)) {
		g->nr = 0;
		return -FMT_E_NOMEM;
	}
	rc = recording_writer_block(w, BLOCK_BUILDIDS, buf_span(&g->payload), where);
	/* What could not be written is written later: the disk may have room then. */
	if (rc == 0)
		g->nr = 0;
	return rc;
}
