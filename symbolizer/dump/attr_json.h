/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attr_json: a perf_event_attr as a JSON object: fields that are 0 are left out. */
#ifndef SYMBOLIZER_DUMP_ATTR_JSON_H
#define SYMBOLIZER_DUMP_ATTR_JSON_H

#include <jansson.h>
#include <linux/perf_event.h>

/* NULL: out of memory. */
json_t *attr_json(const struct perf_event_attr *attr);

#endif
