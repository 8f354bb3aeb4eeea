/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/inlines.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/dwarf/dwarf_answer.h"
#include "symbolizer/dwarf/dwarf_cache.h"
#include "symbolizer/dwarf/dwarf_failures.h"
#include "symbolizer/object/cpus_here.h"
#include "symbolizer/object/file_owner.h"
#include "symbolizer/object/object_store.h"

#define AT_ONCE_MAX 8 /* workers */

/* A frame of debug information, in the resolver's strings. */
struct source_frame {
	const char *function, *file; /* NULL: not known */
	uint32_t line;
};

/* What is known of an address; of none whose object may be freed. */
struct known {
	struct object *object;
	uint64_t address;
	size_t first; /* in frames */
	uint32_t nr;  /* 0: nothing */
};

/* A frame that was added. */
struct asked {
	struct frame frame;
	uint32_t number;
	uint32_t known; /* once it was looked up */
};

struct trouble {
	const char *path;
	enum dwarf_outcome outcome;
	bool remembered; /* of an earlier look */
};

struct lacking {
	const char *path; /* interned: objects come and go */
	uint32_t units;
};

struct inlines {
	struct resolver *resolver;
	const char *cache_dir; /* NULL: there is none */
	struct asked *asked;
	size_t nr_asked, cap_asked;
	struct known *known;
	size_t nr_known, cap_known;
	struct slots known_slots;
	struct source_frame *frames;
	size_t nr_frames, cap_frames;
	struct trouble *troubles;
	size_t nr_troubles, cap_troubles;
	struct lacking *lacking;
	size_t nr_lacking, cap_lacking;
	bool refused; /* the sandbox of workers: told */
	size_t at_once;
	struct dwarf_budget budget; /* of all that are looked up */
};

struct inlines *
inlines_new(struct resolver *resolver, const char *cache_dir)
{
	struct inlines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->resolver = resolver;
	l->cache_dir = cache_dir;
	l->at_once = cpus_here(AT_ONCE_MAX);
	dwarf_budget_init(&l->budget);
	return l;
}

void
inlines_free(struct inlines *l)
{
	if (!l)
		return;
	free(l->asked);
	free(l->known);
	slots_done(&l->known_slots);
	free(l->frames);
	free(l->troubles);
	free(l->lacking);
	free(l);
}

int
inlines_add(struct inlines *l, const struct frame *frame, uint32_t number)
{
	if (!frame->object || frame->object->debug_fd < 0 || frame->object->debug_bad)
		return 0;
	if (array_reserve(l->asked, l->nr_asked, l->cap_asked, 1) < 0)
		return -FMT_E_NOMEM;
	l->asked[l->nr_asked++] = (struct asked){ .frame = *frame, .number = number };
	return 0;
}

/* --- what is not known yet --------------------------------------------------------------- */

static bool
known_same(const void *owner, uint32_t index, const void *key)
{
	const struct known *a = &((const struct inlines *)owner)->known[index], *b = key;

	return a->object == b->object && a->address == b->address;
}

/* Gives all of asked their known; those behind *ret_first are new. */
static int
note_all(struct inlines *l, size_t *ret_first)
{
	int error = 0;

	*ret_first = l->nr_known;
	for (size_t i = 0; !error && i < l->nr_asked; i++) {
		struct asked *a = &l->asked[i];
		const struct known key = { .object = a->frame.object,
					   .address = a->frame.looked_up -
						   a->frame.object->debug_bias };
		uint64_t h = slots_mix((uintptr_t)key.object, key.address);

		error = slots_keep(&l->known_slots, (uint32_t)h, known_same, l, &key, l->known,
				   l->nr_known, l->cap_known, &a->known);
	}
	return error;
}

/* An address that is looked up. */
struct wanted {
	struct object *object;
	uint64_t address;
	uint32_t known;
};

