/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_unit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/host/cgroup_unit.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/text/screen_text.h"

int
record_unit_group(const char *option, const char *name, char **ret_path)
{
	const char *type = strcmp(option, "--slice") == 0 ? ".slice" : ".service";
	char *path = malloc(PATH_MAX), words[CGROUP_UNIT_WORDS];
	int r;

	if (!path)
		return cli_no_memory();
	r = cgroup_unit_find(NULL, name, type, path, PATH_MAX, words);
	if (r == 0)
		*ret_path = path;
	else
		free(path);
	if (r == -EINVAL)
		return cli_usage_error("record", "%s: %s", option, words);
	if (*words)
		screen_text_warn("%s: %s", option, words);
	return r < 0 ? EXIT_FAILED : CLI_GO_ON;
}
