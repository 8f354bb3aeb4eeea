/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/function_place.h"

#include <errno.h>
#include <string.h>

#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/elf_shift.h"
#include "symbolizer/object/object_debug.h"
#include "symbolizer/object/object_places.h"

void
function_place_debug(struct elf_object *o, const char *path, const char *name,
		     function_place_find_fn *find, struct elf_function *f)
{
	static const char *const dirs[] = { "/usr/lib/debug", NULL };
	struct object_debug_sums sums;
	const struct object_places places = { .debug_dirs = dirs, .sums = &sums };
	const struct object_debug d = { .places = &places, .object = o, .path = path, .root = "" };
	struct elf_object *debug = NULL;
	bool packed = false;
	uint64_t shift;

	object_debug_sums_init(&sums);
	if (object_debug_find(&d, &debug, &packed) == 0 && debug &&
	    elf_shift_code(debug, o, &shift) == ELF_SHIFT_KNOWN) {
		find(debug, name, f);
		f->vaddr += shift;
	}
	elf_object_close(debug);
	object_debug_sums_done(&sums);
}

static enum function_place_result
place_of(const struct elf_object *o, const struct elf_function *f, uint64_t *ret_offset)
{
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s);

	return elf_segments_offset(s, nr, f->vaddr, true, ret_offset) ? FUNCTION_PLACE_FOUND
								      : FUNCTION_PLACE_NO_CODE;
}

enum function_place_result
function_place_find(const char *path, const char *name, uint64_t *ret_offset)
{
	enum function_place_result result;
	struct elf_function f;
	struct elf_object *o;
	struct stat st;
	int fd = object_places_open(path, &st);

	if (fd < 0)
		return FUNCTION_PLACE_NO_FILE;
	if (elf_object_open(fd, &o) < 0)
		return FUNCTION_PLACE_NO_ELF;
	elf_object_function(o, name, &f);
	if (!f.nr)
		function_place_debug(o, path, name, elf_object_function, &f);
	if (!f.nr)
		result = FUNCTION_PLACE_UNKNOWN;
	else if (f.nr > 1)
		result = FUNCTION_PLACE_SEVERAL;
	else
		result = f.ifunc ? FUNCTION_PLACE_CHOSEN : place_of(o, &f, ret_offset);
	elf_object_close(o);
	return result;
}
