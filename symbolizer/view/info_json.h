/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info_json: what `spoor info` knows of a recording, and as one JSON object. Keys are stable.
 */
#ifndef SYMBOLIZER_VIEW_INFO_JSON_H
#define SYMBOLIZER_VIEW_INFO_JSON_H

#include <jansson.h>

#include "symbolizer/dump/summary.h"
#include "symbolizer/input/input.h"

struct info {
	const char *path;
	const struct recording_meta *meta;
	struct recording_health health;
	uint64_t file_bytes;
	struct summary summary;
	bool attrs; /* each event with its attr */
};

/* NULL: out of memory. */
json_t *info_json(const struct info *info);

#endif
