/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/record/read_counts.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"
#include "recorder/live/live.h"
#include "recorder/unwind/unwinding.h"
#include "recorder/writer/writer_internal.h"

#define RETRY_NS UINT64_C(1000000000)
#define NOTES_MAX 4096 /* bytes, after which a file has no more of them */
#define GAPS_MAX 1024  /* that wait for an outage to end */
/* Records of a closed descriptor are not on their way any longer than this. */
#define CLOSED_LINGER_NS UINT64_C(60000000000)

int
writer_file_error(int error, const struct fmt_where *where, struct session_error *ret)
{
	int err = where->saved_errno ? -where->saved_errno : -EIO;

	if (error == -FMT_E_NOMEM)
		return session_fail(ret, -ENOMEM, "out of memory");
	if (ret)
		ret->of_file = true;
	if (err == -ESTALE)
		return session_fail(ret, err, "cannot write the recording: its file was removed");
	return session_fail(ret, err, "cannot write the recording: %s",
			    where->saved_errno ? strerror(where->saved_errno)
					       : fmt_error_text(error));
}

/* --- outages ----------------------------------------------------------------------------- */

/* Is it any use to try again, or to wait for another file? */
static bool
may_pass(int error, const struct fmt_where *where)
{
	if (error == -FMT_E_NOMEM)
		return true;
	return error == -FMT_E_IO && where->saved_errno != EPIPE && where->saved_errno != EBADF &&
		where->saved_errno != ECONNRESET;
}

static bool
is_removed(int error, const struct fmt_where *where)
{
	return error == -FMT_E_IO && where->saved_errno == ESTALE;
}

/* In an outage, which tells of the file from then on: of its samples, and of what it told. */
static void
take_removal(struct writer *w, const struct recording_writer_stats *s)
{
	uint64_t samples = s->samples - s->open_samples;
	struct outage *o = &w->outage;

	if (o->removed)
		return;
	loss_add(o->loss, UINT32_MAX, LOSS_DISK_FULL, o->counted_ns - o->from_ns);
	(void)loss_merge(o->loss, w->file.loss);
	writer_count(w, UINT32_MAX, LOSS_REMOVED, samples);
	o->samples += samples + w->removed.samples;
	o->from_ns = w->removed.from_ns ? w->removed.from_ns : w->file.meta->start.monotonic;
	o->removed = o->for_ever = true;
}

int
writer_trouble(struct writer *w, int r, const struct fmt_where *where)
{
	struct recording_writer_stats s;
	struct outage *o = &w->outage;

	if (r >= 0)
		return 0;
	if (!w->options.suspend_on_full || !may_pass(r, where)) {
		w->where = *where;
		return r;
	}
	o->where = *where;
	o->error = r;
	if (!o->on) {
		o->loss = loss_new();
		if (!o->loss)
			return fmt_fail(&w->where, FMT_E_NOMEM, 0, "loss ledger");
		o->on = true;
		o->samples = 0;
		o->from_ns = o->counted_ns = o->tried_ns = host_now_ns();
		gap_begin(&o->gaps);
	}
	if (is_removed(r, where) && w->file.writer) {
		recording_writer_stats(w->file.writer, &s);
		take_removal(w, &s);
	}
	return 0;
}

void
writer_drop(struct writer *w, struct span records)
{
	struct perf_record record;
	struct span bytes;
	int event;

	while (perf_record_next(&records, &bytes) > 0) {
		if (event_set_parse(w->meta->events, bytes, &record, &event) != 0)
			continue;
		if (record.type == REC_SAMPLE) {
			w->outage.samples++;
			writer_count(w, record.sid.cpu, LOSS_DROPPED, 1);
			continue;
		}
		w->outage.missed_state |= !perf_record_is_switch(record.type);
		if (w->begins && record.type == REC_READ && record.misc & READ_MISC_BEFORE)
			buf_append(&w->outage.reads, bytes.p, bytes.len);
		if (writer_admit(w, &record))
			writer_see(w, &record, event);
	}
}

