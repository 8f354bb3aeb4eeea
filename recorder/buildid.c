/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/buildid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "format/span.h"

#define HEADERS_MAX 1024 /* program or section headers looked at */
#define HEADERS_AT_ONCE 32
#define NOTE_BYTES_MAX 16384 /* of one note segment; a build-id is near its front */
#define VDSO_BYTES 4096	     /* its first page has its notes */

/* Where an ELF file is read from: a descriptor, or memory. */
struct source {
	int fd;
	const uint8_t *image;
	size_t len;
};

/* What the ELF header says of one of its two tables. */
struct table {
	uint64_t offset;
	uint32_t entry_bytes, count;
};

struct elf {
	struct source src;
	bool is64;
	struct table segments, sections;
};

/* Reads up to len bytes; the number that was there, 0 at the end. -errno. */
static ssize_t
source_read(const struct source *src, uint64_t offset, void *to, size_t len)
{
	size_t have = 0;
	ssize_t n;

	if (src->image) {
		if (offset >= src->len)
			return 0;
		if (len > src->len - offset)
			len = src->len - (size_t)offset;
		memcpy(to, src->image + offset, len);
		return (ssize_t)len;
	}
	if (offset > INT64_MAX - len)
		return 0;
	while (have < len) {
		n = pread(src->fd, (char *)to + have, len - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

int
buildid_parse_notes(const void *notes, size_t len, size_t align, struct buildid *ret)
{
	struct span s = span_of(notes, len), name, desc;
	uint32_t name_len, desc_len, type;
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
			return -ENODATA;
		if (type == NT_GNU_BUILD_ID && name.len == 4 && memcmp(name.p, "GNU", 4) == 0 &&
		    desc.len > 0 && desc.len <= BUILDID_MAX) {
			*ret = (struct buildid){ .size = (uint8_t)desc.len };
			memcpy(ret->bytes, desc.p, desc.len);
			return 0;
		}
		if (!span_skip(&s, -(size_t)desc_len % align))
			break;
	}
	return -ENODATA;
}

static int
elf_header(struct elf *e)
{
	uint8_t h[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = source_read(&e->src, 0, h, sizeof(h));

	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof(Elf32_Ehdr) || memcmp(h, ELFMAG, SELFMAG) != 0 ||
	    h[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	if (h[EI_CLASS] == ELFCLASS32) {
		e->segments.offset = le32dec(h + offsetof(Elf32_Ehdr, e_phoff));
		e->segments.entry_bytes = le16dec(h + offsetof(Elf32_Ehdr, e_phentsize));
		e->segments.count = le16dec(h + offsetof(Elf32_Ehdr, e_phnum));
		e->sections.offset = le32dec(h + offsetof(Elf32_Ehdr, e_shoff));
		e->sections.entry_bytes = le16dec(h + offsetof(Elf32_Ehdr, e_shentsize));
		e->sections.count = le16dec(h + offsetof(Elf32_Ehdr, e_shnum));
	} else if (h[EI_CLASS] == ELFCLASS64 && (size_t)n == sizeof(Elf64_Ehdr)) {
		e->is64 = true;
		e->segments.offset = le64dec(h + offsetof(Elf64_Ehdr, e_phoff));
		e->segments.entry_bytes = le16dec(h + offsetof(Elf64_Ehdr, e_phentsize));
		e->segments.count = le16dec(h + offsetof(Elf64_Ehdr, e_phnum));
		e->sections.offset = le64dec(h + offsetof(Elf64_Ehdr, e_shoff));
		e->sections.entry_bytes = le16dec(h + offsetof(Elf64_Ehdr, e_shentsize));
		e->sections.count = le16dec(h + offsetof(Elf64_Ehdr, e_shnum));
	} else {
		return -ENOEXEC;
	}
	return 0;
}

/* Where a note segment or section lies; false: h is the header of something else. */
static bool
segment_note(const struct elf *e, const uint8_t *h, uint64_t *offset, uint64_t *size,
	     uint64_t *align)
{
	if (le32dec(h) != PT_NOTE)
		return false;
	if (e->is64) {
		*offset = le64dec(h + offsetof(Elf64_Phdr, p_offset));
		*size = le64dec(h + offsetof(Elf64_Phdr, p_filesz));
		*align = le64dec(h + offsetof(Elf64_Phdr, p_align));
	} else {
		*offset = le32dec(h + offsetof(Elf32_Phdr, p_offset));
		*size = le32dec(h + offsetof(Elf32_Phdr, p_filesz));
		*align = le32dec(h + offsetof(Elf32_Phdr, p_align));
	}
	return true;
}

static bool
section_note(const struct elf *e, const uint8_t *h, uint64_t *offset, uint64_t *size,
	     uint64_t *align)
{
	if (le32dec(h + offsetof(Elf64_Shdr, sh_type)) != SHT_NOTE)
		return false;
	if (e->is64) {
		*offset = le64dec(h + offsetof(Elf64_Shdr, sh_offset));
		*size = le64dec(h + offsetof(Elf64_Shdr, sh_size));
		*align = le64dec(h + offsetof(Elf64_Shdr, sh_addralign));
	} else {
		*offset = le32dec(h + offsetof(Elf32_Shdr, sh_offset));
		*size = le32dec(h + offsetof(Elf32_Shdr, sh_size));
		*align = le32dec(h + offsetof(Elf32_Shdr, sh_addralign));
	}
	return true;
}

static int
note_read(const struct elf *e, uint64_t offset, uint64_t size, uint64_t align, struct buildid *ret)
{
	uint8_t notes[NOTE_BYTES_MAX];
	ssize_t n;

	n = source_read(&e->src, offset, notes,
			size < sizeof(notes) ? (size_t)size : sizeof(notes));
	if (n < 0)
		return (int)n;
	return buildid_parse_notes(notes, (size_t)n, align == 8 ? 8 : 4, ret);
}

/* Looks through one table for notes. */
static int
table_search(const struct elf *e, const struct table *t, bool sections, struct buildid *ret)
{
	size_t min = sections ? (e->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))
			      : (e->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	uint8_t chunk[HEADERS_AT_ONCE * sizeof(Elf64_Shdr)];
	uint64_t offset, size, align;
	uint32_t count = t->count < HEADERS_MAX ? t->count : HEADERS_MAX;
	ssize_t n;
	int rc;

	/* No known file has larger entries than the standard's. */
	if (t->count && t->entry_bytes != min)
		return -ENOEXEC;
	for (uint32_t i = 0; i < count; i += HEADERS_AT_ONCE) {
		size_t want = (count - i < HEADERS_AT_ONCE ? count - i : HEADERS_AT_ONCE) * min;

		if (t->offset > UINT64_MAX - i * min)
			return -ENOEXEC;
		n = source_read(&e->src, t->offset + i * min, chunk, want);
		if (n < 0)
			return (int)n;
		for (size_t at = 0; at + min <= (size_t)n; at += min) {
			if (!(sections ? section_note : segment_note)(e, chunk + at, &offset, &size,
								      &align))
				continue;
			rc = note_read(e, offset, size, align, ret);
			if (rc != -ENODATA)
				return rc;
		}
		if ((size_t)n < want)
			return -ENOEXEC;
	}
	return -ENODATA;
}

static int
elf_search(struct elf *e, struct buildid *ret)
{
	int rc, sections;

	rc = elf_header(e);
	if (rc)
		return rc;
	rc = table_search(e, &e->segments, false, ret);
	if (rc != -ENODATA && rc != -ENOEXEC)
		return rc;
	sections = table_search(e, &e->sections, true, ret);
	return sections == -ENODATA ? rc : sections;
}

int
buildid_read_fd(int fd, struct buildid *ret)
{
	struct elf e = { .src = { .fd = fd } };

	return elf_search(&e, ret);
}

int
buildid_read_image(const void *image, size_t len, struct buildid *ret)
{
	struct elf e = { .src = { .fd = -1, .image = image, .len = len } };

	return elf_search(&e, ret);
}

static int
notes_file(const char *path, struct buildid *ret)
{
	struct source src = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	uint8_t notes[NOTE_BYTES_MAX];
	ssize_t n;

	if (src.fd < 0)
		return -errno;
	n = source_read(&src, 0, notes, sizeof(notes));
	(void)close(src.fd);
	return n < 0 ? (int)n : buildid_parse_notes(notes, (size_t)n, 4, ret);
}

int
buildid_kernel(struct buildid *ret)
{
	return notes_file("/sys/kernel/notes", ret);
}

int
buildid_vdso(struct buildid *ret)
{
	const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	return image ? buildid_read_image(image, VDSO_BYTES, ret) : -ENOENT;
}

int
buildid_module(const char *name, struct buildid *ret)
{
	char path[256];

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	return notes_file(path, ret);
}
