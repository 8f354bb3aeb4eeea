/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/code_file.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

/* What became of making cfi, which is the file's from here on, or freed. */
static int
take(struct code_file *f, struct elf_object *elf, int err, struct cfi *cfi, size_t bytes_max)
{
	const struct elf_segment *segments;
	const size_t nr = elf_object_segments(elf, &segments);

	*f = (struct code_file){ .cfi = NULL };
	if (err)
		return err == -FMT_E_NOMEM ? err : 0;
	/* Large files have code that nothing runs (the copy that BOLT leaves) or data between functions. */
	if (cfi_bytes(cfi) > bytes_max)
		cfi_drop_gaps(cfi);
	if (cfi_bytes(cfi) > bytes_max) {
		cfi_free(cfi);
		return 0;
	}
	f->segments = reallocarray(NULL, nr + 1, sizeof(*segments));
	if (!f->segments) {
		cfi_free(cfi);
		return -FMT_E_NOMEM;
	}
	if (nr > 0)
		memcpy(f->segments, segments, nr * sizeof(*segments));
	f->nr_segments = nr;
	f->cfi = cfi;
	return 0;
}

int
code_file_read(struct code_file *f, struct elf_object *elf, struct elf_object *debug,
	       size_t bytes_max)
{
	struct cfi *cfi = NULL;
	const int err = cfi_new_max(elf, debug, bytes_max, &cfi);

	return take(f, elf, err, cfi, bytes_max);
}

int
code_file_open(struct code_file *f, struct elf_object *elf, size_t bytes_max,
	       struct elf_budget *budget)
{
	struct cfi *cfi = NULL;
	int err = cfi_open(elf, bytes_max, budget, &cfi);

	if (err && err != -FMT_E_NOMEM)
		err = cfi_new_max(elf, NULL, bytes_max, &cfi);
	return take(f, elf, err, cfi, bytes_max);
}

void
code_file_done(struct code_file *f)
{
	cfi_free(f->cfi);
	free(f->segments);
	*f = (struct code_file){ .cfi = NULL };
}

size_t
code_file_bytes(const struct code_file *f)
{
	return f->cfi ? cfi_bytes(f->cfi) + f->nr_segments * sizeof(*f->segments) : 0;
}

struct unwind_code
code_file_at(const struct code_file *f, uint64_t offset)
{
	struct unwind_code code = { .cfi = f->cfi };

	if (code.cfi && !elf_segments_vaddr(f->segments, f->nr_segments, offset, true, &code.vaddr))
		code.cfi = NULL;
	return code;
}
