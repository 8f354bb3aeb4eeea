/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/buildid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sha1.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/elf_field.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

#define HEADERS_MAX 1024 /* program or section headers looked at */
#define HEADERS_AT_ONCE 32
#define NOTE_BYTES_MAX 16384	  /* of one note segment; a build-id is near its front */
#define NOTE_GO_BUILD_ID 4	  /* of the name "Go" (cmd/internal/buildid) */
#define WHOLE_BYTES_MAX (1 << 20) /* a surrogate is made of all bytes of a file */
#define PAGE 4096
#define PAGES 32 /* of a larger file */
#define CHUNK 16384

/* What the ELF header says of one of its two tables. */
struct table {
	uint64_t offset;
	uint32_t entry_bytes, count;
};

struct elf {
	struct io_source *file;
	bool is64;
	uint8_t header[sizeof(Elf64_Ehdr)];
	struct table segments, sections;
	bool has_text;
	struct buildid gnu, go;
};

/* An entry of either table. */
struct part {
	uint64_t type, flags, offset, size, align;
};

struct buildid
buildid_of(enum buildid_kind kind, const void *bytes, size_t size)
{
	struct buildid id = { .kind = (uint8_t)kind };

	if (size == 0 || size > sizeof(id.bytes))
		return (struct buildid){ 0 };
	id.size = (uint8_t)size;
	memcpy(id.bytes, bytes, size);
	return id;
}

