/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_objects: the files that name what was sampled, inside of the recording (format/block/packed.h).
 *
 * The recording is anybody's: lengths are bounded, bytes that are damaged or missing make a file that is not
 * there, and what is given has to have the build-id that it is asked for by. A file is taken out when it
 * is first asked for, into memory or, where it is large or all of them are, a temporary file without a name. Who
 * has it cannot change what is in memory. Any thread may ask.
 */
#ifndef SYMBOLIZER_OBJECT_PACKED_OBJECTS_H
#define SYMBOLIZER_OBJECT_PACKED_OBJECTS_H

#include "format/block/packed.h"
#include "format/bytes/io.h"
#include "symbolizer/object/elf_object.h"

struct packed_objects;

/*
 * Looks for them: *ret NULL: there are none. source is that of the recording, and owned from here on. 0,
 * -FMT_E_NOMEM, -FMT_E_IO.
 */
int packed_objects_new(struct io_source *source, struct packed_objects **ret);
/* One more who uses them, and one less; NULL: nothing. */
struct packed_objects *packed_objects_ref(struct packed_objects *p);
void packed_objects_free(struct packed_objects *p);

size_t packed_objects_count(const struct packed_objects *p);
/* The i-th; its path is good as long as p. */
const struct packed_object *packed_objects_at(const struct packed_objects *p, size_t i);

/*
 * Has a file the build-id that it is packed, or taken out, by? A surrogate is of the file as it was before it was
 * packed: it is believed.
 */
bool packed_objects_same_build(int fd, const struct buildid *id);

/*
 * A descriptor of the file of this kind and build, the caller's; -1: it is not there, or has symbols alone. p may
 * be NULL.
 */
int packed_objects_fd(struct packed_objects *p, enum packed_kind kind, const struct buildid *id);
/*
 * Likewise as an ELF file, or, names_only, one that has symbols alone; code: has it that of what was sampled? 0;
 * *ret NULL: it is not there. -FMT_E_NOMEM.
 */
int packed_objects_open(struct packed_objects *p, enum packed_kind kind, const struct buildid *id,
			bool names_only, struct elf_object **ret, bool *ret_code);

#endif
