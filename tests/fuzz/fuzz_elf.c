/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an ELF file: headers, build-id, debug link, symbols, MiniDebugInfo, Go's functions, PLT, CFI, USDT. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/elf_minidebug.h"
#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/elf_usdt.h"
#include "symbolizer/resolve/demangle.h"
#include "symbolizer/unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
look_around(const struct symtab *t, const struct elf_segment *segments, size_t nr)
{
	char out[DEMANGLE_OUTPUT_MAX];

	for (uint64_t offset = 0; offset < 65536; offset += 61) {
		struct symbol s;
		uint64_t vaddr;

		if (!elf_segments_vaddr(segments, nr, offset, true, &vaddr))
			vaddr = offset;
		if (!symtab_find(t, vaddr, &s))
			continue;
		if (symbol_name_length(s.name) > SYMBOL_NAME_MAX || s.start > vaddr)
			abort();
		demangle(s.name, offset & 1 ? DEMANGLE_FULL : DEMANGLE_SHORT, out, sizeof(out));
	}
}

static bool
see_probe(void *arg, const struct elf_usdt *probe)
{
	*(size_t *)arg += strlen(probe->provider) + strlen(probe->name);
	return true;
}

static void
compile_all(struct elf_object *o)
{
	struct cfi_function f;
	struct cfi *cfi;
	uint32_t rule;

	if (cfi_open(o, SIZE_MAX, NULL, &cfi) == 0) {
		for (uint64_t vaddr = 0; vaddr < 65536; vaddr += 61) {
			(void)cfi_find(cfi, vaddr, &rule);
			(void)cfi_gap_from(cfi, vaddr);
			(void)cfi_gap_before(cfi, vaddr);
		}
		cfi_free(cfi);
	}
	if (cfi_new(o, NULL, &cfi) != 0)
		return;
	for (size_t i = 0; cfi_function(cfi, i, &f); i++)
		if (cfi_find(cfi, f.start, &rule) == 0)
			abort();
	cfi_free(cfi);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_object *o;
	const struct elf_segment *segments;
	struct symtab_builder *b;
	struct symtab *t = NULL, *stubs = NULL;
	const uint8_t *id;
	struct elf_function function;
	char name[256];
	uint32_t crc;
	size_t nr;

	if (elf_object_open_memory(data, size, &o) != 0)
		return 0;
	nr = elf_object_segments(o, &segments);
	if (elf_object_build_id(o, &id) > ELF_BUILD_ID_MAX)
		abort();
	if (!elf_object_debuglink(o, name, sizeof(name), &crc))
		*name = '\0';
	b = symtab_builder_new();
	if (b == NULL || elf_object_symbols(o, 0, b) != 0 || elf_minidebug_symbols(o, b) != 0 ||
	    elf_gopclntab_symbols(o, b) != 0 || symtab_build(b, &t) != 0)
		abort();
	b = symtab_builder_new();
	if (b == NULL || elf_object_plt(o, t, b) != 0 || symtab_build(b, &stubs) != 0)
		abort();
	look_around(t, segments, nr);
	look_around(stubs, segments, nr);
	symtab_free(t);
	symtab_free(stubs);
	elf_object_function(o, name, &function);
	elf_object_function(o, "main", &function);
	elf_object_symbol(o, name, &function);
	compile_all(o);
	nr = 0;
	elf_usdt_each(o, see_probe, &nr);
	elf_object_close(o);
	return 0;
}
