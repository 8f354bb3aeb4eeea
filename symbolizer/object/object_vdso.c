/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_vdso.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "format/bytes/fmt_error.h"

#define VDSO_BYTES_MAX (256u << 10)
#define VSYSCALL_ADDRESS UINT64_C(0xffffffffff600000)
#define VSYSCALL_BYTES 4096

int
object_vdso_open(struct elf_object **ret)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	unsigned long start, end;
	char line[PATH_MAX + 128];
	FILE *f;
	int error = -FMT_E_IO;

	if (at == 0)
		return -FMT_E_IO;
	f = fopen("/proc/self/maps", "re");
	if (f == NULL)
		return -FMT_E_IO;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || start != at)
			continue;
		if (end > start && end - start <= VDSO_BYTES_MAX)
			error = elf_object_open_memory((const void *)start, end - start, ret);
		break;
	}
	fclose(f);
	return error;
}

int
object_vsyscall_load(struct object *o)
{
	static const char names[] = "gettimeofday\0time\0getcpu";
	static const uint32_t name_at[] = { 0, 13, 18 };
	struct symtab_builder *b = symtab_builder_new();
	uint32_t base;
	int error = -FMT_E_NOMEM;

	o->segments = calloc(1, sizeof(*o->segments));
	if (b == NULL || o->segments == NULL)
		goto fail;
	o->nr_segments = 1;
	o->segments[0] = (struct elf_segment){
		.vaddr = VSYSCALL_ADDRESS,
		.filesz = VSYSCALL_BYTES,
		.exec = true,
	};
	error = symtab_builder_strings(b, names, sizeof(names), &base);
	for (uint64_t i = 0; i < 3 && !error; i++)
		error = symtab_builder_add(b, VSYSCALL_ADDRESS + i * 0x400, 0x400, 0,
					   base + name_at[i], SYMBOL_GLOBAL);
	if (!error)
		return symtab_build(b, &o->symbols);
fail:
	symtab_builder_free(b);
	return error;
}
