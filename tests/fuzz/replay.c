/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over the files of the directories named (or the files named), without
 * libFuzzer, so that every seed and every input that once broke a parser is tried by `make check`
 * with any compiler. Prints TAP: one test per file. The empty input is always tried first.
 */
#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int done;

static void
try(const char *name, const uint8_t *data, size_t size)
{
	/* The exact size on the heap, so that ASan sees a read past the end. */
	uint8_t *copy = malloc(size ? size : 1);

	if (copy == NULL)
		err(1, "%s", name);
	if (size != 0)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	printf("ok %u - %s (%zu bytes)\n", ++done, name, size);
	fflush(stdout);
}

static void
try_file(const char *path)
{
	struct stat st;
	uint8_t *data;
	size_t size;
	FILE *f = fopen(path, "re");

	if (f == NULL || fstat(fileno(f), &st) != 0)
		err(1, "%s", path);
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL)
		err(1, "%s", path);
	size = fread(data, 1, (size_t)st.st_size, f);
	if (ferror(f))
		err(1, "%s", path);
	fclose(f);
	try(path, data, size);
	free(data);
}

static int
visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
try_directory(const char *path)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, visible, alphasort);

	if (n < 0)
		err(1, "%s", path);
	for (int i = 0; i < n; i++) {
		char *file = NULL;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			err(1, "%s", path);
		try_file(file);
		free(file);
		free(entries[i]);
	}
	free(entries);
}

int
main(int argc, char **argv)
{
	struct stat st;

	try("the empty input", (const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		/* A target may have no seeds yet. */
		if (stat(argv[i], &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			try_directory(argv[i]);
		else
			try_file(argv[i]);
	}
	printf("1..%u\n", done);
	return 0;
}
