/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/buildid_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/record/perf_record.h"
#include "recorder/host/host.h"

#define ENTRIES 4096		     /* a power of two; an inode has one place */
#define AGAIN_NS UINT64_C(100000000) /* between full searches for a file that is not found */

struct buildid_cache {
	struct mapped_files files;
	struct buildid_fact entries[ENTRIES];
};

struct buildid_cache *
buildid_cache_new(void)
{
	struct buildid_cache *c = calloc(1, sizeof(*c));

	if (c)
		mapped_files_init(&c->files);
	return c;
}

void
buildid_cache_free(struct buildid_cache *c)
{
	if (c)
		mapped_files_done(&c->files);
	free(c);
}

struct buildid_map
buildid_map_of(const struct perf_mmap *m, uint64_t mapped_ns)
{
	return (struct buildid_map){ .pid = (pid_t)m->pid,
				     .start = m->addr,
				     .end = m->addr + m->len,
				     .maj = m->maj,
				     .min = m->min,
				     .ino = m->ino,
				     .ino_generation = m->ino_generation,
				     .path = m->filename,
				     .mapped_ns = mapped_ns,
				     .known_id = m->build_id };
}

static bool
same_inode(const struct buildid_fact *e, const struct buildid_map *m)
{
	return e->known && e->ino == m->ino && e->maj == m->maj && e->min == m->min &&
		(!e->ino_generation || !m->ino_generation ||
		 e->ino_generation == m->ino_generation);
}

static bool
unchanged(const struct buildid_fact *e, const struct statx *st)
{
	return e->size == st->stx_size && e->ctime_sec == st->stx_ctime.tv_sec &&
		e->ctime_nsec == st->stx_ctime.tv_nsec;
}

static int
buildid_cache_answer(const struct buildid_fact *e, struct buildid *ret)
{
	if (e->known == BUILDID_NONE)
		return -ENODATA;
	*ret = e->id;
	return 0;
}

static int
read_id(const struct buildid_cache *c, struct mapped_file *f, struct buildid_fact *e)
{
	struct io_source *file;
	uint32_t generation;
	int fd = mapped_file_open(&c->files, f), r;

	e->known = BUILDID_NONE;
	if (fd < 0)
		return fd == -EOPNOTSUPP ? 0 : fd;
	if (mapped_file_generation(fd, e->ino, &generation))
		e->ino_generation = generation;
	file = io_source_fd(fd);
	if (!file)
		return -errno;
	r = buildid_read(file, &e->id);
	file->close(file);
	/* An error of the disk may be gone the next time. */
	if (r == -FMT_E_IO)
		return -EIO;
	if (r == 0)
		e->known = BUILDID_KNOWN;
	return 0;
}

static int
learn(const struct buildid_cache *c, const struct buildid_map *m, struct mapped_file *f,
      uint64_t seen_ns, struct buildid_fact *e)
{
	struct buildid_fact new = { .maj = m->maj,
				    .min = m->min,
				    .ino = m->ino,
				    .size = f->st.stx_size,
				    .ctime_sec = f->st.stx_ctime.tv_sec,
				    .ctime_nsec = f->st.stx_ctime.tv_nsec,
				    .numbered = f->numbered,
				    .changed_ns = f->changed_ns,
				    .seen_ns = seen_ns };
	int r = read_id(c, f, &new);

	*e = r == 0 ? new : (struct buildid_fact){ 0 };
	return r;
}

static size_t
slot_of(uint32_t min, uint64_t ino)
{
	return (ino ^ ino >> 12 ^ (uint64_t)min << 4) % ENTRIES;
}

void
buildid_cache_fact(const struct buildid_cache *c, const struct buildid_map *m,
		   struct buildid_fact *ret)
{
	*ret = c->entries[slot_of(m->min, m->ino)];
}

void
buildid_cache_learn(struct buildid_cache *c, const struct buildid_fact *fact)
{
	c->entries[slot_of(fact->min, fact->ino)] = *fact;
}

/* Was it out of reach when this was mapped, and the only file of its number and generation? */
static bool
is_gone(const struct buildid_fact *e, const struct buildid_map *m)
{
	return m->ino_generation && e->ino_generation == m->ino_generation &&
		m->mapped_ns <= e->gone_ns;
}

