/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_json: what became of copied stacks, in JSON. */
#ifndef SYMBOLIZER_VIEW_UNWIND_JSON_H
#define SYMBOLIZER_VIEW_UNWIND_JSON_H

#include <jansson.h>

#include "format/block/unwind_stops.h"

/* NULL: out of memory. */
json_t *unwind_json(const struct unwind_stops *s);

#endif
