/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_internal.h"

#define NOTES_MAX (64u << 10)	 /* bytes of a section or segment */
#define ALL_NOTES_MAX (1u << 20) /* of all of them, which may lie over each other */
/*
 * Tables are read for symbols and for stubs; a whole file is little beside its debug information.
 */
#define READS_OF_A_BYTE 4
#define NAMES_MAX (16u << 20) /* bytes of the names of all sections */

/* Reads exactly len bytes; a file that got shorter is -FMT_E_TRUNCATED. */
static int
read_at(struct io_source *file, uint64_t offset, void *out, size_t len)
{
	ssize_t n = file->read(file, offset, out, len);

	if (n < 0)
		return -FMT_E_IO;
	return (size_t)n < len ? -FMT_E_TRUNCATED : 0;
}

/* Where the header says the section table is, and how many entries. */
struct table {
	uint64_t offset, count, entry_size;
};

static int
extended_count(struct io_source *file, bool is64, struct table *t)
{
	uint8_t head[sizeof(Elf64_Shdr)] = { 0 };
	int error = read_at(file, t->offset, head, t->entry_size);

	t->count = is64 ? le64dec(head + offsetof(Elf64_Shdr, sh_size))
			: le32dec(head + offsetof(Elf32_Shdr, sh_size));
	return error;
}

/*
 * What libelf would believe is looked at first: it allocates for as many sections as the
 * header claims, and a claim of 16 million costs gigabytes.
 */
static int
check_header(struct io_source *file, uint64_t file_size)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };
	struct table t = { 0 };
	bool is64;
	int error;

	if (file_size < sizeof(Elf32_Ehdr))
		return file_size == 0 ? -FMT_E_EMPTY : -FMT_E_TRUNCATED;
	error = read_at(file, 0, head, file_size < sizeof(head) ? file_size : sizeof(head));
	if (error)
		return error;
	if (memcmp(head, ELFMAG, SELFMAG) != 0)
		return -FMT_E_CORRUPT;
	if (head[EI_DATA] != ELFDATA2LSB)
		return -FMT_E_UNSUPPORTED;
	if (head[EI_CLASS] != ELFCLASS64 && head[EI_CLASS] != ELFCLASS32)
		return -FMT_E_CORRUPT;
	is64 = head[EI_CLASS] == ELFCLASS64;
	if (is64 && file_size < sizeof(Elf64_Ehdr))
		return -FMT_E_TRUNCATED;
	/* Then the number is in a section header and has 32 bits, and libelf reads them all at once. */
	if (le16dec(head +
		    (is64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum))) ==
	    PN_XNUM)
		return -FMT_E_TOO_BIG;
	t.offset = is64 ? le64dec(head + offsetof(Elf64_Ehdr, e_shoff))
			: le32dec(head + offsetof(Elf32_Ehdr, e_shoff));
	t.count = le16dec(head +
			  (is64 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum)));
	t.entry_size = is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (t.offset == 0)
		return t.count == 0 ? 0 : -FMT_E_CORRUPT;
	if (t.offset > file_size || file_size - t.offset < t.entry_size)
		return -FMT_E_TRUNCATED;
	if (t.count == 0)
		error = extended_count(file, is64, &t);
	if (error)
		return error;
	if (t.count > ELF_SECTIONS_MAX)
		return -FMT_E_TOO_BIG;
	return t.count > (file_size - t.offset) / t.entry_size ? -FMT_E_TRUNCATED : 0;
}

bool
elf_section(const struct elf_object *o, size_t i, Elf_Scn **ret, GElf_Shdr *ret_shdr)
{
	Elf_Scn *scn = i < o->nr_sections ? elf_getscn(o->elf, i) : NULL;

	if (scn == NULL || gelf_getshdr(scn, ret_shdr) == NULL)
		return false;
	*ret = scn;
	return true;
}

const char *
elf_section_name(const struct elf_object *o, const GElf_Shdr *shdr)
{
	const char *name = NULL;

	if (o->names_section != SHN_UNDEF)
		name = elf_strptr(o->elf, o->names_section, shdr->sh_name);
	return name ? name : "";
}

