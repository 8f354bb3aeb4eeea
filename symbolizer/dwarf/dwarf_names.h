/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_names: what functions are called: by the linker, or as the source says it, with the namespaces,
 * classes and functions around them.
 *
 * A DIE does not know its parent. For a function that the linker has no name for its unit is walked
 * once, and the scopes of all its functions are kept.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_NAMES_H
#define SYMBOLIZER_DWARF_DWARF_NAMES_H

#include <elfutils/libdw.h>

#include "symbolizer/text/intern.h"

struct dwarf_names;

/* strings is borrowed for its life, and has the names. NULL: out of memory. */
struct dwarf_names *dwarf_names_new(struct intern *strings);
void dwarf_names_free(struct dwarf_names *n);

/* Of a function, or of a call that was inlined. 0 with *ret NULL: it has none. -FMT_E_NOMEM. */
int dwarf_names_of(struct dwarf_names *n, Dwarf_Die *die, const char **ret);

#endif