static int
compare_wanted(const void *x, const void *y)
{
	const struct wanted *a = x, *b = y;

	if (a->object->debug_fd != b->object->debug_fd)
		return a->object->debug_fd < b->object->debug_fd ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* --- looking up -------------------------------------------------------------------------- */

/* Who opens the files of an object's split units. */
struct split_files {
	const struct resolver *resolver;
	const struct object *object;
};

struct search {
	struct inlines *l;
	struct wanted *wanted; /* sorted */
	uint64_t *addresses;   /* theirs */
	size_t nr;
	struct dwarf_job *jobs;	     /* an object each */
	struct split_files *splits;  /* theirs */
	struct dwarf_cache **caches; /* theirs; NULL: none */
	struct dwarf_failures *failures;
	bool *partial; /* addresses of which something is missing here */
	size_t nr_jobs;
};

static int
source_name(struct resolver *r, struct object *of, const char *name, const char **ret)
{
	*ret = NULL;
	return name ? resolver_name(r, of, name, ret) : 0;
}

static int
keep_found(struct inlines *l, struct known *known, const struct dwarf_frame *frames, size_t nr)
{
	int error = array_reserve(l->frames, l->nr_frames, l->cap_frames, nr);

	if (known->nr)
		return error;
	known->first = l->nr_frames;
	for (size_t k = 0; !error && k < nr; k++) {
		struct source_frame *f = &l->frames[l->nr_frames + k];

		f->line = frames[k].line;
		f->file = frames[k].file ? resolver_text(l->resolver, known->object, frames[k].file)
					 : NULL;
		if (frames[k].file && !f->file)
			return -FMT_E_NOMEM;
		error = source_name(l->resolver, known->object, frames[k].function, &f->function);
	}
	if (error)
		return error;
	known->nr = (uint32_t)nr;
	l->nr_frames += nr;
	return 0;
}

static int
take_found(void *arg, size_t job, size_t i, const struct dwarf_frame *frames, size_t nr,
	   bool partial)
{
	struct search *s = arg;
	const size_t at = (size_t)(s->jobs[job].addresses - s->addresses) + i;
	int error = keep_found(s->l, &s->l->known[s->wanted[at].known], frames, nr);

	s->partial[at] = partial;
	/* The file that is not here may be tomorrow. */
	if (!error && !partial && s->caches[job])
		error = dwarf_cache_add(s->caches[job], s->addresses[at], frames, nr);
	return error;
}

static int
open_split(void *arg, const char *dir, const char *name)
{
	const struct split_files *f = arg;

	return resolver_split(f->resolver, f->object, dir, name);
}

/* By what asked for it. */
static const char *
object_path(const struct inlines *l, const struct object *object)
{
	for (size_t i = 0; i < l->nr_asked; i++)
		if (l->asked[i].frame.object == object)
			return l->asked[i].frame.dso_path;
	return "[unknown]";
}

/* A file that could not be read is told once, and not read again. A refused sandbox is the same for all, and told once. */
static int
note_trouble(struct inlines *l, struct object *object, enum dwarf_outcome outcome, bool remembered)
{
	const bool refused = outcome == DWARF_REFUSED;

	object->debug_bad = true;
	if (outcome == DWARF_NONE || (refused && l->refused))
		return 0;
	l->refused |= refused;
	if (array_reserve(l->troubles, l->nr_troubles, l->cap_troubles, 1) < 0)
		return -FMT_E_NOMEM;
	l->troubles[l->nr_troubles++] =
		(struct trouble){ refused ? "all objects" : object_path(l, object), outcome,
				  remembered };
	return 0;
}

/* Those addresses of one object, [first, end), that the cache has not, go to *nr and behind. */
static int
add_job(struct search *s, size_t first, size_t end, size_t *nr)
{
	struct object *object = s->wanted[first].object;
	struct dwarf_cache *cache = NULL;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	const size_t begin = *nr;
	enum dwarf_outcome outcome;
	size_t nr_frames;
	int error = 0;

	if (object->debug_bad)
		return 0;
	if (dwarf_failures_find(s->failures, object->debug_fd, &outcome))
		return note_trouble(s->l, object, outcome, true);
	/* Who made a recording chose what an entry of its files would be known again by. */
	if (s->l->cache_dir && !object->stored)
		cache = dwarf_cache_open(s->l->cache_dir, &object->build_id, object->debug_fd,
					 object->alt_fd);
	for (size_t i = first; !error && i < end; i++) {
		const struct wanted w = s->wanted[i];

		if (cache && dwarf_cache_find(cache, w.address, frames, &nr_frames)) {
			error = keep_found(s->l, &s->l->known[w.known], frames, nr_frames);
			continue;
		}
		s->wanted[*nr] = w;
		s->addresses[(*nr)++] = w.address;
	}
	if (error || *nr == begin) {
		dwarf_cache_free(cache);
		return error;
	}
	s->caches[s->nr_jobs] = cache;
	s->splits[s->nr_jobs] = (struct split_files){ s->l->resolver, object };
	s->jobs[s->nr_jobs] = (struct dwarf_job){ .fd = object->debug_fd,
						  .alt_fd = object->alt_fd,
						  .others = object->stored ||
							  !file_owner_trusts(object->debug_fd),
						  .split = open_split,
						  .split_arg = &s->splits[s->nr_jobs],
						  .addresses = &s->addresses[begin],
						  .n = *nr - begin };
	s->nr_jobs++;
	return 0;
}

static int
make_jobs(struct search *s)
{
	size_t nr = 0;
	int error = 0;

	for (size_t i = 0, end; !error && i < s->nr; i = end) {
		for (end = i; end < s->nr && s->wanted[end].object == s->wanted[i].object;)
			end++;
		error = add_job(s, i, end, &nr);
	}
	return error;
}

/* Of which nothing is known is worth being kept, too. */
static int
save_caches(struct search *s)
{
	int error = 0;

	for (size_t i = 0; !error && i < s->nr_jobs; i++) {
		const struct dwarf_job *job = &s->jobs[i];
		const size_t first = (size_t)(job->addresses - s->addresses);

		if (job->outcome != DWARF_DONE || !s->caches[i])
			continue;
		for (size_t k = 0; !error && k < job->n; k++)
			if (s->l->known[s->wanted[first + k].known].nr == 0 &&
			    !s->partial[first + k])
				error = dwarf_cache_add(s->caches[i], job->addresses[k], NULL, 0);
		if (!error)
			dwarf_cache_save(s->caches[i]);
	}
	return error;
}

/* An object is asked for more addresses now and then, and not always of the same units. */
static int
note_lacking(struct inlines *l, const struct object *object, uint32_t units)
{
	const char *path = object_path(l, object);

	for (size_t i = 0; i < l->nr_lacking; i++)
		if (l->lacking[i].path == path) {
			if (units > l->lacking[i].units)
				l->lacking[i].units = units;
			return 0;
		}
	if (array_reserve(l->lacking, l->nr_lacking, l->cap_lacking, 1) < 0)
		return -FMT_E_NOMEM;
	l->lacking[l->nr_lacking++] = (struct lacking){ path, units };
	return 0;
}

static int
note_troubles(struct search *s)
{
	struct inlines *l = s->l;
	int error = 0;

	for (size_t i = 0; !error && i < s->nr_jobs; i++) {
		const struct dwarf_job *job = &s->jobs[i];
		struct object *object = s->wanted[job->addresses - s->addresses].object;

		if (job->outcome != DWARF_DONE) {
			dwarf_failures_add(s->failures, job->fd, job->outcome);
			error = note_trouble(l, object, job->outcome, false);
		} else if (job->lacking > 0) {
			error = note_lacking(l, object, job->lacking);
		}
	}
	return error;
}

static int
search_all(struct inlines *l, size_t first)
{
	struct search s = { .l = l, .nr = l->nr_known - first };
	int error = -FMT_E_NOMEM;

	s.wanted = calloc(s.nr + 1, sizeof(*s.wanted));
	s.addresses = calloc(s.nr + 1, sizeof(*s.addresses));
	s.jobs = calloc(s.nr + 1, sizeof(*s.jobs));
	s.splits = calloc(s.nr + 1, sizeof(*s.splits));
	s.caches = calloc(s.nr + 1, sizeof(*s.caches));
	s.partial = calloc(s.nr + 1, sizeof(*s.partial));
	s.failures = dwarf_failures_open(l->cache_dir);
	if (s.failures && s.wanted && s.addresses && s.jobs && s.splits && s.caches && s.partial) {
		for (size_t i = 0; i < s.nr; i++) {
			const struct known *k = &l->known[first + i];

			s.wanted[i] =
				(struct wanted){ k->object, k->address, (uint32_t)(first + i) };
		}
		if (s.nr > 0)
			qsort(s.wanted, s.nr, sizeof(*s.wanted), compare_wanted);
		error = make_jobs(&s);
		if (!error)
			error = dwarf_workers_run(s.jobs, s.nr_jobs, l->at_once, &l->budget,
						  take_found, &s);
	}
	if (!error)
		error = note_troubles(&s);
	if (!error)
		error = save_caches(&s);
	for (size_t i = 0; i < s.nr_jobs; i++)
		dwarf_cache_free(s.caches[i]);
	dwarf_failures_close(s.failures);
	free(s.wanted);
	free(s.addresses);
	free(s.jobs);
	free(s.splits);
	free(s.partial);
	free(s.caches);
	return error;
}

/* --- giving ------------------------------------------------------------------------------ */

static void
name_by_source(struct frame *f, const char *function)
{
	if (function) {
		f->symbol = function;
		f->miss = RESOLVE_OK;
	} else if (f->symbol) {
		f->symbol = NULL;
		f->miss = RESOLVE_NO_SYMBOL;
	}
}

/*
 * The frame that was added stays what it is: the linker's name, which has more than the source's. An inlined call whose
 * name is not here has none: it is not the function that it was inlined into.
 */
static int
give(const struct inlines *l, const struct asked *a, inlines_fn *take, void *arg)
{
	const struct known *k = &l->known[a->known];
	struct frame frames[DWARF_FRAMES_MAX];

	for (uint32_t i = 0; i < k->nr; i++) {
		const struct source_frame *source = &l->frames[k->first + i];
		struct frame *f = &frames[i];

		*f = a->frame;
		f->file = source->file;
		f->line = source->line;
		f->inlined = i + 1 < k->nr;
		if (f->inlined || (!frame_is_named(f) && source->function))
			name_by_source(f, source->function);
	}
	return k->nr ? take(arg, a->number, frames, k->nr) : 0;
}

/* An object that nothing identifies may be another one by this pointer the next time. */
static void
forget_unidentified(struct inlines *l)
{
	bool some = false;

	for (size_t i = 0; !some && i < l->nr_known; i++)
		some = l->known[i].object->build_id.size == 0;
	if (some) {
		l->nr_known = l->nr_frames = 0;
		slots_clear(&l->known_slots);
	}
}

int
inlines_run(struct inlines *l, inlines_fn *take, void *arg)
{
	size_t first;
	int error = note_all(l, &first);

	if (!error)
		error = search_all(l, first);
	for (size_t i = 0; !error && i < l->nr_asked; i++)
		error = give(l, &l->asked[i], take, arg);
	l->nr_asked = 0;
	forget_unidentified(l);
	return error;
}

bool
inlines_trouble(const struct inlines *l, size_t i, const char **ret_path, enum dwarf_outcome *ret,
		bool *ret_remembered)
{
	if (i >= l->nr_troubles)
		return false;
	*ret_path = l->troubles[i].path;
	*ret = l->troubles[i].outcome;
	*ret_remembered = l->troubles[i].remembered;
	return true;
}

bool
inlines_lacking(const struct inlines *l, size_t i, const char **ret_path, uint32_t *ret_units)
{
	if (i >= l->nr_lacking)
		return false;
	*ret_path = l->lacking[i].path;
	*ret_units = l->lacking[i].units;
	return true;
}