bool
elf_share_take(struct elf_object *o, uint64_t n)
{
	if (!o->share)
		return true;
	if (n > o->share->left) {
		o->share->refused = true;
		return false;
	}
	o->share->left -= n;
	return true;
}

Elf_Data *
elf_section_data(struct elf_object *o, Elf_Scn *scn, const GElf_Shdr *shdr, bool cooked)
{
	Elf_Data *d;

	if (shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED) ||
	    shdr->sh_size > ELF_TABLE_MAX || shdr->sh_size > o->data_left ||
	    !elf_share_take(o, shdr->sh_size))
		return NULL;
	o->data_left -= shdr->sh_size;
	d = cooked ? elf_getdata(scn, NULL) : elf_rawdata(scn, NULL);
	return d != NULL && d->d_buf != NULL && d->d_size != 0 ? d : NULL;
}

bool
elf_note_next(struct span *notes, struct elf_note *ret)
{
	uint64_t name_room, desc_room;
	uint32_t name_size, desc_size;

	if (!span_u32(notes, &name_size) || !span_u32(notes, &desc_size) ||
	    !span_u32(notes, &ret->type))
		return false;
	/* Both are padded to 4; the last one's padding may be missing. */
	name_room = ((uint64_t)name_size + 3) & ~(uint64_t)3;
	desc_room = ((uint64_t)desc_size + 3) & ~(uint64_t)3;
	if (!span_take(notes, name_room, &ret->name))
		return false;
	if (desc_room > notes->len)
		desc_room = desc_size;
	if (!span_take(notes, desc_room, &ret->desc))
		return false;
	ret->name.len = name_size;
	ret->desc.len = desc_size;
	return true;
}

static void
notes(struct elf_object *o, uint64_t offset, uint64_t size)
{
	struct elf_note note;
	uint8_t *bytes;
	struct span s;

	if (o->build_id_size != 0 || offset > o->file_size || size > o->file_size - offset)
		return;
	if (size > NOTES_MAX)
		size = NOTES_MAX;
	if (size > o->notes_left)
		return;
	o->notes_left -= size;
	bytes = malloc(size ? size : 1);
	if (bytes == NULL)
		return;
	/* What was not read is not looked at. */
	s = read_at(o->file, offset, bytes, size) == 0 ? span_of(bytes, size) : span_of(NULL, 0);
	while (elf_note_next(&s, &note)) {
		if (note.type != NT_GNU_BUILD_ID || note.name.len != 4 ||
		    memcmp(note.name.p, "GNU", 4) != 0)
			continue;
		if (note.desc.len == 0 || note.desc.len > ELF_BUILD_ID_MAX)
			continue;
		memcpy(o->build_id, note.desc.p, note.desc.len);
		o->build_id_size = note.desc.len;
		break;
	}
	free(bytes);
}

/* Sections first: the program headers of a .debug file point at what is no longer there. */
static void
read_build_id(struct elf_object *o, size_t nr_phdrs)
{
	Elf_Scn *scn;
	GElf_Shdr shdr;
	GElf_Phdr phdr;

	for (size_t i = 1; i < o->nr_sections; i++)
		if (elf_section(o, i, &scn, &shdr) && shdr.sh_type == SHT_NOTE &&
		    (shdr.sh_flags & SHF_ALLOC))
			notes(o, shdr.sh_offset, shdr.sh_size);
	for (size_t i = 0; i < nr_phdrs; i++)
		if (gelf_getphdr(o->elf, (int)i, &phdr) != NULL && phdr.p_type == PT_NOTE)
			notes(o, phdr.p_offset, phdr.p_filesz);
}

/*
 * elf_strptr() reads all of them, and unpacks them, whatever size they claim. When the last one has no end it looks
 * through all behind the one asked for, each time.
 */
static bool
names_good(const struct elf_object *o)
{
	uint8_t last = 0;
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (!elf_section(o, o->names_section, &scn, &shdr) || shdr.sh_size > NAMES_MAX ||
	    (shdr.sh_flags & SHF_COMPRESSED))
		return false;
	return shdr.sh_size == 0 || shdr.sh_offset > o->file_size ||
		(read_at(o->file, shdr.sh_offset + shdr.sh_size - 1, &last, 1) == 0 && last == 0);
}

