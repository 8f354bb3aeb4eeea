/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/packed_objects.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/recording/recording_reader.h"

#define OBJECTS_MAX 16384
#define MEMORY_MAX (UINT64_C(64) << 20)	     /* of a file that is taken out into memory */
#define ALL_BYTES_MAX (UINT64_C(16) << 30)   /* of all that are taken out, holes left out */
#define ALL_MEMORY_MAX (UINT64_C(256) << 20) /* of all that are in memory at a time */
#define OPEN_MAX 128			     /* that stay taken out */
#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

struct packed_entry {
	struct packed_object about; /* its path is the entry's */
	uint64_t seq;		    /* of its OBJECT block */
	int fd;			    /* taken out; -1: not yet, or no more */
	bool bad;		    /* it could not be, and is not tried again */
};

struct packed_objects {
	pthread_mutex_t lock;
	unsigned int users;
	struct recording_reader *reader;
	struct packed_entry *entries;
	size_t nr, cap;
	size_t nr_open;
	uint64_t bytes_left, memory_left;
};

/* --- which there are --------------------------------------------------------------------- */

static bool
is_object(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_OBJECT;
}

static int
add_entry(struct packed_objects *p, const struct block *b)
{
	struct packed_entry e = { .seq = b->header.seq, .fd = -1 };
	char *path;

	if (packed_object_read(b->payload, &e.about) != 0 || p->nr == OBJECTS_MAX)
		return 0;
	if (array_reserve(p->entries, p->nr, p->cap, 1) < 0)
		return -FMT_E_NOMEM;
	path = calloc(1, e.about.path_len + 1);
	if (!path)
		return -FMT_E_NOMEM;
	memcpy(path, e.about.path, e.about.path_len);
	e.about.path = path;
	p->entries[p->nr++] = e;
	return 0;
}

static int
read_entries(struct packed_objects *p)
{
	struct block b;
	int error = recording_reader_seek(p->reader, is_object, NULL, NULL), more;

	while (!error && (more = recording_reader_next(p->reader, is_object, NULL, &b, NULL)) != 0)
		error = more < 0 ? more : add_entry(p, &b);
	return error;
}

