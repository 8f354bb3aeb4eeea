/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/symbol_address.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/function_place.h"
#include "symbolizer/object/object_places.h"

/* How far the segment that is mapped from this offset on has been moved. */
static bool
moved_by(const struct elf_object *o, uint64_t start, uint64_t offset, uint64_t *ret)
{
	const uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s);

	for (size_t i = 0; i < nr; i++) {
		if ((s[i].offset & ~in_page) != offset)
			continue;
		*ret = start - (s[i].vaddr & ~in_page);
		return true;
	}
	return false;
}

/* By the first part of the file that is mapped. */
static enum symbol_address_result
move_to(const struct elf_object *o, const char *path, pid_t pid, uint64_t *address)
{
	enum symbol_address_result result = SYMBOL_ADDRESS_NOT_MAPPED;
	char maps[32], *line = NULL;
	size_t cap = 0;
	FILE *f;

	(void)snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	f = fopen(maps, "re");
	if (!f)
		return SYMBOL_ADDRESS_NO_MAPS;
	while (result != SYMBOL_ADDRESS_FOUND && getline(&line, &cap, f) > 0) {
		uint64_t start, offset, by;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", &start, &offset,
			   &at) == 2 &&
		    at && strcmp(line + at, path) == 0 && moved_by(o, start, offset, &by)) {
			*address += by;
			result = SYMBOL_ADDRESS_FOUND;
		}
	}
	free(line);
	(void)fclose(f);
	return result;
}

enum symbol_address_result
symbol_address_find(const char *path, const char *name, pid_t pid, uint64_t *ret_address)
{
	enum symbol_address_result result = SYMBOL_ADDRESS_FOUND;
	struct elf_function f;
	struct elf_object *o;
	struct stat st;
	int fd = object_places_open(path, &st);

	if (fd < 0)
		return SYMBOL_ADDRESS_NO_FILE;
	if (elf_object_open(fd, &o) < 0)
		return SYMBOL_ADDRESS_NO_ELF;
	elf_object_symbol(o, name, &f);
	if (!f.nr)
		function_place_debug(o, path, name, elf_object_symbol, &f);
	if (f.nr != 1)
		result = f.nr ? SYMBOL_ADDRESS_SEVERAL : SYMBOL_ADDRESS_UNKNOWN;
	else if (!elf_object_fixed(o))
		result = pid ? move_to(o, path, pid, &f.vaddr) : SYMBOL_ADDRESS_MOVED;
	if (result == SYMBOL_ADDRESS_FOUND)
		*ret_address = f.vaddr;
	elf_object_close(o);
	return result;
}

enum symbol_address_result
symbol_address_kernel(const char *kallsyms, const char *name, uint64_t *ret_address)
{
	enum symbol_address_result result = SYMBOL_ADDRESS_UNKNOWN;
	FILE *f = fopen(kallsyms, "re");
	uint64_t each_from = 0, each_until = 0;
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return SYMBOL_ADDRESS_NO_FILE;
	while (getline(&line, &cap, f) > 0) {
		uint64_t address;
		int at = 0;

		if (sscanf(line, "%" SCNx64 " %*c %n", &address, &at) != 1 || !at)
			continue;
		line[at + (int)strcspn(line + at, " \t\n")] = '\0';
		if (strcmp(line + at, "__per_cpu_start") == 0)
			each_from = address;
		if (strcmp(line + at, "__per_cpu_end") == 0)
			each_until = address;
		if (strcmp(line + at, name) != 0)
			continue;
		if (result == SYMBOL_ADDRESS_FOUND && address != *ret_address)
			result = SYMBOL_ADDRESS_SEVERAL;
		if (result == SYMBOL_ADDRESS_UNKNOWN)
			result = address ? SYMBOL_ADDRESS_FOUND : SYMBOL_ADDRESS_HIDDEN;
		*ret_address = address;
	}
	/* There are offsets (x86-64 before Linux 6.15), the first of which is 0, or the template: no CPU's own. */
	if (result != SYMBOL_ADDRESS_UNKNOWN && *ret_address >= each_from &&
	    *ret_address < each_until)
		result = SYMBOL_ADDRESS_EACH_CPU;
	free(line);
	(void)fclose(f);
	return result;
}
