/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwinder/numbered_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"

/* An open file: offered, and perhaps numbered. */
struct held {
	int fd;		 /* -1: none */
	uint32_t number; /* 0: none yet */
	uint32_t uid;
	uint64_t serial;
	uint64_t used;
};

enum state {
	FILE_NONE, /* there is nothing for it */
	FILE_GONE, /* its descriptor is closed */
	FILE_UNREAD,
	FILE_READ,
};

struct file {
	enum state state;
	uint16_t held; /* place of its descriptor and one; 0: it has none */
	bool touched;  /* by the walk that goes on */
	uint32_t uid;
	struct code_file code;
	size_t bytes; /* as of when it was counted last */
	uint64_t used;
};

#define USERS 256 /* that are told apart */

struct numbered_files {
	struct unwinder *u;
	struct file v[UNWIND_FILES_MAX];
	struct held held[NUMBERED_FILES_DESCRIPTORS_MAX];
	size_t held_max;
	size_t bytes; /* of all */
	size_t user_bytes[USERS];
	uint64_t uses; /* so far */
	uint16_t touched[UNWIND_FILES_MAX];
	size_t nr_touched;
	struct elf_budget budget; /* of the walk that goes on */
};

struct numbered_files *
numbered_files_new(struct unwinder *u, size_t descriptors_max)
{
	struct numbered_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->u = u;
	f->held_max = descriptors_max < NUMBERED_FILES_DESCRIPTORS_MAX
		? descriptors_max
		: NUMBERED_FILES_DESCRIPTORS_MAX;
	for (size_t i = 0; i < f->held_max; i++)
		f->held[i].fd = -1;
	return f;
}

/* --- memory ------------------------------------------------------------------------------ */

static void
set_bytes(struct numbered_files *f, struct file *file, size_t bytes)
{
	f->bytes += bytes - file->bytes;
	f->user_bytes[file->uid % USERS] += bytes - file->bytes;
	file->bytes = bytes;
}

static void
free_code(struct numbered_files *f, struct file *file)
{
	if (file->state != FILE_READ)
		return;
	if (file->code.cfi)
		unwinder_forget(f->u, file->code.cfi);
	code_file_done(&file->code);
	set_bytes(f, file, 0);
	file->state = FILE_UNREAD;
}

static void
count(struct numbered_files *f, struct file *file)
{
	set_bytes(f, file, code_file_bytes(&file->code));
}

static size_t
largest_user(const struct numbered_files *f)
{
	size_t user = 0;

	for (size_t i = 1; i < USERS; i++)
		if (f->user_bytes[i] > f->user_bytes[user])
			user = i;
	return user;
}

/* Down to so many bytes. */
static void
make_room(struct numbered_files *f, size_t bytes)
{
	while (f->bytes > bytes) {
		const size_t user = largest_user(f);
		struct file *least = NULL;

		for (size_t i = 0; i < UNWIND_FILES_MAX; i++)
			if (f->v[i].bytes > 0 && f->v[i].uid % USERS == user &&
			    (!least || f->v[i].used < least->used))
				least = &f->v[i];
		free_code(f, least);
	}
}

void
numbered_files_settle(struct numbered_files *f)
{
	for (size_t i = 0; i < f->nr_touched; i++) {
		struct file *file = &f->v[f->touched[i]];

		file->touched = false;
		count(f, file);
	}
	f->nr_touched = 0;
	make_room(f, NUMBERED_FILES_BYTES_MAX);
}

void
numbered_files_drop(struct numbered_files *f)
{
	numbered_files_settle(f);
	make_room(f, 0);
}

/* --- descriptors ------------------------------------------------------------------------- */

static void
let_go(struct numbered_files *f, struct held *h)
{
	struct file *file = h->number ? &f->v[h->number] : NULL;

	if (file) {
		free_code(f, file);
		file->held = 0;
		file->state = FILE_GONE;
	}
	if (h->fd >= 0)
		(void)close(h->fd);
	*h = (struct held){ .fd = -1 };
}

/* Its own use, or that of its file. */
static uint64_t
used_last(const struct numbered_files *f, const struct held *h)
{
	const uint64_t file = h->number ? f->v[h->number].used : 0;

	return file > h->used ? file : h->used;
}

/* No number has it yet. */
static struct held *
offered(struct numbered_files *f, uint64_t serial)
{
	for (size_t i = 0; i < f->held_max; i++) {
		struct held *h = &f->held[i];

		if (h->fd >= 0 && h->number == 0 && h->serial == serial)
			return h;
	}
	return NULL;
}