static int
read_headers(struct elf_object *o)
{
	GElf_Ehdr ehdr;
	size_t nr_phdrs = 0;
	size_t nr_loaded = 0;

	if (elf_kind(o->elf) != ELF_K_ELF || gelf_getehdr(o->elf, &ehdr) == NULL)
		return -FMT_E_CORRUPT;
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)
		return -FMT_E_UNSUPPORTED;
	o->machine = ehdr.e_machine;
	o->entry = ehdr.e_entry;
	o->fixed = ehdr.e_type == ET_EXEC;
	if (elf_getshdrnum(o->elf, &o->nr_sections) != 0)
		o->nr_sections = 0;
	if (elf_getshdrstrndx(o->elf, &o->names_section) != 0 || !names_good(o))
		o->names_section = SHN_UNDEF;
	if (ehdr.e_phnum != 0 && elf_getphdrnum(o->elf, &nr_phdrs) != 0)
		return -FMT_E_TRUNCATED;
	for (size_t i = 0; i < nr_phdrs && nr_loaded < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(o->elf, (int)i, &phdr) == NULL)
			return -FMT_E_TRUNCATED;
		if (phdr.p_type != PT_LOAD)
			continue;
		o->segments[nr_loaded++] = (struct elf_segment){
			.offset = phdr.p_offset,
			.vaddr = phdr.p_vaddr,
			.filesz = phdr.p_filesz,
			.memsz = phdr.p_memsz,
			.exec = phdr.p_flags & PF_X,
		};
	}
	o->nr_segments = nr_loaded;
	read_build_id(o, nr_phdrs);
	return 0;
}

int
elf_object_open(int fd, struct elf_object **ret)
{
	struct elf_object *o;
	struct stat st;
	int error = 0;

	if (fstat(fd, &st) != 0)
		error = -FMT_E_IO;
	else if (!S_ISREG(st.st_mode))
		error = -FMT_E_UNSUPPORTED;
	o = error ? NULL : calloc(1, sizeof(*o));
	if (o == NULL) {
		close(fd);
		return error ? error : -FMT_E_NOMEM;
	}
	o->fd = fd;
	o->file = io_source_fd(fd);
	error = o->file != NULL ? check_header(o->file, (uint64_t)st.st_size) : -FMT_E_NOMEM;
	if (error)
		goto fail;
	o->file_size = (uint64_t)st.st_size;
	o->bytes_max = ELF_BYTES_MAX;
	o->notes_left = ALL_NOTES_MAX;
	o->data_left = READS_OF_A_BYTE * o->file_size;
	elf_version(EV_CURRENT);
	/* ELF_C_READ and not _MMAP, which would map the file. */
	errno = 0;
	o->elf = elf_begin(fd, ELF_C_READ, NULL);
	error = o->elf != NULL ? read_headers(o) : -FMT_E_CORRUPT;
	if (errno ==
	    ENOMEM) /* libelf has no public number for it; a section without its name is lost */
		error = -FMT_E_NOMEM;
	if (error)
		goto fail;
	*ret = o;
	return 0;
fail:
	elf_object_close(o);
	return error;
}

int
elf_object_open_memory(const void *image, size_t size, struct elf_object **ret)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	const char *p = image;

	if (fd < 0)
		return -FMT_E_IO;
	while (size != 0) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -FMT_E_IO;
		}
		p += n;
		size -= (size_t)n;
	}
	return elf_object_open(fd, ret);
}

void
elf_object_close(struct elf_object *o)
{
	if (o == NULL)
		return;
	elf_end(o->elf);
	if (o->file != NULL)
		o->file->close(o->file);
	free(o->emptied.v);
	free(o);
}

size_t
elf_object_build_id(const struct elf_object *o, const uint8_t **ret_id)
{
	*ret_id = o->build_id;
	return o->build_id_size;
}

int
elf_object_recorded_id(const struct elf_object *o, struct buildid *ret)
{
	return buildid_read(o->file, ret);
}

uint16_t
elf_object_code_machine(const struct elf_object *o, bool *ret_is64)
{
	*ret_is64 = gelf_getclass(o->elf) == ELFCLASS64;
	return o->machine;
}

bool
elf_object_fixed(const struct elf_object *o)
{
	return o->fixed;
}

