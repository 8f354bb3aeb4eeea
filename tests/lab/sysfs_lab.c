/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/sysfs_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[32];

void
sysfs_lab_clear(void)
{
	char command[64];

	if (!root[0])
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	if (system(command) != 0)
		fprintf(stderr, "# %s is left\n", root);
	root[0] = '\0';
}

const char *
sysfs_lab_root(void)
{
	static bool at_exit;

	if (!root[0]) {
		snprintf(root, sizeof(root), "/tmp/spoor-sysfs.XXXXXX");
		if (!mkdtemp(root))
			abort();
		if (!at_exit)
			atexit(sysfs_lab_clear);
		at_exit = true;
	}
	return root;
}

void
sysfs_lab_file(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", sysfs_lab_root(), path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

void
sysfs_lab_pmu_file(const char *pmu, const char *path, const char *text)
{
	char whole[192];

	snprintf(whole, sizeof(whole), "bus/event_source/devices/%s/%s", pmu, path);
	sysfs_lab_file(whole, text);
}