int
buildid_cmp(const struct buildid *a, const struct buildid *b)
{
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

bool
buildid_same(const struct buildid *a, const struct buildid *b)
{
	static const uint8_t zeros[BUILDID_MAX];
	const struct buildid *lesser = a->size < b->size ? a : b, *longer = lesser == a ? b : a;
	const size_t size = lesser->size;

	if (size == 0)
		return longer->size == 0;
	return a->kind == b->kind && memcmp(a->bytes, b->bytes, size) == 0 &&
		memcmp(longer->bytes + size, zeros, longer->size - size) == 0;
}

struct buildid
buildid_of_padded(const uint8_t bytes[BUILDID_MAX])
{
	size_t used = BUILDID_MAX;

	while (used > 0 && bytes[used - 1] == 0)
		used--;
	if (used == 0)
		return (struct buildid){ 0 };
	return buildid_of(BUILDID_GNU, bytes, used > 16 ? BUILDID_MAX : used > 8 ? 16 : 8);
}

static struct buildid
surrogate_of(SHA1_CTX *sha)
{
	uint8_t digest[SHA1_DIGEST_LENGTH];

	SHA1Final(digest, sha);
	return buildid_of(BUILDID_SURROGATE, digest, sizeof(digest));
}

static struct buildid
go_surrogate(struct span id)
{
	SHA1_CTX sha;

	SHA1Init(&sha);
	SHA1Update(&sha, id.p, id.len);
	return surrogate_of(&sha);
}

static bool
note_named(struct span name, const char *wanted)
{
	size_t len = strnlen((const char *)name.p, name.len);

	return len == strlen(wanted) && memcmp(name.p, wanted, len) == 0;
}

/* Takes the ids that are not known yet out of notes. */
static void
take_notes(struct span s, size_t align, struct buildid *gnu, struct buildid *go)
{
	uint32_t name_len, desc_len, type;
	struct span name, desc;
	size_t pad;

	if (align != 8)
		align = 4;
	while (span_u32(&s, &name_len) && span_u32(&s, &desc_len) && span_u32(&s, &type)) {
		pad = -(size_t)name_len % 4;
		/* With alignment 8 the name ends where header and name are a multiple of it. */
		if (align == 8)
			pad = -(size_t)(12 + (uint64_t)name_len) % 8;
		if (!span_take(&s, name_len, &name) || !span_skip(&s, pad) ||
		    !span_take(&s, desc_len, &desc))
			return;
		if (gnu->size == 0 && type == NT_GNU_BUILD_ID && name.len == 4 &&
		    note_named(name, "GNU"))
			*gnu = buildid_of(BUILDID_GNU, desc.p, desc.len);
		if (go->size == 0 && type == NOTE_GO_BUILD_ID && desc.len > 0 &&
		    note_named(name, "Go"))
			*go = go_surrogate(desc);
		if (!span_skip(&s, -(size_t)desc_len % align))
			return;
	}
}

struct buildid
buildid_of_notes(const void *notes, size_t len, size_t align)
{
	struct buildid gnu = { 0 }, go = { 0 };

	take_notes(span_of(notes, len), align, &gnu, &go);
	return gnu;
}

/* --- headers ------------------------------------------------------------------------------- */

static int
read_at(const struct elf *e, uint64_t offset, void *to, size_t len, size_t *ret_len)
{
	ssize_t n;

	*ret_len = 0;
	if (offset > (uint64_t)INT64_MAX - len)
		return 0;
	n = e->file->read(e->file, offset, to, len);
	if (n < 0)
		return -FMT_E_IO;
	*ret_len = (size_t)n;
	return 0;
}

#define FIELD(e, h, type, name) ELF_FIELD((e)->is64, h, type, name)

static int
read_header(struct elf *e)
{
	const uint8_t *h = e->header;
	size_t n;
	int r = read_at(e, 0, e->header, sizeof(e->header), &n);

	if (r < 0)
		return r;
	if (n < sizeof(Elf32_Ehdr) || memcmp(h, ELFMAG, SELFMAG) != 0 || h[EI_DATA] != ELFDATA2LSB)
		return -FMT_E_UNSUPPORTED;
	e->is64 = h[EI_CLASS] == ELFCLASS64;
	if ((!e->is64 && h[EI_CLASS] != ELFCLASS32) || (e->is64 && n < sizeof(Elf64_Ehdr)))
		return -FMT_E_UNSUPPORTED;
	e->segments = (struct table){ .offset = FIELD(e, h, Ehdr, e_phoff),
				      .entry_bytes = (uint32_t)FIELD(e, h, Ehdr, e_phentsize),
				      .count = (uint32_t)FIELD(e, h, Ehdr, e_phnum) };
	e->sections = (struct table){ .offset = FIELD(e, h, Ehdr, e_shoff),
				      .entry_bytes = (uint32_t)FIELD(e, h, Ehdr, e_shentsize),
				      .count = (uint32_t)FIELD(e, h, Ehdr, e_shnum) };
	return 0;
}

static struct part
segment(const struct elf *e, const uint8_t *h)
{
	return (struct part){ .type = FIELD(e, h, Phdr, p_type),
			      .flags = FIELD(e, h, Phdr, p_flags),
			      .offset = FIELD(e, h, Phdr, p_offset),
			      .size = FIELD(e, h, Phdr, p_filesz),
			      .align = FIELD(e, h, Phdr, p_align) };
}

static struct part
section(const struct elf *e, const uint8_t *h)
{
	return (struct part){ .type = FIELD(e, h, Shdr, sh_type),
			      .offset = FIELD(e, h, Shdr, sh_offset),
			      .size = FIELD(e, h, Shdr, sh_size),
			      .align = FIELD(e, h, Shdr, sh_addralign) };
}

static size_t
entry_bytes(const struct elf *e, const struct table *t)
{
	if (t == &e->sections)
		return e->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	return e->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

typedef int part_fn(struct elf *e, const uint8_t *entry, void *arg);

/* Calls fn for each entry of a table, to its end or until fn returns other than 0. */
static int
each_entry(struct elf *e, const struct table *t, part_fn *fn, void *arg)
{
	uint8_t chunk[HEADERS_AT_ONCE * sizeof(Elf64_Shdr)];
	uint32_t count = t->count < HEADERS_MAX ? t->count : HEADERS_MAX;
	size_t each = entry_bytes(e, t), want, n;
	int r = 0;

	/* No known file has larger entries than the standard's. */
	if (t->count && t->entry_bytes != each)
		return -FMT_E_CORRUPT;
	for (uint32_t i = 0; r == 0 && i < count; i += HEADERS_AT_ONCE) {
		want = (count - i < HEADERS_AT_ONCE ? count - i : HEADERS_AT_ONCE) * each;
		if (t->offset > UINT64_MAX - i * each)
			return -FMT_E_CORRUPT;
		r = read_at(e, t->offset + i * each, chunk, want, &n);
		for (size_t at = 0; r == 0 && at + each <= n; at += each)
			r = fn(e, chunk + at, arg);
		if (r == 0 && n < want)
			return -FMT_E_CORRUPT;
	}
	return r;
}

/* --- the GNU note -------------------------------------------------------------------------- */

/* 1: the GNU id was found. */
static int
read_notes(struct elf *e, const struct part *p)
{
	uint8_t notes[NOTE_BYTES_MAX];
	size_t len;
	int r = read_at(e, p->offset, notes,
			p->size < sizeof(notes) ? (size_t)p->size : sizeof(notes), &len);

	if (r < 0)
		return r;
	take_notes(span_of(notes, len), p->align == 8 ? 8 : 4, &e->gnu, &e->go);
	return e->gnu.size > 0;
}

static int
look_at_segment(struct elf *e, const uint8_t *entry, void *arg)
{
	struct part p = segment(e, entry);

	(void)arg;
	e->has_text |= p.type == PT_LOAD && p.flags & PF_X && p.size > 0;
	return p.type == PT_NOTE ? read_notes(e, &p) : 0;
}

static int
look_at_section(struct elf *e, const uint8_t *entry, void *arg)
{
	struct part p = section(e, entry);

	(void)arg;
	return p.type == SHT_NOTE ? read_notes(e, &p) : 0;
}

/* --- surrogates ---------------------------------------------------------------------------- */

static int
hash_at(const struct elf *e, SHA1_CTX *sha, uint64_t offset, size_t len)
{
	uint8_t chunk[CHUNK];
	size_t n;
	int r;

	for (; len > 0; offset += n, len -= n) {
		r = read_at(e, offset, chunk, len < CHUNK ? len : CHUNK, &n);
		if (r < 0)
			return r;
		if (n == 0)
			break;
		SHA1Update(sha, chunk, n);
	}
	return 0;
}

static int
hash_segment(struct elf *e, const uint8_t *entry, void *arg)
{
	struct part p = segment(e, entry);
	SHA1_CTX *sha = arg;

	SHA1Update(sha, entry, entry_bytes(e, &e->segments));
	if (p.type != PT_LOAD || !(p.flags & PF_X))
		return 0;
	return hash_at(e, sha, p.offset, p.size < PAGE ? (size_t)p.size : PAGE);
}

/* Of a large file its headers, the beginnings of its text, and pages here and there. */
static int
hash_parts(struct elf *e, SHA1_CTX *sha, uint64_t size)
{
	int r = each_entry(e, &e->segments, hash_segment, sha);

	for (uint64_t i = 0; r == 0 && i < PAGES; i++)
		r = hash_at(e, sha, (size - PAGE) / (PAGES - 1) * i / PAGE * PAGE, PAGE);
	return r;
}

/*
 * Nearly all files that have no build-id are small: their every byte counts. A large one that was
 * built anew differs in headers and sizes, and nearly everywhere, since jumps hold distances.
 */
static int
make_surrogate(struct elf *e, struct buildid *ret)
{
	int64_t size = e->file->size(e->file);
	uint8_t word[8];
	SHA1_CTX sha;
	int r;

	if (size < 0)
		return -FMT_E_IO;
	if (!e->has_text)
		return -FMT_E_CORRUPT;
	SHA1Init(&sha);
	le64enc(word, (uint64_t)size);
	SHA1Update(&sha, word, sizeof(word));
	r = size <= WHOLE_BYTES_MAX ? hash_at(e, &sha, 0, (size_t)size)
				    : hash_parts(e, &sha, (uint64_t)size);
	if (r < 0)
		return r;
	*ret = surrogate_of(&sha);
	return 0;
}

int
buildid_of_notes_file(const char *path, struct buildid *ret)
{
	int fd = io_open(AT_FDCWD, path, 0);
	uint8_t notes[NOTE_BYTES_MAX];
	struct buildid id;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = io_read(fd, notes, sizeof(notes));
	(void)close(fd);
	if (n < 0)
		return (int)n;
	id = buildid_of_notes(notes, (size_t)n, 4);
	if (!id.size)
		return -ENODATA;
	*ret = id;
	return 0;
}

int
buildid_read(struct io_source *file, struct buildid *ret)
{
	struct elf e = { .file = file };
	int r = read_header(&e);

	if (r == 0)
		r = each_entry(&e, &e.segments, look_at_segment, NULL);
	if (r == 0 || r == -FMT_E_CORRUPT)
		r = each_entry(&e, &e.sections, look_at_section, NULL);
	if (r == -FMT_E_IO || r == -FMT_E_UNSUPPORTED)
		return r;
	if (e.gnu.size || e.go.size) {
		*ret = e.gnu.size ? e.gnu : e.go;
		return 0;
	}
	return make_surrogate(&e, ret);
}
