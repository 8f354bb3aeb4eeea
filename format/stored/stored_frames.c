/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_frames.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/stored/stored_window.h"

#define ENTRY_MAX (UINT64_C(1) << 20)
#define CIES_MAX (1u << 20) /* linkers leave one of those that are the same */
#define AUGMENTATION_MAX 8
#define AUGMENTATIONS                                                                              \
	"zRPLSBGeh" /* what the letters of one may be: z, eh of gcc 2, B and G of aarch64 */

/* Encodings of a .eh_frame_hdr, as all linkers make it. */
enum { PTR_PCREL_SDATA4 = 0x1b, COUNT_UDATA4 = 0x03, TABLE_DATAREL_SDATA4 = 0x3b, OMITTED = 0xff };
#define HEADER_BYTES 8 /* version, three encodings, pointer */

struct walk {
	struct stored_window in;
	uint64_t start;
	bool is_eh;
	uint64_t *cies; /* places of those that were met, ascending */
	size_t nr, cap;
};

struct entry {
	uint64_t at, id_at, id, end;
	size_t id_bytes;
};

/* Length and id. 1; 0: a terminator, which ends at ret->end; -1: no entry. */
static int
read_entry(struct walk *w, uint64_t at, struct entry *ret)
{
	const uint8_t *p = stored_window_get(&w->in, at, 4);
	uint64_t length = p ? le32dec(p) : 0;
	bool is64;

	*ret = (struct entry){ .at = at, .id_at = at + 4, .end = at + 4 };
	if (!p)
		return -1;
	if (length == 0)
		return 0;
	is64 = length == UINT32_MAX;
	if (is64) {
		p = stored_window_get(&w->in, at + 4, 8);
		if (!p)
			return -1;
		length = le64dec(p);
		ret->id_at += 8;
	}
	/* In .eh_frame the id has 4 bytes, whatever the length has. */
	ret->id_bytes = is64 && !w->is_eh ? 8 : 4;
	if (length < ret->id_bytes || length > ENTRY_MAX || length > w->in.end - ret->id_at)
		return -1;
	p = stored_window_get(&w->in, ret->id_at, ret->id_bytes);
	if (!p)
		return -1;
	ret->id = elf_field(p, ret->id_bytes);
	ret->end = ret->id_at + length;
	return 1;
}

static bool
is_cie(const struct walk *w, const struct entry *e)
{
	return w->is_eh ? e->id == 0 : e->id == (e->id_bytes == 8 ? UINT64_MAX : UINT32_MAX);
}

/* Version, and an augmentation that there is. */
static bool
cie_fits(struct walk *w, const struct entry *e)
{
	const uint64_t from = e->id_at + e->id_bytes;
	const size_t left = (size_t)(e->end - from);
	const size_t n = left < AUGMENTATION_MAX + 2 ? left : AUGMENTATION_MAX + 2;
	const uint8_t *p = n > 1 ? stored_window_get(&w->in, from, n) : NULL;
	size_t i = 1;

	if (!p || (p[0] != 1 && p[0] != 3 && p[0] != 4))
		return false;
	while (i < n && p[i] && strchr(AUGMENTATIONS, p[i]))
		i++;
	return i < n && p[i] == 0;
}

static int
compare_places(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of .eh_frame the id is counted back from itself, else from the beginning. */
static bool
fde_fits(const struct walk *w, const struct entry *e)
{
	const uint64_t cie = w->is_eh ? e->id_at - e->id : w->start + e->id;

	return w->nr && bsearch(&cie, w->cies, w->nr, sizeof(cie), compare_places);
}

/* 1; 0: it is none; -FMT_E_NOMEM. */
static int
take_entry(struct walk *w, const struct entry *e)
{
	if (!is_cie(w, e))
		return fde_fits(w, e);
	if (w->nr == CIES_MAX || !cie_fits(w, e))
		return 0;
	if (array_reserve(w->cies, w->nr, w->cap, 1) < 0)
		return -FMT_E_NOMEM;
	w->cies[w->nr++] = e->at;
	return 1;
}

int
stored_frames_walk(struct io_source *file, uint64_t at, uint64_t end, enum stored_frames_kind kind,
		   uint64_t *ret_end)
{
	struct walk *w = calloc(1, sizeof(*w));
	uint64_t good = at; /* behind the last terminator */
	struct entry e;
	int r = 1, error;

	*ret_end = at;
	if (!w)
		return -FMT_E_NOMEM;
	w->in.file = file;
	w->in.end = end;
	w->start = at;
	w->is_eh = kind != STORED_DEBUG_FRAME;
	while (r > 0 && at < end) {
		r = read_entry(w, at, &e);
		if (r > 0)
			r = take_entry(w, &e);
		else if (r == 0 && w->nr) {
			good = e.end;
			r = kind == STORED_EH_FRAME;
		} else
			r = 0;
		at = e.end;
	}
	/* One that was told its end need not have a terminator. */
	if (r > 0 && at == end && w->nr && kind != STORED_EH_FRAME_OPEN)
		good = end;
	error = r < 0 ? r : w->in.error;
	if (!error)
		*ret_end = good;
	free(w->cies);
	free(w);
	return error;
}

/* How many entries its table has, each of two words of 4 bytes; all of them lead into segments. False: not so. */
static bool
table_fits(const struct stored_elf *e, struct stored_window *in, uint64_t at, uint64_t header,
	   uint64_t nr)
{
	for (uint64_t i = 0; i < 2 * nr; i++) {
		const uint8_t *p = stored_window_get(in, at + 4 * i, 4);

		if (!p || !stored_elf_spans(e, header + (uint64_t)(int64_t)(int32_t)le32dec(p)))
			return false;
	}
	return true;
}

int
stored_frames_header(const struct stored_elf *e, uint64_t at, uint64_t end, uint64_t *ret_end,
		     uint64_t *ret_frames)
{
	struct stored_window *in = calloc(1, sizeof(*in));
	const uint8_t *p;
	uint8_t count_as, table_as;
	uint64_t vaddr, nr;
	int error;

	*ret_end = at;
	*ret_frames = 0;
	if (!in)
		return -FMT_E_NOMEM;
	in->file = e->file;
	in->end = end;
	p = stored_window_get(in, at, HEADER_BYTES);
	if (p && p[0] == 1 && p[1] == PTR_PCREL_SDATA4 && stored_elf_vaddr(e, at, &vaddr) &&
	    stored_elf_offset(e, vaddr + 4 + (uint64_t)(int64_t)(int32_t)le32dec(p + 4), 4,
			      ret_frames)) {
		count_as = p[2];
		table_as = p[3];
		*ret_end = at + HEADER_BYTES;
		p = stored_window_get(in, at + HEADER_BYTES, 4);
		nr = p ? le32dec(p) : 0;
		if (p && count_as == COUNT_UDATA4 && table_as == TABLE_DATAREL_SDATA4 &&
		    nr <= (end - at) / 8 && table_fits(e, in, at + HEADER_BYTES + 4, vaddr, nr))
			*ret_end = at + HEADER_BYTES + 4 + 8 * nr;
	}
	error = in->error;
	if (error)
		*ret_end = at;
	free(in);
	return error;
}