void
writer_count_lost(struct writer *w, struct span records)
{
	struct perf_record record;
	struct span bytes;

	while (perf_record_next(&records, &bytes) > 0)
		if (event_set_parse(w->meta->events, bytes, &record, NULL) == 0 &&
		    record.type == REC_SAMPLE)
			writer_count(w, record.sid.cpu, LOSS_DROPPED, 1);
}

int
writer_records(struct writer *w, struct span records)
{
	struct fmt_where where = { 0 };
	int r = 0;

	if (!w->outage.on) {
		r = recording_writer_records(w->file.writer, records, NULL, &where);
		r = writer_trouble(w, r, &where);
	}
	if (w->outage.on)
		writer_drop(w, records);
	else if (r == -FMT_E_NOMEM)
		writer_count_lost(w, records);
	return r;
}

/* Time without a file to write to; that of a removed one is told by its gap. */
static void
count_outage(struct writer *w, uint64_t now_ns)
{
	if (w->outage.removed)
		return;
	loss_add(w->loss, UINT32_MAX, LOSS_DISK_FULL, now_ns - w->outage.counted_ns);
	w->outage.counted_ns = now_ns;
}

struct snapshot {
	struct writer *writer;
	struct fmt_where *where;
};

/* Never all of it in memory: a host may have a lot of state. */
static int
write_piece(void *arg, struct span records)
{
	struct snapshot *s = arg;

	return recording_writer_block(s->writer->file.writer, BLOCK_STATE, records, s->where);
}

static int
write_snapshot(struct writer *w, struct fmt_where *where)
{
	struct snapshot s = { w, where };
	int r = writer_follow(w, where);

	if (r == 0)
		r = live_snapshot(w->options.live, write_piece, &s);
	return r == -FMT_E_NOMEM ? fmt_fail(where, FMT_E_NOMEM, 0, "snapshot") : r;
}

int
writer_snapshot(struct writer *w)
{
	struct fmt_where where = { 0 };

	return writer_trouble(w, write_snapshot(w, &where), &where);
}

int
writer_block(struct writer *w, enum block_type type, struct span payload)
{
	struct fmt_where where = { 0 };

	return writer_trouble(w, recording_writer_block(w->file.writer, type, payload, &where),
			      &where);
}

static int
write_rate(struct writer *w, struct fmt_where *where)
{
	buf_clear(&w->scratch);
	rate_begin(&w->scratch);
	rate_add(&w->scratch, &w->rate);
	if (buf_failed(&w->scratch))
		return fmt_fail(where, FMT_E_NOMEM, 0, "rate");
	return recording_writer_block(w->file.writer, BLOCK_RATE, buf_span(&w->scratch), where);
}

/* The file takes bytes again, or there is another one: it is told what it does not have. */
static int
end_outage(struct writer *w, uint64_t now_ns, struct fmt_where *where)
{
	struct outage *o = &w->outage;
	const struct gap gap = { o->removed ? LOSS_REMOVED : LOSS_DISK_FULL, GAP_CPU_ALL,
				 o->from_ns, now_ns, o->samples };
	struct span reads = buf_span(&o->reads), read;
	struct buf gaps;
	int r = 0;

	if (o->missed_rate)
		r = write_rate(w, where);
	buf_init(&gaps);
	buf_append(&gaps, o->gaps.p, o->gaps.len);
	gap_add(&gaps, &gap);
	if (r == 0)
		r = buf_failed(&gaps)
			? fmt_fail(where, FMT_E_NOMEM, 0, "gaps")
			: recording_writer_block(w->file.writer, BLOCK_GAP, buf_span(&gaps), where);
	buf_done(&gaps);
	while (r == 0 && perf_record_next(&reads, &read) > 0)
		r = recording_writer_records(w->file.writer, read, NULL, where);
	if (r < 0)
		return r;
	count_outage(w, now_ns);
	if (o->removed)
		w->removed = gap;
	else
		loss_add(o->loss, UINT32_MAX, LOSS_DISK_FULL, now_ns - o->from_ns);
	(void)loss_merge(w->file.loss, o->loss);
	w->file.loss_changed = true;
	loss_free(o->loss);
	buf_done(&o->gaps);
	buf_done(&o->reads);
	*o = (struct outage){ 0 };
	return 0;
}

