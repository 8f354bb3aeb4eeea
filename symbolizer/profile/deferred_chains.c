/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/deferred_chains.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "symbolizer/profile/callchain.h"

struct held {
	uint8_t *bytes; /* of the record */
	size_t len;
	struct event_attr attr; /* that of the recording moves when it gets more events */
	uint64_t cookie;
	uint32_t tid;
	int event;
};

struct deferred_chains {
	deferred_chains_fn *give;
	void *arg;
	struct held *held; /* as they came */
	size_t nr_held, cap_held, bytes;
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
	}
	return d;
}

void
deferred_chains_free(struct deferred_chains *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_held; i++)
		free(d->held[i].bytes);
	free(d->held);
	buf_done(&d->words);
	free(d);
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
	d->bytes -= h->len;
	free(h->bytes);
	h->bytes = NULL;
	return err;
}

/* Of those that match, which go; the others stay in their order. */
static int
give_some(struct deferred_chains *d, const uint32_t *tid, const uint64_t *cookie, struct span user)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < d->nr_held; i++) {
		struct held *h = &d->held[i];

		if (err == 0 && (!tid || h->tid == *tid) && (!cookie || h->cookie == *cookie))
			err = give_held(d, h, user);
		if (h->bytes)
			d->held[kept++] = *h;
	}
	d->nr_held = kept;
	return err;
}

int
deferred_chains_hold(struct deferred_chains *d, const struct perf_record *sample, int event,
		     bool *ret_held)
{
	const struct span none = { 0 };
	size_t at = 0;
	int err = 0;

	*ret_held = callchain_cookie(sample->sample.callchain, &at);
	if (!*ret_held)
		return 0;
	if (d->bytes + sample->raw.len > DEFERRED_CHAINS_BYTES_MAX)
		err = give_some(d, NULL, NULL, none);
	if (err == 0)
		err = array_reserve(d->held, d->nr_held, d->cap_held, 1);
	if (err)
		return err;
	d->held[d->nr_held] = (struct held){
		.bytes = malloc(sample->raw.len),
		.len = sample->raw.len,
		.attr = *sample->attr,
		.cookie = span_word(sample->sample.callchain, at + 1),
		.tid = sample->sid.tid,
		.event = event,
	};
	if (!d->held[d->nr_held].bytes)
		return -FMT_E_NOMEM;
	memcpy(d->held[d->nr_held++].bytes, sample->raw.p, sample->raw.len);
	d->bytes += sample->raw.len;
	return 0;
}

int
deferred_chains_merge(struct deferred_chains *d, const struct perf_record *record)
{
	return give_some(d, &record->sid.tid, &record->deferred.cookie, record->deferred.ips);
}

int
deferred_chains_end(struct deferred_chains *d, uint32_t tid, bool all)
{
	const struct span none = { 0 };

	return give_some(d, all ? NULL : &tid, NULL, none);
}
