/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_plt: the stubs that linkers make. They alone are code of a copy that is reduced: a stub names a slot, and has
 * nothing of what its program computes.
 */
#ifndef FORMAT_STORED_STORED_PLT_H
#define FORMAT_STORED_STORED_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/stored/stored_window.h"

/* Is it nothing but instructions that stubs of this machine (EM_*) are made of? */
bool stored_plt_fits(uint16_t machine, struct stored_window *w, uint64_t at, uint64_t n);

#endif