/* The same file again. 0 also when it still refuses. */
static int
try_again(struct writer *w, uint64_t now_ns)
{
	struct fmt_where where = { 0 };
	struct outage *o = &w->outage;
	int r;

	o->tried_ns = now_ns;
	if (o->for_ever)
		return 0;
	r = recording_writer_retry(w->file.writer, &where);
	/* There may be ids that the last META block does not have. */
	if (r == 0)
		r = recording_writer_block(w->file.writer, BLOCK_META, (struct span){ 0 }, &where);
	if (r == 0 && o->missed_state)
		r = write_snapshot(w, &where);
	if (r == 0)
		r = end_outage(w, now_ns, &where);
	return writer_trouble(w, r, &where);
}

int
writer_outage_pass(struct writer *w, uint64_t now_ns)
{
	if (now_ns > w->outage.counted_ns)
		count_outage(w, now_ns);
	return now_ns > w->outage.tried_ns + RETRY_NS ? try_again(w, now_ns) : 0;
}

/* --- small blocks ------------------------------------------------------------------------ */

int
writer_gap(struct writer *w, const struct gap *gap)
{
	if (w->outage.on) {
		if (w->outage.gaps.len < GAPS_MAX * GAP_ENTRY_BYTES)
			gap_add(&w->outage.gaps, gap);
		return 0;
	}
	buf_clear(&w->scratch);
	gap_begin(&w->scratch);
	gap_add(&w->scratch, gap);
	if (buf_failed(&w->scratch))
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "gap");
	return writer_block(w, BLOCK_GAP, buf_span(&w->scratch));
}

int
writer_rate(struct writer *w, const struct rate *rate)
{
	struct fmt_where where = { 0 };
	int r;

	w->rate = *rate;
	w->meta->frequency_hz = rate->asked_hz;
	w->meta->frequency_hz_effective = rate->effective_hz;
	if (w->outage.on) {
		w->outage.missed_rate = true;
		return 0;
	}
	r = write_rate(w, &where);
	return writer_trouble(w, r, &where);
}

/* Where there is no memory for that, it stays in the meta of all files to come. */
static void
close_id(struct writer *w, uint64_t id, uint64_t now_ns)
{
	if (array_reserve(w->closed, w->nr_closed, w->cap_closed, 1) == 0)
		w->closed[w->nr_closed++] = (struct closed_id){ id, now_ns };
}

int
writer_ids(struct writer *w, const struct message_id *ids, size_t nr)
{
	uint64_t now_ns = host_now_ns();
	bool added = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr; i++) {
		if (ids[i].closed) {
			close_id(w, ids[i].id, now_ns);
			continue;
		}
		added = true;
		r = event_set_add_id(w->meta->events, ids[i].event, ids[i].id);
		if (r == 0)
			r = event_set_add_id(w->file.meta->events, ids[i].event, ids[i].id);
	}
	if (r < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "ids of events");
	return added && !w->outage.on ? writer_block(w, BLOCK_META, (struct span){ 0 }) : 0;
}

static bool
has_line(const char *text, const char *line)
{
	const size_t n = strlen(line);

	while (*text) {
		size_t bytes = strcspn(text, "\n");

		if (bytes == n && memcmp(text, line, n) == 0)
			return true;
		text += bytes + (text[bytes] == '\n');
	}
	return false;
}

int
writer_note(struct writer *w, const char *line)
{
	if (strlen(w->file.meta->notes) > NOTES_MAX || has_line(w->file.meta->notes, line))
		return 0;
	if (recording_meta_note(w->file.meta, line) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "notes");
	/* After an outage a META block is written anyway. */
	return w->outage.on ? 0 : writer_block(w, BLOCK_META, (struct span){ 0 });
}

