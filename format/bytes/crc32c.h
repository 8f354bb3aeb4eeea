/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc32c: the Castagnoli CRC (RFC 3720, polynomial 0x1EDC6F41, reflected), by the CPU's own
 * instruction where it has one.
 */
#ifndef FORMAT_BYTES_CRC32C_H
#define FORMAT_BYTES_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC of bytes that follow others whose CRC is crc; 0 for the first ones. */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);

/* The same by tables alone: what CPUs without the instruction run. For tests. */
uint32_t crc32c_portable(uint32_t crc, const void *p, size_t n);

#endif
