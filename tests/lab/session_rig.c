/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/session_rig.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/record/read_counts.h"
#include "format/recording/record_stream.h"

/* --- files ------------------------------------------------------------------------------- */

struct sink {
	struct io_sink io;
	struct rig_file *f;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
wait_stalled(struct rig_file *f)
{
	if (f->stalled)
		f->waits++;
	while (f->stalled)
		rig_sleep_ms(1);
}

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct rig_file *f = ((struct sink *)io)->f;
	int error;

	wait_stalled(f);
	if (f->write_errno) {
		f->refused++;
		n = n / 2; /* a part gets through */
	}
	pthread_mutex_lock(&lock);
	if (f->n + n > f->cap) {
		f->cap = (f->n + n) * 2;
		f->p = realloc(f->p, f->cap);
		if (!f->p)
			abort();
	}
	memcpy(f->p + f->n, p, n);
	f->n += n;
	pthread_mutex_unlock(&lock);
	error = f->write_errno;
	if (f->room && --f->room == 0)
		f->write_errno = ENOSPC;
	return -error;
}

static int
sink_sync(struct io_sink *io)
{
	struct rig_file *f = ((struct sink *)io)->f;

	wait_stalled(f);
	f->syncs++;
	return -f->sync_errno;
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	pthread_mutex_lock(&lock);
	((struct sink *)io)->f->n = size;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void
sink_close(struct io_sink *io)
{
	((struct sink *)io)->f->closed = true;
	free(io);
}

struct io_sink *
rig_sink(struct rig_file *f)
{
	struct sink *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->io = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	s->f = f;
	return &s->io;
}

void
rig_file_done(struct rig_file *f)
{
	free(f->p);
	memset(f, 0, sizeof(*f));
}

size_t
rig_file_bytes(const struct rig_file *f)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = f->n;
	pthread_mutex_unlock(&lock);
	return n;
}

/* As it is now: the reader gets bytes that stay where they are. */
static uint8_t *
copy_file(const struct rig_file *f, size_t *ret_n)
{
	uint8_t *p;

	pthread_mutex_lock(&lock);
	p = malloc(f->n ? f->n : 1);
	if (p && f->n)
		memcpy(p, f->p, f->n);
	*ret_n = f->n;
	pthread_mutex_unlock(&lock);
	assert_non_null(p);
	return p;
}

/* --- the session ------------------------------------------------------------------------- */

static void *
run(void *arg)
{
	struct rig *r = arg;

	r->result = session_run(r->session, &r->error);
	return NULL;
}

void
rig_needs_events(bool own)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.exclude_kernel = own };
	long fd = syscall(SYS_perf_event_open, &attr, own ? 0L : -1L, own ? -1L : 0L, -1L, 0L);

	if (fd >= 0) {
		close((int)fd);
		return;
	}
	print_message("skipped: perf_event_open: %s\n", strerror(errno));
	skip();
}

void
rig_start(struct rig *r, const struct session_options *o)
{
	int rc;

	memset(r, 0, sizeof(*r));
	rc = session_open(o, &r->session, &r->error);
	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS) {
		print_message("skipped: %s\n", r->error.text);
		skip();
	}
	if (rc < 0)
		fail_msg("session_open: %s", r->error.text);
	rig_go(r);
}

void
rig_go(struct rig *r)
{
	assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
}

void
rig_stop(struct rig *r)
{
	session_stop(r->session);
	assert_int_equal(pthread_join(r->thread, NULL), 0);
	if (r->result < 0)
		fail_msg("session_run: %s", r->error.text);
	if (session_finish(r->session, &r->error) < 0)
		fail_msg("session_finish: %s", r->error.text);
}

void
rig_end(struct rig *r)
{
	rig_stop(r);
	assert_int_equal(session_close(r->session, &r->error), 0);
}

/* --- the load ---------------------------------------------------------------------------- */

static void *
touch_pages(void *arg)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	struct rig_load *l = arg;
	size_t n = 16 * 4096;
	uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	while (!l->stop) {
		for (size_t i = 0; i < n; i += 4096)
			((volatile uint8_t *)p)[i] = 1;
		madvise(p, n, MADV_DONTNEED);
		if (!l->busy)
			nanosleep(&t, NULL);
	}
	munmap(p, n);
	return NULL;
}

void
rig_load_start(struct rig_load *l)
{
	l->stop = l->busy = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&l->threads[i], NULL, touch_pages, l), 0);
}

void
rig_load_keep_busy(struct rig_load *l)
{
	l->busy = true;
}

