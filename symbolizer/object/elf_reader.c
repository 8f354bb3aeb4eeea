/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"

struct elf_reader {
	int fd;
	struct elf_budget *budget;
	size_t nr;
	struct elf_segment segments[];
};

int
elf_reader_open(const struct elf_object *o, struct elf_budget *budget, struct elf_reader **ret)
{
	const struct elf_segment *segments;
	const size_t nr = elf_object_segments(o, &segments);
	struct elf_reader *r = malloc(sizeof(*r) + nr * sizeof(*segments));

	if (!r)
		return -FMT_E_NOMEM;
	r->nr = nr;
	r->budget = budget;
	for (size_t i = 0; i < nr; i++) {
		struct elf_segment *s = &r->segments[i];

		*s = segments[i];
		/* So that no sum of both wraps. */
		if (s->filesz > UINT64_MAX - s->vaddr)
			s->filesz = UINT64_MAX - s->vaddr;
	}
	r->fd = elf_object_dup(o);
	if (r->fd < 0) {
		free(r);
		return -FMT_E_IO;
	}
	*ret = r;
	return 0;
}

void
elf_reader_close(struct elf_reader *r)
{
	if (!r)
		return;
	(void)close(r->fd);
	free(r);
}

size_t
elf_reader_bytes(const struct elf_reader *r)
{
	return sizeof(*r) + r->nr * sizeof(*r->segments);
}

static const struct elf_segment *
segment_of(const struct elf_reader *r, uint64_t vaddr, bool exec)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct elf_segment *s = &r->segments[i];

		if ((s->exec || !exec) && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s;
	}
	return NULL;
}

static bool
budget_has(struct elf_budget *b, size_t size)
{
	const uint64_t bytes = size < ELF_BUDGET_LEAST ? ELF_BUDGET_LEAST : size;

	if (!b)
		return true;
	if (bytes > b->left) {
		b->refused = true;
		return false;
	}
	b->left -= bytes;
	return true;
}

int
elf_reader_read(const struct elf_reader *r, uint64_t vaddr, void *to, size_t size, size_t *ret)
{
	const struct elf_segment *s = segment_of(r, vaddr, false);
	size_t got = 0;

	*ret = 0;
	if (!s)
		return 0;
	if (size > s->filesz - (vaddr - s->vaddr))
		size = (size_t)(s->filesz - (vaddr - s->vaddr));
	if (!budget_has(r->budget, size))
		return -FMT_E_NOMEM;
	while (got < size) {
		const ssize_t n = pread(r->fd, (char *)to + got, size - got,
					(off_t)(s->offset + (vaddr - s->vaddr) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*ret = got;
	return 0;
}

bool
elf_reader_code(const struct elf_reader *r, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct elf_segment *s = segment_of(r, vaddr, true);

	if (!s)
		return false;
	*ret_start = s->vaddr;
	*ret_end = s->vaddr + s->filesz;
	return true;
}

int
elf_reader_object(const struct elf_reader *r, struct elf_object **ret)
{
	const int fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -FMT_E_IO : elf_object_open(fd, ret);
}
