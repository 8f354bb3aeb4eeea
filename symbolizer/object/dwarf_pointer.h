/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_pointer: addresses as .eh_frame and .eh_frame_hdr write them.
 * Source: Linux Standard Base 5.0, Core, 10.5.1 (DW_EH_PE_*).
 */
#ifndef SYMBOLIZER_OBJECT_DWARF_POINTER_H
#define SYMBOLIZER_OBJECT_DWARF_POINTER_H

#include <stdint.h>

#include "format/bytes/span.h"

#define DWARF_ABSPTR 0x00 /* as long as an address of 64-bit code */
#define DWARF_UDATA4 0x03
#define DWARF_OMIT 0xff
#define DWARF_FORMAT_BITS 0x0f /* of an encoding: width and sign, without what it is relative to */

/*
 * A pointer of 64-bit code by its encoding. at is the address of the first byte of s, data that
 * of what "datarel" means, or 0: nobody knows. False also for encodings of which the address
 * hangs on the running process (indirect, funcrel, textrel) and for "aligned", and for DWARF_OMIT.
 */
bool dwarf_pointer(struct span *s, uint8_t encoding, uint64_t at, uint64_t data, uint64_t *ret);

#endif