void
rig_load_pin(struct rig_load *l, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(pthread_setaffinity_np(l->threads[1], sizeof(cpus), &cpus), 0);
}

void
rig_load_stop(struct rig_load *l)
{
	l->stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(l->threads[i], NULL);
}

/* --- what is in a file ------------------------------------------------------------------- */

static void
see_block(void *arg, const struct block *b)
{
	struct rig_counts *c = arg;
	size_t cursor = 0;

	if (b->header.type == BLOCK_GAP)
		while (c->nr_gaps < 64 && gap_next(b->payload, &cursor, &c->gaps[c->nr_gaps]) == 1)
			c->nr_gaps++;
	if (b->header.type == BLOCK_RATE)
		while (c->nr_rates < 64 &&
		       rate_next(b->payload, &cursor, &c->rates[c->nr_rates]) == 1)
			c->nr_rates++;
}

static void
count_record(struct rig_counts *c, const struct perf_record *r, uint32_t tid)
{
	c->reads += r->type == REC_READ;
	if (r->type != REC_SAMPLE)
		return;
	c->periods += r->sample.period;
	if (r->sid.tid == tid) {
		c->own++;
		c->own_periods += r->sample.period;
	}
	if (r->sid.cpu < 8)
		c->cpu[r->sid.cpu]++;
	if (!c->first_ns)
		c->first_ns = r->sid.time;
	c->last_ns = r->sid.time;
}

/* An event has a sample whenever it has come to a whole number of periods, whatever file is open then. */
static void
count_due(struct rig_counts *c, struct read_counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++) {
		const uint64_t before = counts->of[i].before.value / RIG_PERIOD;

		c->due += counts->of[i].value / RIG_PERIOD - before;
		c->due_before += before;
	}
	read_counts_done(counts);
}

void
rig_count(const struct rig_file *f, bool closed, struct rig_counts *ret)
{
	struct fmt_where where = { 0 };
	struct read_counts counts = { 0 };
	struct recording_reader *reader;
	const struct recording_health *h;
	struct record_stream *stream;
	struct stream_record sr;
	size_t n;
	uint8_t *p = copy_file(f, &n);

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(recording_reader_open(io_source_memory(p, n), &reader, &where), 0);
	ret->frequency_hz = recording_reader_meta(reader)->frequency_hz_effective;
	assert_int_equal(record_stream_open(reader, &stream), 0);
	record_stream_on_block(stream, see_block, ret);
	while (record_stream_next(stream, &sr, &where) == 1) {
		if (sr.record && !sr.state)
			count_record(ret, sr.record, f->tid);
		if (sr.record && sr.record->type == REC_READ)
			assert_int_equal(read_counts_add(&counts, record_stream_events(stream),
							 sr.record),
					 0);
		if (!sr.record && !ret->first_bad)
			ret->first_bad = span_word(sr.bad, 1);
	}
	count_due(ret, &counts);
	ret->samples = record_stream_stats(stream)->samples;
	ret->records = record_stream_stats(stream)->records;
	ret->state = record_stream_stats(stream)->state_records;
	ret->bad = record_stream_stats(stream)->bad_records;
	for (int i = 0; i < LOSS_CAUSES; i++)
		ret->loss[i] = loss_total(record_stream_loss(stream), (enum loss_cause)i);
	for (size_t i = 0; i < event_set_count(recording_reader_meta(reader)->events); i++)
		ret->ids += event_set_at(recording_reader_meta(reader)->events, i)->nr_ids;
	for (const char *s = recording_reader_meta(reader)->notes;
	     (s = strstr(s, "asked to be off")); s++)
		ret->notes_off++;
	h = recording_reader_health(reader);
	if (h->damaged_blocks || h->damaged_bytes || (closed && !recording_health_clean(h)))
		fail_msg("damaged: %s", h->first.detail);
	if (ret->bad)
		fail_msg("%llu records do not parse, the first has %#llx",
			 (unsigned long long)ret->bad, (unsigned long long)ret->first_bad);
	record_stream_close(stream);
	recording_reader_close(reader);
	free(p);
}

/* --- others ------------------------------------------------------------------------------ */

uint64_t
rig_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void
rig_sleep_ms(unsigned ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

struct rig_descriptors
rig_descriptors(void)
{
	struct rig_descriptors n = { 0 };
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	struct stat st;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		n.all++;
		n.sockets += fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISSOCK(st.st_mode);
	}
	closedir(dir);
	return n;
}

void
rig_print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	char target[256];

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target));

		if (n > 0)
			print_message("# %s: %.*s\n", e->d_name, (int)n, target);
	}
	closedir(dir);
}
