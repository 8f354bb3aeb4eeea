/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/gathering.h"

#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolizer/input/made_here.h"
#include "symbolizer/object/cpus_here.h"
#include "symbolizer/object/packed_objects.h"
#include "symbolizer/object/stored_objects.h"
#include "symbolizer/load/time_buckets.h"

/* Each has a task model, kernel symbols, strings, a block and a raw profile. */
#define AT_ONCE_MAX 4

/* Whose turn it is with the raw profile. */
enum turn {
	GATHERS,  /* the thread's */
	GATHERED, /* the taker's: there is something to take */
	ENDED,	  /* the taker's: there is no more */
};

struct job {
	struct input_detached input;
	struct resolver_recording recording;
	uint8_t boot_id[16];
	char *release, *stored;
	struct profile_options options;
	struct gather *gather;
	struct fmt_where where;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t turned;
	enum turn turn;
	const struct raw_profile *raw;
	int verdict; /* of the taker, for the thread */
	int error;   /* of the thread */
};

struct gathering {
	struct input_set *set;
	struct profile_options options;
	struct resolver *resolver;
	void (*opened)(void *arg, const struct input *in);
	void *opened_arg;
	struct job *jobs[AT_ONCE_MAX]; /* oldest first */
	size_t nr, at_once;
	bool all_opened;
	int failed; /* what opening the next one said */
};

struct gathering *
gathering_new(struct input_set *set, const struct profile_options *options,
	      struct resolver *resolver, void (*opened)(void *arg, const struct input *in),
	      void *arg)
{
	struct gathering *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->set = set;
	g->resolver = resolver;
	g->opened = opened;
	g->opened_arg = arg;
	g->options = *options;
	g->at_once = set->archive ? cpus_here(AT_ONCE_MAX) : 1;
	/* Whatever the number of CPUs: what is read shall not depend on it. */
	if (set->archive && g->options.raw_bytes_max == 0)
		g->options.raw_bytes_max = GATHER_RAW_BYTES_MAX / AT_ONCE_MAX;
	return g;
}

/* --- the thread -------------------------------------------------------------------------- */

static void
give_turn(struct job *j, enum turn turn)
{
	j->turn = turn;
	pthread_cond_signal(&j->turned);
}

/* What the thread gathered goes to the taker, who may be busy with an older one. */
static int
wait_for_taker(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct job *j = arg;
	int verdict;

	(void)g;
	pthread_mutex_lock(&j->lock);
	j->raw = raw;
	if (j->verdict == 0)
		give_turn(j, GATHERED);
	while (j->turn != GATHERS)
		pthread_cond_wait(&j->turned, &j->lock);
	verdict = j->verdict;
	pthread_mutex_unlock(&j->lock);
	return verdict;
}

static void *
run_job(void *arg)
{
	struct job *j = arg;
	int error = gather_run(j->gather, wait_for_taker, j, &j->where);

	pthread_mutex_lock(&j->lock);
	j->error = error;
	give_turn(j, ENDED);
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

/* --- the taker --------------------------------------------------------------------------- */

static void
job_free(struct job *j)
{
	gather_free(j->gather);
	pthread_mutex_destroy(&j->lock);
	pthread_cond_destroy(&j->turned);
	jit_names_free(j->options.jit);
	free(j->release);
	free(j->stored);
	packed_objects_free(j->recording.packed);
	free(j);
}

/* What is asked of the meta is copied: who reads the recording may read more of it. */
static int
note_recording(struct job *j, struct input *in, const char *path)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);
	struct packed_objects *packed = NULL;
	int error = 0;

	memcpy(j->boot_id, m->boot_id, sizeof(j->boot_id));
	if (m->release) {
		j->release = strdup(m->release);
		if (!j->release)
			return -FMT_E_NOMEM;
	}
	j->stored = stored_objects_dir(path);
	/* What grows is not packed, and has no index that would find nothing soon. */
	if (!in->live && packed_objects_new(in->source, &packed) < 0)
		error = -FMT_E_NOMEM;
	if (!in->live)
		in->source = NULL;
	j->recording = (struct resolver_recording){
		.packed = packed,
		.stored = j->stored,
		.start_realtime_ns = m->start.realtime,
		.boot_id = j->boot_id,
		.kernel_build_id = m->kernel_build_id,
		.kernel_release = j->release,
		.perfdata_realtime_ns = in->perfdata_ns,
	};
	return error;
}

/* Files that a process left are looked for where it ran. */
static int
name_jit(struct job *j, struct input *in)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);
	struct jit_names_options o = { .timed = m->clockid == CLOCK_MONOTONIC };
	const enum made_here made = made_here_find(in, &o.shift_ns);

	o.files = made != MADE_ELSEWHERE;
	o.doubtful = made == MADE_HERE_MAYBE;
	/* What cannot be read is told when the records are. */
	if (jit_kept_read(in->reader, &o.kept, NULL) == -FMT_E_NOMEM)
		return -FMT_E_NOMEM;
	if (!o.kept && !o.files)
		return 0;
	j->options.jit = jit_names_new(&o);
	return j->options.jit ? 0 : -FMT_E_NOMEM;
}

