/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any string as a mangled name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/resolve/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* Sixty-four buffers of libiberty's at most: see demangle_rust(). */
const char *
__lsan_default_suppressions(void)
{
	return "leak:rust_demangle_callback\n";
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);
	char out[DEMANGLE_OUTPUT_MAX];
	size_t len;

	if (name == NULL)
		abort();
	if (size != 0)
		memcpy(name, data, size);
	name[size] = '\0';
	len = demangle(name, DEMANGLE_FULL, out, sizeof(out));
	if (len != 0 && strlen(out) > len)
		abort();
	len = demangle(name, DEMANGLE_SHORT, out, 100);
	if (len >= 100)
		abort();
	free(name);
	return 0;
}
