/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_objects: the copies of mapped files that lie beside a recording (format/stored).
 */
#ifndef SYMBOLIZER_OBJECT_STORED_OBJECTS_H
#define SYMBOLIZER_OBJECT_STORED_OBJECTS_H

#include "symbolizer/object/elf_object.h"

/*
 * The directory of copies of a recording, or of an archive directory, to be freed; NULL: there is none,
 * or out of memory. It is beside the recording; of what is in an archive's captures/ or kept/LABEL/,
 * in the archive. It has to be the recording's owner's, the reader's or root's: in /tmp anybody may make
 * one beside another's recording.
 */
char *stored_objects_dir(const char *recording);

/*
 * The copy of this build: of root's file or that of who recorded, else the reader's own, else another user's, if there is
 * one, or all of them are the same. Recordings do not know whose process has mapped what, and any user can give his
 * program any build-id; whole: with its code, else that is zeros. 0 with *ret set, or NULL: there is none
 * that can be believed; -FMT_E_NOMEM.
 */
int stored_objects_open(const char *dir, const struct buildid *id, struct elf_object **ret,
			bool *ret_whole);

#endif
