/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count_unit_json: what a count of an event means, in JSON: unit, scale, snapshot, per_pkg. */
#ifndef SYMBOLIZER_VIEW_COUNT_UNIT_JSON_H
#define SYMBOLIZER_VIEW_COUNT_UNIT_JSON_H

#include <jansson.h>

#include "format/record/count_unit.h"

/* Sets what is told of it, and nothing where nothing is. 0, or not: out of memory. */
int count_unit_json_facts(json_t *j, const struct count_unit *u);
/* Likewise, and so many counts in the unit: value. */
int count_unit_json(json_t *j, const struct count_unit *u, uint64_t count);

#endif
