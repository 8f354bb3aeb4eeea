/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_store: the call frame information of what is mapped, file by file as it is asked for. Files
 * are found, and believed, as for their symbols (object_store).
 *
 * One a gather, and no lock: of an archive each segment reads its files again, which costs less
 * than its unwinding does (cc1plus: 5 ms), and no thread waits for another that reads a file.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_STORE_H
#define SYMBOLIZER_UNWIND_CFI_STORE_H

#include "symbolizer/object/object_store.h"
#include "symbolizer/unwind/unwind.h"

/*
 * What it reads of files that then have nothing for it, be they too large or damaged, if they are of users other than
 * root and the reader: each of these has a fair_part, and of more of his nothing is read.
 */
#define CFI_STORE_WASTE_MAX (UINT64_C(1) << 30)

/*
 * What a store reads, and of it one file of a user other than root and the reader a fair_part; of more files nothing is
 * known. Rows and rules take a few times as much at worst, and usually less. A desktop's programs have 100 MiB.
 */
#define CFI_STORE_BYTES_MAX (256u << 20)

struct cfi_store;

/*
 * places is copied, what it points to is not, but for what processes have mapped, which is the
 * store's own. NULL: out of memory.
 */
struct cfi_store *cfi_store_new(const struct object_places *places);
void cfi_store_free(struct cfi_store *s);

/*
 * What is at ip in a map of a task model; vdso is the build-id of a "[vdso]" that the model knows
 * none of. 0, -FMT_E_NOMEM.
 */
int cfi_store_code(struct cfi_store *s, const struct task_map *map, const struct buildid *vdso,
		   uint64_t ip, struct unwind_code *ret);
/* What was read for nothing so far. */
uint64_t cfi_store_waste(const struct cfi_store *s);

#endif
