/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/cfi_entry.h"

#include "symbolizer/object/dwarf_pointer.h"
#include "symbolizer/object/leb128.h"

#define LONG_LENGTH UINT32_MAX /* 64-bit DWARF: the length follows */
/* A CIE is read again for each FDE that follows one of another: its letters and numbers may be of any length. */
#define CIE_BYTES_MAX (2 * CFI_INITIAL_BYTES_MAX)

static bool
from_offset(const struct cfi_section *s, size_t offset, struct span *ret)
{
	*ret = s->bytes;
	return offset >= s->base && span_skip(ret, offset - s->base);
}

/* Length and id. 1; 0: the rest is damaged; -1: a terminator. */
static int
entry_head(const struct cfi_section *s, struct span *rest, struct cfi_entry *e)
{
	uint32_t length32, id32;
	uint64_t length, id, here;
	bool is64;

	if (!span_u32(rest, &length32))
		return 0;
	if (length32 == 0)
		return -1;
	is64 = length32 == LONG_LENGTH;
	length = length32;
	if ((is64 && !span_u64(rest, &length)) || length > rest->len ||
	    !span_take(rest, (size_t)length, &e->body))
		return 0;
	here = s->base + (uint64_t)(e->body.p - s->bytes.p);
	/* In .eh_frame the id has 4 bytes, whatever the length has. */
	if (is64 && !s->is_eh) {
		if (!span_u64(&e->body, &id))
			return -1;
		e->is_cie = id == UINT64_MAX;
	} else {
		if (!span_u32(&e->body, &id32))
			return -1;
		id = id32;
		e->is_cie = s->is_eh ? id == 0 : id32 == UINT32_MAX;
	}
	/* Counted back from the id itself, or from the section's beginning. */
	e->cie = (size_t)(s->is_eh ? here - id : id);
	return 1;
}

int
cfi_entry_next(const struct cfi_section *s, size_t *offset, struct cfi_entry *ret)
{
	const size_t end = s->base + s->bytes.len;
	struct span rest;
	int found;

	if (!from_offset(s, *offset, &rest))
		return 0;
	do {
		ret->offset = end - rest.len;
		found = entry_head(s, &rest, ret);
	} while (found < 0 && !s->open);
	*offset = end - rest.len;
	return found > 0;
}

/* An encoding of "an address", where that has 4 bytes, is one of 4 bytes. */
static uint8_t
by_word(const struct cfi_section *s, uint8_t encoding)
{
	const bool is_address = encoding != DWARF_OMIT &&
		(encoding & DWARF_FORMAT_BITS) == DWARF_ABSPTR;

	return is_address && s->narrow ? encoding | DWARF_UDATA4 : encoding;
}

/* The bytes that the letters of an augmentation string stand for. */
static bool
augmentation(const struct cfi_section *section, struct span *s, const char *letters,
	     struct cfi_cie *cie)
{
	struct span data;
	uint64_t size;
	uint8_t byte;

	if (*letters == '\0')
		return true;
	/* Without a size only "S" and "B" have no data; what others have nobody can pass over. */
	cie->sized = *letters == 'z';
	if (!cie->sized)
		data = span_of(NULL, 0);
	else if (!span_uleb(s, &size) || size > s->len || !span_take(s, (size_t)size, &data))
		return false;
	for (letters += cie->sized; *letters; letters++)
		switch (*letters) {
		case 'R':
			if (!span_u8(&data, &byte))
				return false;
			cie->encoding = by_word(section, byte);
			break;
		case 'L':
			if (!span_u8(&data, &byte))
				return false;
			break;
		case 'P': {
			uint64_t ignored;

			/* Where the routine is does not matter, only how long that is. */
			if (!span_u8(&data, &byte))
				return false;
			byte = by_word(section, byte);
			if (byte != DWARF_OMIT &&
			    !dwarf_pointer(&data, byte & DWARF_FORMAT_BITS, 0, 0, &ignored))
				return false;
			break;
		}
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* aarch64: signed with the other key */
		case 'G': /* aarch64: memory tags */
			break;
		default:
			/* The rest of the data is of unknown shape, but its size is known. */
			return cie->sized;
		}
	return true;
}

bool
cfi_entry_cie(const struct cfi_section *s, size_t offset, struct cfi_cie *ret)
{
	struct cfi_cie cie = { .offset = offset, .encoding = by_word(s, DWARF_ABSPTR) };
	struct cfi_entry e;
	const char *letters;
	uint8_t version, byte;
	struct span b;

	if (!from_offset(s, offset, &b) || entry_head(s, &b, &e) <= 0 || !e.is_cie)
		return false;
	b = e.body;
	if (b.len > CIE_BYTES_MAX || !span_u8(&b, &version) ||
	    (version != 1 && version != 3 && version != 4) || !span_string(&b, &letters))
		return false;
	/* Size of an address, and of a segment selector. */
	if (version == 4 &&
	    (!span_u8(&b, &byte) || byte != (s->narrow ? 4 : 8) || !span_u8(&b, &byte) ||
	     byte != 0))
		return false;
	if (!span_uleb(&b, &cie.code_align) || !span_sleb(&b, &cie.data_align))
		return false;
	if (version == 1 ? !span_u8(&b, &byte) : !span_uleb(&b, &cie.ra))
		return false;
	if (version == 1)
		cie.ra = byte;
	if (!augmentation(s, &b, letters, &cie) || b.len > CFI_INITIAL_BYTES_MAX)
		return false;
	cie.instructions = b;
	*ret = cie;
	return true;
}

bool
cfi_entry_fde(const struct cfi_section *s, const struct cfi_entry *entry, const struct cfi_cie *cie,
	      struct cfi_fde *ret)
{
	struct span b = entry->body;
	uint64_t size;

	if (!dwarf_pointer(&b, cie->encoding, cfi_section_address(s, b.p), 0, &ret->start) ||
	    !dwarf_pointer(&b, cie->encoding & DWARF_FORMAT_BITS, 0, 0, &ret->length))
		return false;
	if (cie->sized && (!span_uleb(&b, &size) || size > b.len || !span_skip(&b, (size_t)size)))
		return false;
	ret->instructions = b;
	return true;
}

int
cfi_entry_each(const struct cfi_section *s, cfi_entry_take_fn *take, void *arg)
{
	struct cfi_cie cie = { .offset = 0 };
	struct cfi_entry entry;
	size_t offset = s->base;
	bool has_cie = false;
	int err = 0;

	while (err == 0 && cfi_entry_next(s, &offset, &entry) > 0) {
		struct cfi_fde f;

		if (entry.is_cie)
			continue;
		if (!has_cie || entry.cie != cie.offset)
			has_cie = cfi_entry_cie(s, entry.cie, &cie);
		if (!has_cie)
			continue;
		if (!cfi_entry_fde(s, &entry, &cie, &f) || f.length == 0 || f.length > UINT32_MAX)
			continue;
		f.start += s->shift;
		err = take(arg, &entry, &cie, &f);
	}
	return err;
}
