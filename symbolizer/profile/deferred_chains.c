/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/deferred_chains.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/callchain.h"

#define BUCKETS 4096

struct held {
	TAILQ_ENTRY(held) all, same_tid, same_chain;
	struct event_attr attr; /* that of the recording moves when it gets more events */
	uint64_t cookie;
	uint32_t tid;
	int event;
	size_t len;
	uint8_t bytes[] __attribute__((aligned(8))); /* of the record */
};

TAILQ_HEAD(held_list, held); /* as they came */

struct deferred_chains {
	deferred_chains_fn *give;
	void *arg;
	struct held_list all;
	/* Those of a thread, and of a chain of it: a record visits just whom it is about. */
	struct held_list of_tid[BUCKETS], of_chain[BUCKETS];
	size_t bytes;
	struct buf words; /* of the chain that is put together */
};

struct deferred_chains *
deferred_chains_new(deferred_chains_fn *give, void *arg)
{
	struct deferred_chains *d = calloc(1, sizeof(*d));

	if (d) {
		d->give = give;
		d->arg = arg;
		buf_init(&d->words);
		TAILQ_INIT(&d->all);
		for (size_t i = 0; i < BUCKETS; i++) {
			TAILQ_INIT(&d->of_tid[i]);
			TAILQ_INIT(&d->of_chain[i]);
		}
	}
	return d;
}

void
deferred_chains_free(struct deferred_chains *d)
{
	struct held *h;

	if (!d)
		return;
	while ((h = TAILQ_FIRST(&d->all))) {
		TAILQ_REMOVE(&d->all, h, all);
		free(h);
	}
	buf_done(&d->words);
	free(d);
}

static struct held_list *
of_tid(struct deferred_chains *d, uint32_t tid)
{
	return &d->of_tid[slots_mix(tid, 0) % BUCKETS];
}

static struct held_list *
of_chain(struct deferred_chains *d, uint32_t tid, uint64_t cookie)
{
	return &d->of_chain[slots_mix(cookie, tid) % BUCKETS];
}

static void
held_free(struct deferred_chains *d, struct held *h)
{
	TAILQ_REMOVE(&d->all, h, all);
	TAILQ_REMOVE(of_tid(d, h->tid), h, same_tid);
	TAILQ_REMOVE(of_chain(d, h->tid, h->cookie), h, same_chain);
	d->bytes -= sizeof(*h) + h->len;
	free(h);
}

/* Gives one, and frees it: with the words of the user that came, or without any. */
static int
give_held(struct deferred_chains *d, struct held *h, struct span user)
{
	struct perf_record record;
	struct span chain;
	size_t at;
	int err = perf_record_parse(span_of(h->bytes, h->len), &h->attr, &record);

	if (err == 0 && callchain_cookie(record.sample.callchain, &at)) {
		chain = record.sample.callchain;
		buf_clear(&d->words);
		buf_append(&d->words, chain.p, at * 8);
		buf_append(&d->words, user.p, user.len);
		err = buf_failed(&d->words) ? -FMT_E_NOMEM : 0;
		record.sample.callchain = buf_span(&d->words);
	}
	if (err == 0)
		err = d->give(d->arg, &record, h->event);
	held_free(d, h);
	return err;
}

/* Everybody's, as they are. */
static int
give_all(struct deferred_chains *d)
{
	const struct span none = { 0 };
	struct held *h;
	int err = 0;

	while (err == 0 && (h = TAILQ_FIRST(&d->all)))
		err = give_held(d, h, none);
	return err;
}

int
deferred_chains_hold(struct deferred_chains *d, const struct perf_record *sample, int event,
		     bool *ret_held)
{
	const size_t bytes = sizeof(struct held) + sample->raw.len;
	struct held *h;
	size_t at = 0;
	int err;

	*ret_held = callchain_cookie(sample->sample.callchain, &at);
	if (!*ret_held)
		return 0;
	err = d->bytes + bytes > DEFERRED_CHAINS_BYTES_MAX ? give_all(d) : 0;
	if (err)
		return err;
	h = malloc(bytes);
	if (!h)
		return -FMT_E_NOMEM;
	h->attr = *sample->attr;
	h->cookie = span_word(sample->sample.callchain, at + 1);
	h->tid = sample->sid.tid;
	h->event = event;
	h->len = sample->raw.len;
	memcpy(h->bytes, sample->raw.p, h->len);
	TAILQ_INSERT_TAIL(&d->all, h, all);
	TAILQ_INSERT_TAIL(of_tid(d, h->tid), h, same_tid);
	TAILQ_INSERT_TAIL(of_chain(d, h->tid, h->cookie), h, same_chain);
	d->bytes += bytes;
	return 0;
}

int
deferred_chains_merge(struct deferred_chains *d, const struct perf_record *record)
{
	const uint32_t tid = record->sid.tid;
	const uint64_t cookie = record->deferred.cookie;
	struct held *h, *next;
	int err = 0;

	TAILQ_FOREACH_SAFE(h, of_chain(d, tid, cookie), same_chain, next) {
		if (err == 0 && h->tid == tid && h->cookie == cookie)
			err = give_held(d, h, record->deferred.ips);
	}
	return err;
}

int
deferred_chains_end(struct deferred_chains *d, uint32_t tid, bool all)
{
	const struct span none = { 0 };
	struct held *h, *next;
	int err = 0;

	if (all)
		return give_all(d);
	TAILQ_FOREACH_SAFE(h, of_tid(d, tid), same_tid, next) {
		if (err == 0 && h->tid == tid)
			err = give_held(d, h, none);
	}
	return err;
}
