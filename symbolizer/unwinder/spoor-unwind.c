/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spoor-unwind: unwinds stacks while a recorder runs, which starts it and gives it all that it needs. It reads files of
 * others, and so it can do next to nothing else.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symbolizer/dwarf/dwarf_sandbox.h"
#include "symbolizer/unwinder/stack_walks.h"
#include "symbolizer/unwinder/unwind_channel.h"

#define EXIT_REFUSED 2
#define MEMORY_MAX (UINT64_C(64) << 20)
#define DESCRIPTORS_LEAST 1024 /* the soft limit that Linux begins with */
#define OF_A_FILE 2	       /* descriptors: that which was offered, and its reader's */
#define OTHER_DESCRIPTORS 32   /* beside those of files */
#define TELLS_EVERY 64	       /* entries */
#define LARGE_BYTES (64 << 10) /* what is larger goes back to the system when it is freed */

static int
print_help(FILE *f)
{
	return fputs("usage: spoor-unwind [--help | --version]\n"
		     "\n"
		     "Unwinds stacks for spoord and spoor record, which start it with a socket as descriptor 3.\n"
		     "By itself it does nothing. See spoor-unwind(8).\n",
		     f) < 0
		? EXIT_REFUSED
		: 0;
}

static int
read_arguments(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return print_help(stdout);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("spoor-unwind %s\n", SPOOR_VERSION) < 0 ? EXIT_REFUSED : 0;
	print_help(stderr);
	return EXIT_REFUSED;
}

/* How many of files there may be. Where it may not ask (systemd's ~@resources), what any process has. */
static size_t
descriptors(void)
{
	const rlim_t wanted = NUMBERED_FILES_DESCRIPTORS_MAX * OF_A_FILE + OTHER_DESCRIPTORS;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return (DESCRIPTORS_LEAST - OTHER_DESCRIPTORS) / OF_A_FILE;
	r.rlim_max = r.rlim_max < wanted ? r.rlim_max : wanted;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur <= OTHER_DESCRIPTORS)
		return 0;
	return (r.rlim_cur - OTHER_DESCRIPTORS) / OF_A_FILE;
}

/* Freed memory is the system's again, whatever was allocated behind it. */
static void
bound_heap(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
}

static void
take_entries(struct unwind_channel *c, struct unwind_ring *ring, struct stack_walks *walks)
{
	struct numbered_files *files = stack_walks_files(walks);
	struct unwind_entry *e;

	unwind_channel_look(c, files);
	for (unsigned n = 1; (e = unwind_ring_next(ring)); n++) {
		/* It was offered before the recorder knew of it. */
		if (e->kind == UNWIND_FILE)
			unwind_channel_look(c, files);
		stack_walks_take(walks, e);
		if (n % TELLS_EVERY == 0)
			stack_walks_tell(walks);
	}
	stack_walks_tell(walks);
}

/* An exit status. */
static int
serve(struct unwind_channel *c, const char *machine, void *memory, size_t bytes)
{
	struct unwind_ring ring;
	struct stack_walks *walks;

	if (!unwind_ring_init(&ring, memory, bytes))
		return EXIT_REFUSED;
	bound_heap();
	walks = stack_walks_new(machine, &ring, descriptors());
	if (!walks)
		return EXIT_REFUSED;
	/* The recorder ends what stalls: no limit of time. */
	dwarf_sandbox_enter(getppid(), MEMORY_MAX, 0);
	do
		take_entries(c, &ring, walks);
	while (unwind_channel_wait(c, stack_walks_files(walks)));
	stack_walks_free(walks);
	return 0;
}

int
main(int argc, char **argv)
{
	struct unwind_channel c;
	struct unwind_start start;
	void *memory;
	size_t bytes;
	int r;

	if (argc > 1)
		return read_arguments(argc, argv);
	if (unwind_channel_init(&c) < 0)
		return print_help(stderr), EXIT_REFUSED;
	r = unwind_channel_start(&c, &start, &memory, &bytes);
	if (r == -ENOTCONN)
		return 0;
	return r < 0 ? EXIT_REFUSED : serve(&c, start.machine, memory, bytes);
}
