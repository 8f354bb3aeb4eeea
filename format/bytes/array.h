/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array: growth of an array that its owner keeps as a pointer, a number and a capacity.
 */
#ifndef FORMAT_BYTES_ARRAY_H
#define FORMAT_BYTES_ARRAY_H

#include <stddef.h>

/*
 * Makes room for more elements behind the n of the array v (a pointer variable; NULL with a
 * capacity of 0 is an empty one). 0, -FMT_E_NOMEM: v and cap are as they were.
 */
#define array_reserve(v, n, cap, more) array_reserve_bytes(&(v), n, &(cap), more, sizeof(*(v)))

int array_reserve_bytes(void *v, size_t n, size_t *cap, size_t more, size_t size);

#endif
