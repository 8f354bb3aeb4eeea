/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_dynamic.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_internal.h"

#define TAGS_BYTES_MAX (64u << 10) /* of the dynamic segment; linkers make about thirty tags */

/* What its tags say; 0: nothing. */
struct tags {
	uint64_t symbols, strings, strings_size, hash, gnu_hash;
};

static void
take_tag(struct tags *t, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		t->symbols = value;
		break;
	case DT_STRTAB:
		t->strings = value;
		break;
	case DT_STRSZ:
		t->strings_size = value;
		break;
	case DT_HASH:
		t->hash = value;
		break;
	case DT_GNU_HASH:
		t->gnu_hash = value;
		break;
	}
}

static int
read_tags(struct elf_object *o, bool is64, struct tags *ret)
{
	struct elf_bytes bytes = { .p = NULL };
	size_t nr = 0;
	uint64_t tag, value;
	struct span s;
	int err = -FMT_E_EMPTY;

	*ret = (struct tags){ 0 };
	if (elf_getphdrnum(o->elf, &nr) != 0)
		nr = 0;
	for (size_t i = 0; i < nr && err == -FMT_E_EMPTY; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(o->elf, (int)i, &p) == NULL || p.p_type != PT_DYNAMIC)
			continue;
		err = elf_bytes_at(o, p.p_vaddr,
				   p.p_filesz < TAGS_BYTES_MAX ? p.p_filesz : TAGS_BYTES_MAX,
				   &bytes);
		break;
	}
	if (err)
		return err;
	s = span_of(bytes.p, bytes.len);
	while (span_u32_or_u64(&s, is64, &tag) && span_u32_or_u64(&s, is64, &value) &&
	       tag != DT_NULL)
		take_tag(ret, tag, value);
	free(bytes.p);
	return ret->symbols && ret->strings ? 0 : -FMT_E_EMPTY;
}

/* A word of a table that is read whole; 0 behind its end. */
static uint32_t
word_at(const struct elf_bytes *b, uint64_t i)
{
	return i < b->len / 4 ? le32dec(b->p + i * 4) : 0;
}

/* The last symbol of DT_GNU_HASH: its chains lie one behind the other, and the last word of each is odd. */
static uint64_t
count_by_gnu_hash(const struct elf_bytes *b, bool is64)
{
	const uint64_t buckets = word_at(b, 0), first = word_at(b, 1), words = b->len / 4;
	const uint64_t begin = 4 + (uint64_t)word_at(b, 2) * (is64 ? 2 : 1), end = begin + buckets;
	uint64_t last = 0;

	for (uint64_t i = begin; i < end && i < words; i++)
		if (word_at(b, i) > last)
			last = word_at(b, i);
	/* Nothing is exported: what is before are symbols of others. */
	if (last < first)
		return first;
	for (uint64_t i = end + (last - first); i < words; i++, last++)
		if (word_at(b, i) & 1)
			return last + 1;
	return 0;
}

/* How many symbols there are: only tables of hashes say so; 0: they do not. */
static int
count_symbols(struct elf_object *o, const struct tags *t, bool is64, uint64_t *ret)
{
	struct elf_bytes b = { .p = NULL };
	int err;

	*ret = 0;
	if (t->hash == 0 && t->gnu_hash == 0)
		return 0;
	err = t->hash ? elf_bytes_at(o, t->hash, 8, &b) : elf_bytes_from(o, t->gnu_hash, &b);
	if (err)
		return err;
	*ret = t->hash ? word_at(&b, 1) : count_by_gnu_hash(&b, is64);
	free(b.p);
	return 0;
}

int
elf_dynamic_read(struct elf_object *o, struct elf_dynamic *ret)
{
	const bool is64 = gelf_getclass(o->elf) == ELFCLASS64;
	const size_t each = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct elf_dynamic d = { .is64 = is64 };
	struct tags t;
	uint64_t nr;
	int err = read_tags(o, is64, &t);

	if (!err)
		err = count_symbols(o, &t, is64, &nr);
	if (!err && nr == 0)
		err = -FMT_E_EMPTY;
	if (!err)
		err = elf_bytes_at(o, t.symbols, nr * each, &d.symbols);
	if (!err)
		err = elf_bytes_at(o, t.strings, t.strings_size, &d.strings);
	if (err) {
		elf_dynamic_done(&d);
		return err;
	}
	d.nr = d.symbols.len / each < nr ? d.symbols.len / each : (size_t)nr;
	*ret = d;
	return 0;
}

void
elf_dynamic_done(struct elf_dynamic *d)
{
	free(d->symbols.p);
	free(d->strings.p);
	*d = (struct elf_dynamic){ 0 };
}

void
elf_dynamic_symbol(const struct elf_dynamic *d, size_t i, GElf_Sym *ret)
{
	const uint8_t *p = d->symbols.p + i * (d->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));

	if (d->is64)
		*ret = (GElf_Sym){
			.st_name = le32dec(p + offsetof(Elf64_Sym, st_name)),
			.st_info = p[offsetof(Elf64_Sym, st_info)],
			.st_other = p[offsetof(Elf64_Sym, st_other)],
			.st_shndx = le16dec(p + offsetof(Elf64_Sym, st_shndx)),
			.st_value = le64dec(p + offsetof(Elf64_Sym, st_value)),
			.st_size = le64dec(p + offsetof(Elf64_Sym, st_size)),
		};
	else
		*ret = (GElf_Sym){
			.st_name = le32dec(p + offsetof(Elf32_Sym, st_name)),
			.st_info = p[offsetof(Elf32_Sym, st_info)],
			.st_other = p[offsetof(Elf32_Sym, st_other)],
			.st_shndx = le16dec(p + offsetof(Elf32_Sym, st_shndx)),
			.st_value = le32dec(p + offsetof(Elf32_Sym, st_value)),
			.st_size = le32dec(p + offsetof(Elf32_Sym, st_size)),
		};
}
