/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a configuration; what is taken prints as a form that parses to itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *
print(const struct config *c, size_t *ret_n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_n);

	if (!f)
		abort();
	config_print(c, f);
	if (fclose(f) != 0)
		abort();
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *a = NULL, *b = NULL;
	struct config_error error = { .text = "" };
	char *first, *second, keys[64];
	size_t n, m;

	if (config_parse((const char *)data, size, "fuzz", &a, &error) != 0) {
		if (a || !error.text[0])
			abort();
		return 0;
	}
	first = print(a, &n);
	if (config_parse(first, n, "canonical", &b, &error) != 0)
		abort();
	second = print(b, &m);
	config_restart_keys(a, b, keys, sizeof(keys));
	if (n != m || memcmp(first, second, n) != 0 || keys[0])
		abort();
	free(first);
	free(second);
	config_free(a);
	config_free(b);
	return 0;
}
