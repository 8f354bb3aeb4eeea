/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_options.h"

#include <errno.h>
#include <string.h>

int
session_build_ids_parse(const char *text, enum session_build_ids *ret)
{
	static const char *const names[] = { [SESSION_BUILD_IDS_AUTO] = "auto",
					     [SESSION_BUILD_IDS_KERNEL] = "kernel",
					     [SESSION_BUILD_IDS_FILE] = "file" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret = (enum session_build_ids)i;
		return 0;
	}
	return -EINVAL;
}
