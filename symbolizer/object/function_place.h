/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_place: where in a file the code of a function begins.
 */
#ifndef SYMBOLIZER_OBJECT_FUNCTION_PLACE_H
#define SYMBOLIZER_OBJECT_FUNCTION_PLACE_H

#include <stdint.h>

struct elf_function;
struct elf_object;

enum function_place_result {
	FUNCTION_PLACE_FOUND,
	FUNCTION_PLACE_NO_FILE, /* none that can be read; errno says why */
	FUNCTION_PLACE_NO_ELF,	/* neither a program nor a library */
	FUNCTION_PLACE_UNKNOWN, /* no function has the name: not in the file, nor in its debug file */
	FUNCTION_PLACE_SEVERAL,
	FUNCTION_PLACE_CHOSEN, /* an indirect function: its code is chosen at the start of a program */
	FUNCTION_PLACE_NO_CODE, /* the symbol is in no part of the file that is executed */
};

/*
 * *ret_offset: from the file's beginning. The file with the symbols of one that was stripped is found by its build-id
 * or debug link below /usr/lib/debug.
 */
enum function_place_result function_place_find(const char *path, const char *name,
					       uint64_t *ret_offset);

/* Looks in that file, for who found nothing in the object itself; addresses are the object's. */
typedef void function_place_find_fn(struct elf_object *o, const char *name,
				    struct elf_function *ret);
void function_place_debug(struct elf_object *o, const char *path, const char *name,
			  function_place_find_fn *find, struct elf_function *f);

#endif
