/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_frames: how far call frame information goes, by a walk over its entries. What follows the last entry, or is none,
 * is not copied, whatever a section's header says.
 */
#ifndef FORMAT_STORED_STORED_FRAMES_H
#define FORMAT_STORED_STORED_FRAMES_H

#include <stdbool.h>

#include "format/stored/stored_elf.h"

enum stored_frames_kind {
	STORED_EH_FRAME,
	STORED_EH_FRAME_OPEN, /* what follows it is something else: it ends with its first terminator */
	STORED_DEBUG_FRAME,
};

/*
 * Walks from at on, to end at most; the first entry is a CIE, and each FDE belongs to a CIE before it. *ret_end: end, where
 * the last entry ends there, else behind the last terminator; at: it is no such thing. 0, -FMT_E_NOMEM, and as of
 * stored_elf_bytes().
 */
int stored_frames_walk(struct io_source *file, uint64_t at, uint64_t end,
		       enum stored_frames_kind kind, uint64_t *ret_end);

/*
 * The same of a .eh_frame_hdr. Each entry of its table leads into a segment. *ret_frames: the place of .eh_frame in the
 * file; 0: it does not tell.
 */
int stored_frames_header(const struct stored_elf *e, uint64_t at, uint64_t end, uint64_t *ret_end,
			 uint64_t *ret_frames);

#endif
