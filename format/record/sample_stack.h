/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_stack: a sample without the bytes of its copied stack that mean nothing.
 *
 * The kernel reserves as many bytes as the event asks for, and copies as many as there are (dyn_size).
 */
#ifndef FORMAT_RECORD_SAMPLE_STACK_H
#define FORMAT_RECORD_SAMPLE_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/event_attr.h"

/*
 * Shortens a sample, a whole record of len bytes, in its place: the copy has dyn_size bytes, to a multiple of 8; and 8
 * more where that was less than was asked for, so that it still tells. Returns the record's length, which is unchanged
 * where there is nothing to leave out, or it does not parse by attr.
 */
size_t sample_stack_trim(uint8_t *record, size_t len, const struct event_attr *attr);

#endif