static int
unwind_stacks(const struct gathering *g, struct job *j)
{
	struct object_places places;

	if (!g->resolver)
		return 0;
	resolver_places(g->resolver, &j->recording, &places);
	return gather_unwind(j->gather, recording_reader_meta(g->set->in.reader)->arch, &places);
}

/*
 * From when on periods are spread, on the open one's own clock. Clocks go on from one file of an archive to the next. Of
 * several windows each has a beginning of its own: there they are not.
 */
static void
choose_spread(const struct input_set *set, struct profile_options *o)
{
	const struct clock_triple *start = &recording_reader_meta(set->in.reader)->start;
	const struct stream_slice *slices = NULL;
	uint64_t from = 0, until;

	if (!o->spread)
		return;
	if (set->filter) {
		struct time_choice *times = filter_times(set->filter);

		if (time_choice_window(times, start, &from, &until) < 0)
			from = 0;
		o->spread = time_choice_within(times, start, &slices) < 2;
	}
	if (set->opened <= 1 && from < start->monotonic)
		from = start->monotonic;
	o->spread_from_ns = from;
}

/* Of the set's open one. 0, -FMT_E_NOMEM: it is still the set's. */
static int
job_begin(struct gathering *g)
{
	struct job *j = calloc(1, sizeof(*j));
	int err = -FMT_E_NOMEM;

	if (!j)
		return err;
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->turned, NULL);
	if (g->set->archive)
		record_stream_hold(g->set->in.stream, RECORD_STREAM_HELD_MAX / AT_ONCE_MAX);
	j->options = g->options;
	j->options.bucket_shift_ns = g->set->shift_ns + time_buckets_shift(g->set, &g->options);
	choose_spread(g->set, &j->options);
	if (name_jit(j, &g->set->in) == 0)
		err = note_recording(j, &g->set->in, g->set->path);
	if (err == 0 && g->resolver && profile_options_lines(&j->options))
		err = resolver_kernel_lines(g->resolver, &j->recording, &j->options.kernel_lines);
	if (err == 0) {
		j->gather = gather_new(g->set->in.stream, &j->options);
		err = j->gather ? unwind_stacks(g, j) : -FMT_E_NOMEM;
	}
	if (err) {
		job_free(j);
		return err;
	}
	if (g->opened)
		g->opened(g->opened_arg, &g->set->in);
	input_set_detach(g->set, &j->input);
	g->jobs[g->nr++] = j;
	/* Without a thread it is read when its turn has come. */
	j->threaded = g->at_once > 1 && pthread_create(&j->thread, NULL, run_job, j) == 0;
	return 0;
}

static void
open_more(struct gathering *g)
{
	while (g->nr < g->at_once && !g->all_opened && g->failed == 0) {
		int more = input_set_next(g->set);

		g->all_opened = more == 0;
		if (more > 0 && job_begin(g) < 0) {
			warnx("out of memory");
			input_set_leave(g->set);
			more = -1;
		}
		if (more < 0)
			g->failed = -1;
	}
}

int
gathering_next(struct gathering *g, struct resolver_recording *ret, uint64_t *ret_shift_ns)
{
	open_more(g);
	/* Those that were opened before it come first. */
	if (g->nr == 0)
		return g->failed;
	*ret = g->jobs[0]->recording;
	*ret_shift_ns = g->jobs[0]->input.shift_ns;
	return 1;
}

/* Until the thread has ended; NULL: there is nobody to take. */
static int
take_turns(struct job *j, gather_take_fn *take, void *arg)
{
	const struct raw_profile *raw;
	int verdict = take ? 0 : -FMT_E_NOMEM;

	pthread_mutex_lock(&j->lock);
	j->verdict = verdict;
	for (;;) {
		while (j->turn == GATHERS)
			pthread_cond_wait(&j->turned, &j->lock);
		if (j->turn == ENDED)
			break;
		raw = j->raw;
		pthread_mutex_unlock(&j->lock);
		if (verdict == 0)
			verdict = take(arg, j->gather, raw);
		pthread_mutex_lock(&j->lock);
		j->verdict = verdict;
		give_turn(j, GATHERS);
	}
	pthread_mutex_unlock(&j->lock);
	pthread_join(j->thread, NULL);
	j->threaded = false;
	return j->error;
}

int
gathering_take(struct gathering *g, gather_take_fn *take, void *arg, struct gather **ret,
	       struct fmt_where *where)
{
	struct job *j = g->jobs[0];
	int error;

	*ret = j->gather;
	if (!j->threaded)
		return gather_run(j->gather, take, arg, where);
	error = take_turns(j, take, arg);
	*where = j->where;
	return error;
}

void
gathering_finish(struct gathering *g)
{
	struct job *j = g->jobs[0];

	if (j->threaded)
		take_turns(j, NULL, NULL);
	input_set_attach(g->set, &j->input);
	job_free(j);
	g->nr--;
	memmove(g->jobs, g->jobs + 1, g->nr * sizeof(*g->jobs));
}

void
gathering_free(struct gathering *g)
{
	if (!g)
		return;
	while (g->nr > 0) {
		gathering_finish(g);
		input_set_leave(g->set);
	}
	free(g);
}
