/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load for `make demo` and `make bench`: one thread per CPU spends nearly all its time in
 * demo_hot_loop, under a chain of named callers, and a little in two colder functions. With a
 * depth argument each thread also recurses, for stacks as deep as those of real services.
 *
 *	demo_load [SECONDS [DEPTH [STACKS]]]	0 seconds: until a signal ends it
 *
 * STACKS > 1 varies the path of the recursion, so that a recorder sees many different stacks.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

void demo_hot_loop(uint64_t rounds);
void demo_cold_sum(uint64_t rounds);
void demo_cold_walk(uint64_t rounds);
void demo_handle_request(uint64_t number);
void demo_descend_left(unsigned int depth, uint64_t number);
void demo_descend_right(unsigned int depth, uint64_t number);

/* Work that a compiler keeps: each thread's own, so that no cache line is fought over. */
static _Thread_local volatile uint64_t sink;
static unsigned int depth_wanted;
static unsigned int stacks_wanted = 1;

NOINLINE void
demo_hot_loop(uint64_t rounds)
{
	uint64_t x = sink | 1;

	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
}

NOINLINE void
demo_cold_sum(uint64_t rounds)
{
	uint64_t sum = sink;

	for (uint64_t i = 0; i < rounds; i++)
		sum += i * sum + 1;
	sink = sum;
}

NOINLINE void
demo_cold_walk(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sink = sink * 3 + i;
}

NOINLINE void
demo_handle_request(uint64_t number)
{
	demo_hot_loop(200000);
	if (number % 2 == 0)
		demo_cold_sum(10000);
	else
		demo_cold_walk(5000);
	/* No tail call: the frame has to stay on the stack. */
	sink = sink + 1;
}

NOINLINE void
demo_descend_left(unsigned int depth, uint64_t number)
{
	if (depth == 0)
		demo_handle_request(number);
	else if ((number >> (depth % 20)) & 1)
		demo_descend_right(depth - 1, number);
	else
		demo_descend_left(depth - 1, number);
	sink = sink + 1;
}

NOINLINE void
demo_descend_right(unsigned int depth, uint64_t number)
{
	if (depth == 0)
		demo_handle_request(number);
	else if ((number >> (depth % 20)) & 1)
		demo_descend_left(depth - 1, number);
	else
		demo_descend_right(depth - 1, number);
	sink = sink + 2;
}

static void *
worker(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg;

	for (;;) {
		/* A multiplicative hash spreads the paths over what STACKS allows. */
		uint64_t path = (number++ % stacks_wanted) * 2654435761u;

		demo_descend_left(depth_wanted, path);
	}
	return NULL;
}

static unsigned int
argument(const char *text, unsigned int max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value > max)
		errx(2, "not a number up to %u: %s", max, text);
	return (unsigned int)value;
}

int
main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? argument(argv[1], 86400) : 10;
	cpu_set_t cpus;
	int count;

	depth_wanted = argc > 2 ? argument(argv[2], 1000) : 0;
	stacks_wanted = argc > 3 ? argument(argv[3], 1000000) : 1;
	if (stacks_wanted == 0)
		stacks_wanted = 1;
	/* Nothing outlives the script that started it, whatever happens to the script. */
	prctl(PR_SET_PDEATHSIG, 15);
	count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
	for (int i = 0; i < count; i++) {
		pthread_t thread;
		int error =
			pthread_create(&thread, NULL, worker, (void *)(uintptr_t)(unsigned int)i);

		if (error != 0)
			errx(1, "no thread: error %d", error);
	}
	do
		sleep(seconds != 0 ? seconds : 3600);
	while (seconds == 0);
	return 0;
}