/* --- one file after another -------------------------------------------------------------- */

/*
 * Ends the current file; what its open block still had is lost then. It is counted by the
 * outage that begins, or told in *ret_dropped where there is none.
 */
static int
end_file(struct writer *w, bool sync, uint64_t *ret_dropped, struct fmt_where *where)
{
	struct recording_writer_stats s;
	bool removed;
	int r = 0;

	if (w->outage.on) {
		out_file_abandon(&w->file, &s);
	} else {
		/* One that cannot be written says so when it is ended. */
		(void)live_write_names(w->options.live, w->file.writer, NULL);
		(void)out_file_aux(&w->file, &w->aux, NULL);
		r = out_file_end(&w->file, sync, &s, where);
	}
	removed = is_removed(r, where);
	w->ended_records += s.records - s.open_records;
	w->ended_samples += s.samples - s.open_samples;
	w->ended_sideband += s.sideband_bytes;
	if ((s.open_records || removed) && !w->outage.on && writer_trouble(w, r, where) < 0) {
		*ret_dropped = s.open_samples;
	} else if (s.open_records || removed) {
		if (removed)
			take_removal(w, &s);
		w->outage.samples += s.open_samples;
		writer_count(w, UINT32_MAX, LOSS_DROPPED, s.open_samples);
	}
	/* What a removed one told, and was to tell, the outage has. */
	if (w->file.loss_changed && !w->outage.removed && !w->untold)
		w->untold = loss_since(w->file.loss, w->file.told);
	out_file_done(&w->file);
	return r;
}