/* A place for another one: a free one, or what the user with most of them has not used for longest. */
static struct held *
place_of_next(struct numbered_files *f)
{
	uint16_t of[USERS] = { 0 };
	struct held *least = NULL;
	size_t most = 0;

	for (size_t i = 0; i < f->held_max; i++) {
		const struct held *h = &f->held[i];

		if (h->fd < 0)
			return &f->held[i];
		if (++of[h->uid % USERS] > of[most])
			most = h->uid % USERS;
	}
	for (size_t i = 0; i < f->held_max; i++) {
		struct held *h = &f->held[i];

		if (h->uid % USERS == most && (!least || used_last(f, h) < used_last(f, least)))
			least = h;
	}
	return least;
}

void
numbered_files_offer(struct numbered_files *f, const struct unwind_offer *o, int fd)
{
	struct held *h = place_of_next(f);

	if (!h) {
		(void)close(fd);
		return;
	}
	let_go(f, h);
	*h = (struct held){ .fd = fd, .uid = o->uid, .serial = o->serial, .used = ++f->uses };
}

void
numbered_files_claim(struct numbered_files *f, const struct unwind_file *entry)
{
	struct file *file = &f->v[entry->number % UNWIND_FILES_MAX];
	struct held *h;

	if (entry->number == 0 || entry->number >= UNWIND_FILES_MAX)
		return;
	if (file->held)
		let_go(f, &f->held[file->held - 1]);
	*file = (struct file){ .state = FILE_GONE, .uid = entry->uid, .used = ++f->uses };
	h = offered(f, entry->serial);
	if (!h)
		return;
	h->number = entry->number;
	file->held = (uint16_t)(h - f->held + 1);
	file->state = FILE_UNREAD;
}

void
numbered_files_free(struct numbered_files *f)
{
	if (!f)
		return;
	numbered_files_drop(f);
	for (size_t i = 0; i < UNWIND_FILES_MAX; i++)
		code_file_done(&f->v[i].code);
	for (size_t i = 0; i < f->held_max; i++)
		let_go(f, &f->held[i]);
	free(f);
}

/* --- what a walk asks -------------------------------------------------------------------- */

enum numbered_code
numbered_files_code(struct numbered_files *f, uint32_t number, uint64_t offset,
		    struct unwind_code *ret)
{
	struct file *file = &f->v[number % UNWIND_FILES_MAX];

	if (number >= UNWIND_FILES_MAX || file->state == FILE_NONE) {
		*ret = (struct unwind_code){ .cfi = NULL };
		return NUMBERED_FOUND;
	}
	if (file->state != FILE_READ)
		return file->state == FILE_GONE ? NUMBERED_GONE : NUMBERED_UNREAD;
	if (!file->touched) {
		file->touched = true;
		file->used = ++f->uses;
		f->touched[f->nr_touched++] = (uint16_t)number;
	}
	*ret = code_file_at(&file->code, offset);
	return NUMBERED_FOUND;
}

void
numbered_files_begin(struct numbered_files *f)
{
	f->budget = (struct elf_budget){ .left = NUMBERED_FILES_WALK_MAX };
}

bool
numbered_files_refused(const struct numbered_files *f)
{
	return f->budget.refused;
}

static int
read_once(struct numbered_files *f, struct file *file)
{
	struct elf_share share = { .left = NUMBERED_FILES_READ_MAX };
	struct elf_object *elf = NULL;
	const int fd = fcntl(f->held[file->held - 1].fd, F_DUPFD_CLOEXEC, 0);
	int err = fd >= 0 ? elf_object_open(fd, &elf) : -FMT_E_IO;

	if (err == 0) {
		elf_object_limit(elf, &share);
		err = code_file_open(&file->code, elf, NUMBERED_FILES_ONE_MAX, &f->budget);
		elf_object_close(elf);
	}
	return err;
}

void
numbered_files_read(struct numbered_files *f, uint32_t number)
{
	struct file *file = &f->v[number % UNWIND_FILES_MAX];
	int err;

	if (file->state != FILE_UNREAD)
		return;
	err = read_once(f, file);
	if (err == -FMT_E_NOMEM) {
		numbered_files_drop(f);
		err = read_once(f, file);
	}
	if (err || !file->code.cfi) {
		let_go(f, &f->held[file->held - 1]);
		file->state = FILE_NONE;
		return;
	}
	file->state = FILE_READ;
	file->used = ++f->uses;
	count(f, file);
	make_room(f, NUMBERED_FILES_BYTES_MAX);
}