int
packed_objects_new(struct io_source *source, struct packed_objects **ret)
{
	struct packed_objects *p = calloc(1, sizeof(*p));
	int error;

	*ret = NULL;
	if (!p) {
		source->close(source);
		return -FMT_E_NOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->users = 1;
	p->bytes_left = ALL_BYTES_MAX;
	p->memory_left = ALL_MEMORY_MAX;
	error = recording_reader_open(source, &p->reader, NULL);
	if (!error)
		error = read_entries(p);
	if (!error && p->nr > 0)
		*ret = p;
	else
		packed_objects_free(p);
	/* What else is wrong with the recording is told by who reads it. */
	return error == -FMT_E_NOMEM ? error : 0;
}

struct packed_objects *
packed_objects_ref(struct packed_objects *p)
{
	if (p) {
		pthread_mutex_lock(&p->lock);
		p->users++;
		pthread_mutex_unlock(&p->lock);
	}
	return p;
}

void
packed_objects_free(struct packed_objects *p)
{
	unsigned int users;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	users = --p->users;
	pthread_mutex_unlock(&p->lock);
	if (users > 0)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		if (p->entries[i].fd >= 0)
			close(p->entries[i].fd);
		free((char *)(uintptr_t)p->entries[i].about.path);
	}
	free(p->entries);
	recording_reader_close(p->reader);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

size_t
packed_objects_count(const struct packed_objects *p)
{
	return p ? p->nr : 0;
}

const struct packed_object *
packed_objects_at(const struct packed_objects *p, size_t i)
{
	return &p->entries[i].about;
}

/* --- taking one out ---------------------------------------------------------------------- */

static int
open_on_disk(void)
{
	const char *dir = getenv("TMPDIR");

	return open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/*
 * A file without a name: in memory as long as all of these take no more than their share, and a large one
 * only where there is no disk for it.
 */
static int
open_nameless(const struct packed_objects *p, uint64_t bytes, bool *ret_memory)
{
	int fd = bytes > MEMORY_MAX ? open_on_disk() : -1;

	*ret_memory = fd < 0 && bytes <= p->memory_left;
	if (*ret_memory)
		return memfd_create("packed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd >= 0 || bytes > MEMORY_MAX ? fd : open_on_disk();
}

/* Pieces stand behind their OBJECT, and before that of the next one. */
struct wanted_pieces {
	uint64_t after, before;
};

static bool
is_piece(const struct block_header *h, void *arg)
{
	const struct wanted_pieces *w = arg;

	return h->type == BLOCK_PIECE && h->seq > w->after && h->seq < w->before;
}

/* All of its bytes: exactly the pieces that it says it has. */
static bool
write_pieces(struct packed_objects *p, const struct packed_entry *e, uint64_t before, int fd)
{
	struct wanted_pieces w = { e->seq, before };
	struct packed_piece piece;
	uint32_t pieces = 0;
	struct block b;
	uint64_t end = 0;

	if (recording_reader_seek(p->reader, is_piece, &w, NULL) != 0)
		return false;
	while (pieces < e->about.pieces &&
	       recording_reader_next(p->reader, is_piece, &w, &b, NULL) > 0) {
		if (packed_piece_read(b.payload, &piece) != 0 || piece.object != e->seq ||
		    piece.at < end || piece.at > e->about.size ||
		    piece.bytes.len > e->about.size - piece.at || piece.bytes.len > p->bytes_left)
			return false;
		p->bytes_left -= piece.bytes.len;
		end = piece.at + piece.bytes.len;
		if (io_write_at(fd, piece.bytes.p, piece.bytes.len, piece.at) < 0)
			return false;
		pieces++;
	}
	return pieces == e->about.pieces;
}

bool
packed_objects_same_build(int fd, const struct buildid *id)
{
	struct io_source *file = id->kind == BUILDID_GNU ? io_source_dup(fd) : NULL;
	struct buildid found;
	bool same = id->kind != BUILDID_GNU ||
		(file && buildid_read(file, &found) == 0 && buildid_same(&found, id));

	if (file)
		file->close(file);
	return same;
}

/* What is open stays open for as long as any user has it: its memory is given back only where none got it. */
static int
take_out(struct packed_objects *p, struct packed_entry *e)
{
	const size_t i = (size_t)(e - p->entries);
	const uint64_t before = i + 1 < p->nr ? e[1].seq : UINT64_MAX;
	const uint64_t pieces = (uint64_t)e->about.pieces * PACKED_PIECE_BYTES;
	const uint64_t bytes = pieces < e->about.size ? pieces : e->about.size;
	bool memory;
	int fd = open_nameless(p, bytes, &memory);

	if (fd >= 0 && ftruncate(fd, (off_t)e->about.size) == 0 && write_pieces(p, e, before, fd) &&
	    packed_objects_same_build(fd, &e->about.id) &&
	    (!memory || fcntl(fd, F_ADD_SEALS, SEALS) == 0)) {
		p->memory_left -= memory ? bytes : 0;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	e->bad = true;
	return -1;
}

static bool
is_wanted(const struct packed_entry *e, enum packed_kind kind, const struct buildid *id,
	  bool names_only)
{
	return !e->bad && e->about.kind == kind && e->about.names_only == names_only &&
		buildid_same(&e->about.id, id);
}

/* Under the lock. Of several the last one is the one that was packed last. */
static int
find_fd(struct packed_objects *p, enum packed_kind kind, const struct buildid *id, bool names_only,
	bool *ret_code)
{
	for (size_t i = p->nr; i-- > 0;) {
		struct packed_entry *e = &p->entries[i];
		int fd, dup;

		if (!is_wanted(e, kind, id, names_only))
			continue;
		fd = e->fd >= 0 ? e->fd : take_out(p, e);
		if (fd < 0)
			continue;
		*ret_code = e->about.code;
		if (e->fd < 0 && p->nr_open == OPEN_MAX)
			return fd;
		dup = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		p->nr_open += e->fd < 0;
		e->fd = fd;
		return dup;
	}
	return -1;
}

static int
locked_fd(struct packed_objects *p, enum packed_kind kind, const struct buildid *id,
	  bool names_only, bool *ret_code)
{
	int fd;

	if (!p || id->size == 0)
		return -1;
	pthread_mutex_lock(&p->lock);
	fd = find_fd(p, kind, id, names_only, ret_code);
	pthread_mutex_unlock(&p->lock);
	return fd;
}

int
packed_objects_fd(struct packed_objects *p, enum packed_kind kind, const struct buildid *id)
{
	bool code;

	return locked_fd(p, kind, id, false, &code);
}

int
packed_objects_open(struct packed_objects *p, enum packed_kind kind, const struct buildid *id,
		    bool names_only, struct elf_object **ret, bool *ret_code)
{
	int fd = locked_fd(p, kind, id, names_only, ret_code), error;

	*ret = NULL;
	if (fd < 0)
		return 0;
	error = elf_object_open(fd, ret);
	return error == -FMT_E_NOMEM ? error : 0;
}
