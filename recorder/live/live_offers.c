/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_offers.h"

#include "format/bytes/time_text.h"

#define PAUSE_NS SECOND_NS /* for a worker that had no room */
#define DONE 64
#define AT_ONCE 32 /* that are asked for then: it stores some ten a second */

struct live_offers {
	struct offer {
		struct live_wanted file;
		bool passed;
	} each[LIVE_OFFERS_MAX];
	size_t nr;
	struct buildid done[DONE]; /* a ring of those that were not kept here */
	size_t nr_done;
	uint64_t after_ns; /* not sooner are others asked for */
	size_t left;	   /* of those at once */
};

struct live_offers *
live_offers_new(void)
{
	return calloc(1, sizeof(struct live_offers));
}

void
live_offers_free(struct live_offers *o)
{
	if (!o)
		return;
	while (o->nr)
		live_wanted_done(&o->each[--o->nr].file);
	free(o);
}

static struct offer *
offer_of(struct live_offers *o, const struct buildid *id)
{
	for (size_t i = 0; i < o->nr; i++)
		if (buildid_cmp(&o->each[i].file.map.known_id, id) == 0)
			return &o->each[i];
	return NULL;
}

static bool
was_done(struct live_offers *o, const struct buildid *id)
{
	for (size_t i = 0; i < DONE; i++)
		if (buildid_cmp(&o->done[i], id) == 0) {
			o->done[i] = (struct buildid){ .size = 0 };
			return true;
		}
	return false;
}

bool
live_offers_keep(struct live_offers *o, struct live_wanted *w, const struct buildid *id,
		 bool passed, uint64_t now_ns)
{
	struct offer *at;

	if (!passed)
		o->after_ns = now_ns + PAUSE_NS;
	else if (was_done(o, id))
		return true;
	at = offer_of(o, id);
	/* Somebody else has mapped it, too. */
	if (at) {
		at->passed |= passed;
		return true;
	}
	if (o->nr == LIVE_OFFERS_MAX || !w->map.path)
		return false;
	at = &o->each[o->nr++];
	*at = (struct offer){ .file = *w, .passed = passed };
	/* Then the very build is looked for, in whatever way. */
	at->file.map.known_id = *id;
	at->file.again_ns = 0;
	w->map.path = NULL;
	return true;
}

static void
take_out(struct live_offers *o, struct offer *at)
{
	*at = o->each[--o->nr];
	o->each[o->nr] = (struct offer){ .passed = false };
}

void
live_offers_done(struct live_offers *o, const struct buildid *id)
{
	struct offer *at = offer_of(o, id);

	if (at) {
		live_wanted_done(&at->file);
		take_out(o, at);
	} else {
		o->done[o->nr_done++ % DONE] = *id;
	}
}

void
live_offers_lost(struct live_offers *o)
{
	for (size_t i = 0; i < o->nr; i++)
		o->each[i].passed = false;
}

bool
live_offers_next(struct live_offers *o, uint64_t now_ns, bool hurry, struct live_wanted *ret)
{
	size_t i = 0;

	if (!o->nr || (!hurry && now_ns < o->after_ns))
		return false;
	while (i < o->nr && o->each[i].passed)
		i++;
	if (i == o->nr)
		return false;
	/* As many a second. */
	if (!hurry && !o->left--) {
		o->left = AT_ONCE;
		o->after_ns = now_ns + PAUSE_NS;
		return false;
	}
	*ret = o->each[i].file;
	take_out(o, &o->each[i]);
	return true;
}
