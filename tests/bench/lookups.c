/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a look-up in the symbol tables of an ELF file costs, without its debug information:
 *
 *	lookups FILE COUNT
 *
 * Loads the file's symbols, and asks for the names of COUNT addresses at random in its segments of code,
 * as a report does (resolver_address(): demangled, interned). The second time all names are known. Prints
 * one line of JSON: seconds of both, and of loading.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/resolve/resolve.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The same sequence each time. */
static uint64_t
random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static const struct elf_segment *
code_of(const struct object *o)
{
	for (size_t i = 0; i < o->nr_segments; i++)
		if (o->segments[i].exec && o->segments[i].memsz)
			return &o->segments[i];
	errx(1, "it has no code");
}

static double
look_up(struct resolver *r, struct object *o, uint64_t count, uint64_t *ret_named)
{
	const struct elf_segment *code = code_of(o);
	uint64_t state = 88172645463325252;
	const double start = now();

	*ret_named = 0;
	for (uint64_t i = 0; i < count; i++) {
		struct frame f;

		if (resolver_address(r, o, code->vaddr + random_number(&state) % code->memsz, &f))
			errx(1, "out of memory");
		*ret_named += f.symbol != NULL;
	}
	return now() - start;
}

int
main(int argc, char **argv)
{
	struct resolver *r = resolver_new(NULL);
	const double start = now();
	double loaded, first, again;
	struct object *o = NULL;
	uint64_t count, named;
	int error;

	if (argc != 3 || !r)
		errx(2, "usage: lookups FILE COUNT");
	count = strtoull(argv[2], NULL, 10);
	error = resolver_file(r, argv[1], &o);
	if (error)
		errx(1, "%s: %s", argv[1], fmt_error_text(error));
	loaded = now() - start;
	first = look_up(r, o, count, &named);
	again = look_up(r, o, count, &named);
	printf("{\"loading\": %.6f, \"first\": %.6f, \"again\": %.6f, \"count\": %" PRIu64
	       ", \"named\": %" PRIu64 "}\n",
	       loaded, first, again, count, named);
	resolver_free(r);
	return 0;
}
