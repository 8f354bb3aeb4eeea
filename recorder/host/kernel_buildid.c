/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/kernel_buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define VDSO_BYTES 4096 /* its first page has its notes */

int
kernel_buildid(struct buildid *ret)
{
	return buildid_of_notes_file("/sys/kernel/notes", ret);
}

int
kernel_buildid_vdso(struct buildid *ret)
{
	const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct io_source *source;
	struct buildid id;
	int r;

	if (!image)
		return -ENOENT;
	source = io_source_memory(image, VDSO_BYTES);
	if (!source)
		return -ENOMEM;
	r = buildid_read(source, &id);
	source->close(source);
	if (r < 0 || id.kind != BUILDID_GNU)
		return -ENODATA;
	*ret = id;
	return 0;
}

int
kernel_buildid_module(const char *name, struct buildid *ret)
{
	char path[256];

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	return buildid_of_notes_file(path, ret);
}