uint64_t
elf_object_entry(const struct elf_object *o)
{
	return o->entry;
}

size_t
elf_object_segments(const struct elf_object *o, const struct elf_segment **ret)
{
	*ret = o->segments;
	return o->nr_segments;
}

bool
elf_segments_vaddr(const struct elf_segment *segments, size_t nr, uint64_t file_offset, bool exec,
		   uint64_t *ret_vaddr)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct elf_segment *s = &segments[i];

		if (file_offset < s->offset || file_offset - s->offset >= s->filesz)
			continue;
		if (found == NULL || (exec && s->exec && !found->exec))
			found = s;
	}
	if (found == NULL)
		return false;
	*ret_vaddr = file_offset - found->offset + found->vaddr;
	return true;
}

bool
elf_segments_offset(const struct elf_segment *segments, size_t nr, uint64_t vaddr, bool exec,
		    uint64_t *ret_offset)
{
	for (size_t i = 0; i < nr; i++) {
		const struct elf_segment *s = &segments[i];

		if ((exec && !s->exec) || vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz)
			continue;
		*ret_offset = s->offset + (vaddr - s->vaddr);
		return true;
	}
	return false;
}

/* The bytes of the section with this name; false: there is none. */
static bool
section_bytes(struct elf_object *o, const char *name, struct span *ret)
{
	Elf_Scn *scn;
	GElf_Shdr shdr;
	Elf_Data *d;

	for (size_t i = 1; i < o->nr_sections; i++) {
		if (!elf_section(o, i, &scn, &shdr) ||
		    strcmp(elf_section_name(o, &shdr), name) != 0)
			continue;
		d = elf_section_data(o, scn, &shdr, false);
		if (d == NULL)
			return false;
		*ret = span_of(d->d_buf, d->d_size);
		return true;
	}
	return false;
}

bool
elf_object_debuglink(struct elf_object *o, char *name, size_t cap, uint32_t *ret_crc)
{
	struct span s;
	const char *link;
	size_t len;

	if (!section_bytes(o, ".gnu_debuglink", &s) || !span_string(&s, &link))
		return false;
	len = strlen(link);
	/* The name is followed by zeros up to a multiple of 4. A path is not a name. */
	if (!span_skip(&s, (4 - (len + 1) % 4) % 4) || !span_u32(&s, ret_crc))
		return false;
	if (len == 0 || len >= cap || memchr(link, '/', len) != NULL)
		return false;
	memcpy(name, link, len + 1);
	return true;
}

bool
elf_object_altlink(struct elf_object *o, const char **ret_path, struct span *ret_id)
{
	struct span s;

	if (!section_bytes(o, ".gnu_debugaltlink", &s) || !span_string(&s, ret_path))
		return false;
	*ret_id = s;
	return **ret_path != '\0' && s.len > 0 && s.len <= ELF_BUILD_ID_MAX;
}

bool
elf_object_has_dwarf(const struct elf_object *o)
{
	static const char *const names[] = { ".debug_line", ".debug_info", ".zdebug_line",
					     ".zdebug_info" };
	Elf_Scn *scn;
	GElf_Shdr shdr;

	for (size_t i = 1; i < o->nr_sections; i++) {
		if (!elf_section(o, i, &scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(elf_section_name(o, &shdr), names[k]) == 0)
				return true;
	}
	return false;
}

bool
elf_object_path(const struct elf_object *o, char ret[PATH_MAX])
{
	return elf_object_path_of(o->fd, ret);
}

bool
elf_object_path_of(int fd, char ret[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, PATH_MAX);
	if (n <= 0 || n >= PATH_MAX || ret[0] != '/')
		return false;
	ret[n] = '\0';
	return true;
}

void
elf_object_limit(struct elf_object *o, struct elf_share *share)
{
	o->share = share;
}

bool
elf_object_stat(const struct elf_object *o, struct stat *ret)
{
	return fstat(o->fd, ret) == 0;
}

int
elf_object_dup(const struct elf_object *o)
{
	return fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
}

bool
elf_object_has_symtab(const struct elf_object *o)
{
	Elf_Scn *scn;
	GElf_Shdr shdr;

	for (size_t i = 1; i < o->nr_sections; i++)
		if (elf_section(o, i, &scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	return false;
}
