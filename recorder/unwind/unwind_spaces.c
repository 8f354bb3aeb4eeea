/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwind_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes/slots.h"
#include "format/unwind/unwind_ring.h"
#include "recorder/host/task_users.h"

#define SPACE_WAYS 8
#define SPACE_MAPS_MAX 4096u /* so that a space fits the ring */

/* An address space as the process has it. */
struct space {
	uint64_t version; /* of the model's; 0: none */
	uint64_t asked;	  /* files, up to those of this one */
	uint64_t unmet;	  /* as of unwind_files_unmet(), when it was given */
	uint32_t held;	  /* how often: until then it stays as it is */
};

struct unwind_spaces {
	struct live *live;
	struct unwind_process *process;
	struct unwind_files *files;
	struct space v[UNWIND_SPACES_MAX];
};

struct unwind_spaces *
unwind_spaces_new(struct live *live, struct unwind_process *process, struct unwind_files *files)
{
	struct unwind_spaces *s = calloc(1, sizeof(*s));

	if (s)
		*s = (struct unwind_spaces){ .live = live, .process = process, .files = files };
	return s;
}

void
unwind_spaces_free(struct unwind_spaces *s)
{
	free(s);
}

void
unwind_spaces_begin(struct unwind_spaces *s)
{
	memset(s->v, 0, sizeof(s->v));
}

static bool
is_code(const struct task_map *m)
{
	return !m->prot || m->prot & PROT_EXEC;
}

static uint32_t
flags_of(const struct task_map *m)
{
	if (strcmp(m->object->path, "[vdso]") == 0)
		return UNWIND_MAP_VDSO;
	return strcmp(m->object->path, "[vsyscall]") == 0 ? UNWIND_MAP_VSYSCALL : 0;
}

/*
 * False: the ring has no room now. *ret_incomplete is set where a file could not be asked for: the next sample of the
 * space gives it again.
 */
static bool
give_space(struct unwind_spaces *all, uint32_t number, uint32_t pid, uint64_t time_ns,
	   bool *ret_incomplete)
{
	const struct task_model *model = live_model(all->live);
	struct unwind_mapper who = { .pid = pid,
				     .time_ns = time_ns,
				     .version = task_model_maps_version(model, pid) };
	struct unwind_ring *ring = unwind_process_ring(all->process);
	const struct task_map *m = NULL;
	struct unwind_space *s;
	struct unwind_map *to;
	uint32_t nr = 0;

	while ((m = task_model_next_map(model, pid, m)) && nr < SPACE_MAPS_MAX)
		nr += is_code(m);
	/* A large one does without first: small ones fit until the end. */
	if (sizeof(*s) + nr * sizeof(*to) > unwind_ring_room(ring) / 4)
		return false;
	s = unwind_ring_reserve(ring, UNWIND_SPACE, sizeof(*s) + nr * sizeof(*to));
	if (!s)
		return false;
	who.uid = task_users_of(live_users(all->live), model, pid, time_ns);
	s->number = number;
	s->nr = nr;
	s->uid = who.uid;
	s->reserved = 0;
	to = (struct unwind_map *)(void *)(s + 1);
	for (m = NULL; nr > 0 && (m = task_model_next_map(model, pid, m));) {
		if (!is_code(m))
			continue;
		*to++ = (struct unwind_map){ .start = m->start,
					     .end = m->end,
					     .pgoff = m->pgoff,
					     .file = unwind_files_number(all->files, m, &who,
									 ret_incomplete),
					     .flags = flags_of(m) };
		nr--;
	}
	(void)unwind_ring_publish(ring);
	return true;
}

/* The one of this version, or else one that may be replaced; NULL: none now. */
static struct space *
space_for(struct unwind_spaces *all, uint64_t version)
{
	const uint64_t first = slots_mix(0, version);
	struct space *other = NULL;

	for (unsigned i = 0; i < SPACE_WAYS; i++) {
		struct space *s = &all->v[(first + i) % UNWIND_SPACES_MAX];

		if (s->version == version)
			return s;
		if (!s->held && (!other || (other->version && !s->version)))
			other = s;
	}
	return other;
}

/* Is the process told of the space, with all that is known of its files? False: not now. */
static bool
settle_space(struct unwind_spaces *all, struct space *s, uint64_t version, uint32_t pid,
	     uint64_t time_ns)
{
	const uint64_t unmet = unwind_files_unmet(all->files);
	bool incomplete = false;

	/* Of files that could not be had another process may know better; meanwhile it serves as it is. */
	if (s->version == version && (s->unmet == unmet || s->held))
		return true;
	if (!give_space(all, (uint32_t)(s - all->v), pid, time_ns, &incomplete))
		return false;
	s->version = incomplete ? 0 : version;
	s->asked = unwind_files_asked(all->files);
	s->unmet = unmet;
	return true;
}

int
unwind_spaces_hold(struct unwind_spaces *all, uint32_t pid, uint64_t time_ns, uint32_t *ret_number,
		   uint64_t *ret_asked)
{
	const uint64_t version = task_model_maps_version(live_model(all->live), pid);
	struct space *s = version ? space_for(all, version) : NULL;

	if (!version)
		return 0;
	if (!s || !settle_space(all, s, version, pid, time_ns))
		return -EAGAIN;
	s->held++;
	*ret_number = (uint32_t)(s - all->v);
	*ret_asked = s->asked;
	return 1;
}

void
unwind_spaces_release(struct unwind_spaces *s, uint32_t number)
{
	s->v[number].held--;
}

void
unwind_spaces_forgotten(struct unwind_spaces *s, uint32_t number)
{
	s->v[number].version = 0;
}
