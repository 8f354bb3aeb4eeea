/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_file: the call frame information of one file, and where its code is mapped from. */
#ifndef SYMBOLIZER_UNWIND_CODE_FILE_H
#define SYMBOLIZER_UNWIND_CODE_FILE_H

#include "symbolizer/unwind/unwind.h"

struct code_file {
	struct cfi *cfi; /* NULL: it has none for us */
	struct elf_segment *segments;
	size_t nr_segments;
};

/*
 * Of an object, and of the file with its debug information (NULL: none), which are not needed after that. Where it
 * needs more than bytes_max, its code without call frame information is left out. One that is damaged, of another
 * machine, or needs more even so has none. 0, -FMT_E_NOMEM: nothing was made.
 */
int code_file_read(struct code_file *f, struct elf_object *elf, struct elf_object *debug,
		   size_t bytes_max);
/*
 * Of an object whose file stays open, with a descriptor of its own: little is read before it is needed, and that within the
 * budget (cfi_open()). Where that cannot be, as code_file_read().
 */
int code_file_open(struct code_file *f, struct elf_object *elf, size_t bytes_max,
		   struct elf_budget *budget);
void code_file_done(struct code_file *f);

/* Memory that it takes now; it grows as walks ask. */
size_t code_file_bytes(const struct code_file *f);
/* What is at an offset of the file. */
struct unwind_code code_file_at(const struct code_file *f, uint64_t offset);

#endif