int
buildid_cache_known(struct buildid_cache *c, const struct buildid_map *m, struct buildid *ret)
{
	struct buildid_fact *e = &c->entries[slot_of(m->min, m->ino)];

	if (!m->ino)
		return -ENODATA;
	if (!same_inode(e, m) || e->known == BUILDID_OUT_OF_REACH)
		return -EAGAIN;
	/* An inode that was freed and used again changed when it was used again. */
	if ((e->numbered && !m->ino_generation) || m->mapped_ns < e->changed_ns ||
	    (m->mapped_ns > e->seen_ns && !is_gone(e, m)))
		return -ESTALE;
	if (m->ino_generation)
		e->ino_generation = m->ino_generation;
	return buildid_cache_answer(e, ret);
}

/* This very file, as far as can be told, was looked for in vain a moment ago. */
static bool
missed_just_now(const struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	return same_inode(e, m) && e->known == BUILDID_OUT_OF_REACH &&
		e->ino_generation == m->ino_generation && now_ns - e->seen_ns < AGAIN_NS;
}

/* The file was not found: 0 when what is known of it holds, else why not. */
static int
out_of_reach(struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	if (e->known && e->known != BUILDID_OUT_OF_REACH) {
		/* It is gone, but was this very file when it was last in reach. */
		if (!same_inode(e, m) || !m->ino_generation ||
		    e->ino_generation != m->ino_generation)
			return -ESTALE;
		e->gone_ns = now_ns;
		return 0;
	}
	if (!missed_just_now(e, m, now_ns))
		*e = (struct buildid_fact){ .maj = m->maj,
					    .min = m->min,
					    .ino = m->ino,
					    .ino_generation = m->ino_generation,
					    .known = BUILDID_OUT_OF_REACH,
					    .seen_ns = now_ns };
	if (m->peer)
		e->peers_ns = now_ns;
	else if (now_ns - e->peers_ns < AGAIN_NS)
		return -ENOENT;
	return -ESTALE;
}

static enum mapped_where
where_to_look(const struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	if (missed_just_now(e, m, now_ns))
		return MAPPED_ITS_PROCESS;
	return same_inode(e, m) && e->own_path ? MAPPED_OWN_PATH_FIRST : MAPPED_EVERYWHERE;
}

int
buildid_cache_get(struct buildid_cache *c, const struct buildid_map *m, struct buildid *ret)
{
	struct buildid_fact *e = &c->entries[slot_of(m->min, m->ino)];
	uint64_t now_ns = host_now_ns();
	struct mapped_file f;
	int r = buildid_cache_known(c, m, ret);

	if (r != -EAGAIN && r != -ESTALE)
		return r;
	if (!mapped_file_find(&c->files, m, where_to_look(e, m, now_ns), &f)) {
		r = out_of_reach(e, m, now_ns);
		return r < 0 ? r : buildid_cache_answer(e, ret);
	}
	r = 0;
	if (same_inode(e, m) && unchanged(e, &f.st))
		e->seen_ns = now_ns;
	else
		r = learn(c, m, &f, now_ns, e);
	(void)close(f.fd);
	if (r < 0)
		return r;
	/* What its process has mapped there by now. */
	if (!same_inode(e, m))
		return -ESTALE;
	e->own_path = f.by == 0;
	if (m->ino_generation)
		e->ino_generation = m->ino_generation;
	return buildid_cache_answer(e, ret);
}

static int
read_id_of(int fd, struct buildid *ret)
{
	struct io_source *file = io_source_dup(fd);
	int r;

	if (!file)
		return -errno;
	r = buildid_read(file, ret);
	file->close(file);
	return r < 0 ? -ENODATA : 0;
}

int
buildid_cache_open(struct buildid_cache *c, const struct buildid_map *m, struct buildid_file *ret)
{
	struct buildid_file file = { .fd = -1 };
	struct mapped_file f;
	int r = 0;

	if (!mapped_file_find(&c->files, m, MAPPED_EVERYWHERE, &f))
		return -ESTALE;
	file.fd = mapped_file_open(&c->files, &f);
	if (file.fd < 0)
		r = file.fd;
	else
		r = read_id_of(file.fd, &file.id);
	if (r == 0 && m->known_id.size && buildid_cmp(&file.id, &m->known_id) != 0)
		r = -ESTALE;
	if (r == 0)
		file.ephemeral = mapped_file_ephemeral(&c->files, m, &f);
	(void)close(f.fd);
	if (r < 0 && file.fd >= 0)
		(void)close(file.fd);
	if (r == 0)
		*ret = file;
	return r;
}