static int
closed_cmp(const void *a, const void *b)
{
	const struct closed_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool
is_past(const struct closed_id *c, uint64_t now_ns)
{
	return now_ns >= c->at_ns + CLOSED_LINGER_NS;
}

static bool
has_gone(const struct writer *w, uint64_t id, uint64_t now_ns)
{
	const struct closed_id what = { .id = id }, *c = NULL;

	if (w->nr_closed)
		c = bsearch(&what, w->closed, w->nr_closed, sizeof(what), closed_cmp);
	return c && is_past(c, now_ns);
}

/*
 * The ids that are gone are left out of what the next file begins with: a recorder that lives for
 * ever does not remember all that it ever saw.
 */
static int
renew_events(struct writer *w, uint64_t now_ns)
{
	struct event_set *old = w->meta->events, *events = event_set_new();
	size_t kept = 0;
	int r = events ? 0 : -ENOMEM;

	if (w->nr_closed)
		qsort(w->closed, w->nr_closed, sizeof(*w->closed), closed_cmp);
	for (size_t i = 0; r == 0 && i < event_set_count(old); i++) {
		const struct event *e = event_set_at(old, i);

		r = event_set_copy(events, e, NULL);
		for (size_t k = 0; r == 0 && k < e->nr_ids; k++)
			if (!has_gone(w, e->ids[k], now_ns))
				r = event_set_add_id(events, i, e->ids[k]);
	}
	if (r < 0) {
		event_set_free(events);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->nr_closed; i++)
		if (!is_past(&w->closed[i], now_ns))
			w->closed[kept++] = w->closed[i];
	w->nr_closed = kept;
	live_events(w->options.live, events, (int)w->options.sideband);
	if (w->unwinding)
		unwinding_events(w->unwinding, events);
	w->meta->events = events;
	event_set_free(old);
	return 0;
}

static int
begin_file(struct writer *w, const struct out_file *file)
{
	/* Anew: the end of the file before took its time, and may have begun an outage. */
	uint64_t now_ns = host_now_ns();
	struct fmt_where where = { 0 };
	int r;

	w->file = *file;
	w->removed = (struct gap){ 0 };
	if (w->untold) {
		(void)loss_merge(w->file.loss, w->untold);
		w->file.loss_changed = true;
		loss_free(w->untold);
		w->untold = NULL;
	}
	w->blocks = 0;
	for (size_t i = 0; i < SESSION_OVER_MAX; i++)
		w->over[i].here = w->over[i].noted = false;
	w->open_since_ns = now_ns;
	w->outage.for_ever = false;
	buf_clear(&w->outage.reads); /* were the last file's */
	w->begins = true;
	w->outage.missed_rate = false; /* the new file's meta has it */
	w->outage.missed_state = true; /* should the snapshot fail */
	r = w->options.flight ? 0 : write_snapshot(w, &where);
	if (r == 0) {
		w->outage.missed_state = false;
		if (w->outage.on)
			r = end_outage(w, now_ns, &where);
	}
	return writer_trouble(w, r, &where);
}

int
writer_rotate(struct writer *w, struct io_sink *sink, int *ret, struct session_error *error)
{
	const struct recording_writer_options hooks = writer_hooks(w);
	uint64_t now_ns = host_now_ns(), dropped = 0;
	struct fmt_where where = { 0 };
	struct out_file next;
	int r, ended;

	/* Room may have come: then the old file ends in order. */
	r = w->outage.on ? try_again(w, now_ns) : 0;
	if (r < 0 || renew_events(w, now_ns) < 0) {
		sink->close(sink);
		*ret = r < 0 ? writer_file_error(r, &w->where, error)
			     : session_fail(error, -ENOMEM, "out of memory");
		return r;
	}
	r = out_file_open(&next, sink, w->meta, true, &hooks, &where);
	if (r < 0) {
		/* What is to be the beginning of the next file is none of this one. */
		w->begins = false;
		*ret = writer_file_error(r, &where, error);
		return 0;
	}
	ended = end_file(w, true, &dropped, &where);
	if (ended < 0)
		writer_file_error(ended, &where, error);
	*ret = ended < 0;
	r = begin_file(w, &next);
	if (dropped)
		writer_count(w, UINT32_MAX, LOSS_DROPPED, dropped);
	if (r < 0)
		*ret = writer_file_error(r, &w->where, error);
	malloc_trim(0);
	writer_publish(w);
	return r;
}

int
writer_sync(struct writer *w, int *ret, struct session_error *error)
{
	struct fmt_where where = { 0 };
	int r = 0;

	if (w->outage.on)
		r = try_again(w, host_now_ns());
	if (w->outage.on) {
		*ret = writer_file_error(w->outage.error, &w->outage.where, error);
		/* It may have begun after the last pass: who is answered finds it in the stats. */
		writer_publish(w);
		return r;
	}
	r = recording_writer_flush(w->file.writer, &where);
	if (r == 0) {
		r = recording_writer_sync(w->file.writer, &where);
		w->outage.for_ever = r < 0;
	}
	*ret = r < 0 ? writer_file_error(r, &where, error) : 0;
	r = writer_trouble(w, r, &where);
	writer_publish(w);
	return r;
}

int
writer_last_try(struct writer *w)
{
	int r = w->outage.on ? try_again(w, host_now_ns()) : 0;

	if (r == 0 && w->outage.on) {
		w->where = w->outage.where;
		r = w->outage.error;
	}
	return r;
}

int
writer_end(struct writer *w)
{
	struct fmt_where where = { 0 };
	uint64_t dropped;
	int r = recording_writer_flush(w->file.writer, &where);

	if (r == 0)
		r = out_file_ledger(&w->file, &where);
	writer_publish(w);
	if (r == 0)
		r = end_file(w, w->options.suspend_on_full, &dropped, &where);
	if (r < 0)
		w->where = where;
	return r;
}

void
writer_files_done(struct writer *w)
{
	out_file_abandon(&w->file, NULL);
	out_file_done(&w->file);
	free(w->closed);
	loss_free(w->outage.loss);
	loss_free(w->untold);
	buf_done(&w->outage.gaps);
	buf_done(&w->outage.reads);
}
