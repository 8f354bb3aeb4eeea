/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_extra: the options of perf record that spoor record has for those who know them. */
#ifndef SYMBOLIZER_RECORD_RECORD_EXTRA_H
#define SYMBOLIZER_RECORD_RECORD_EXTRA_H

#include "recorder/session/session.h"

enum {
	RECORD_EXTRA = 0x200, /* first of those without a letter */
	RECORD_EXTRA_PHYS,
	RECORD_EXTRA_MEM_INFO,
	RECORD_EXTRA_DATA_PAGE,
	RECORD_EXTRA_CODE_PAGE,
	RECORD_EXTRA_TRANSACTION,
	RECORD_EXTRA_ALL_USER,
	RECORD_EXTRA_ALL_KERNEL,
	RECORD_EXTRA_USER_CHAINS,
	RECORD_EXTRA_KERNEL_CHAINS,
	RECORD_EXTRA_GROUP,
	RECORD_EXTRA_INHERIT,
	RECORD_EXTRA_PER_THREAD,
	RECORD_EXTRA_USER_REGS,
	RECORD_EXTRA_MAX_STACK,
	RECORD_EXTRA_SWITCH_EVENTS,
	RECORD_EXTRA_NO_BUFFERING,
	RECORD_EXTRA_STRICT_FREQ,
	RECORD_EXTRA_SKIP_MISSING,
};

/* Rows of a table of struct cli_option. */
#define RECORD_EXTRA_OPTIONS                                                                       \
	{ 'd', 'd', "data", NULL, "addresses of data, with what is mapped there" },                \
		{ 'W', 'W', "weight", NULL, "what an access cost, of events that tell" },          \
		{ RECORD_EXTRA_PHYS, 0, "phys-data", NULL, "physical addresses of data" },         \
		{ RECORD_EXTRA_MEM_INFO, 0, "sample-mem-info", NULL, "where data came from" },     \
		{ RECORD_EXTRA_DATA_PAGE, 0, "data-page-size", NULL, "size of the page of data" }, \
		{ RECORD_EXTRA_CODE_PAGE, 0, "code-page-size", NULL, "size of the page of code" }, \
		{ RECORD_EXTRA_TRANSACTION, 0, "transaction", NULL, "flags of transactions" },     \
		{ 'b', 'b', "branch-any", NULL, "branches taken before each sample" },             \
		{ 'j', 'j', "branch-filter", "WORD[,WORD...]", "of them those: any_call, u..." },  \
		{ RECORD_EXTRA_ALL_USER, 0, "all-user", NULL, "user space alone, of all events" }, \
		{ RECORD_EXTRA_ALL_KERNEL, 0, "all-kernel", NULL, "the kernel alone" },            \
		{ RECORD_EXTRA_USER_CHAINS, 0, "user-callchains", NULL,                            \
		  "call chains of user space alone" },                                             \
		{ RECORD_EXTRA_KERNEL_CHAINS, 0, "kernel-callchains", NULL,                        \
		  "call chains of the kernel alone" },                                             \
		{ 'i', 'i', "no-inherit", NULL, "not what the tasks fork" },                       \
		{ RECORD_EXTRA_GROUP, 0, "group", NULL, "all events in one group: -e '{...}'" },   \
		{ RECORD_EXTRA_INHERIT, 0, "inherit", NULL, "with -t: also what they fork" },      \
		{ RECORD_EXTRA_PER_THREAD, 0, "per-thread", NULL,                                  \
		  "of each thread one event for all CPUs, not of what they fork" },                \
		{ 's', 's', "stat", NULL, "counts of each task that ends" },                       \
		{ 'n', 'n', "no-samples", NULL, "counts alone" },                                  \
		{ 'I', 'I', "intr-regs", "[REG,...]", "registers where the event was; ? lists" },  \
		{ RECORD_EXTRA_USER_REGS, 0, "user-regs", "[REG,...]",                             \
		  "registers of user space; ? lists" },                                            \
		{ RECORD_EXTRA_MAX_STACK, 0, "max-stack", "N",                                     \
		  "call chains of N frames at most" },                                             \
		{ RECORD_EXTRA_SWITCH_EVENTS, 0, "switch-events", NULL,                            \
		  "a record of each context switch" },                                             \
		{ 'R', 'R', "raw-samples", NULL, "raw data with samples of all events" },          \
		{ RECORD_EXTRA_STRICT_FREQ, 0, "strict-freq", NULL,                                \
		  "fails where -F is over the kernel's limit" },                                   \
		{ RECORD_EXTRA_SKIP_MISSING, 0, "skip-missing", NULL,                              \
		  "without the events that cannot be opened" },                                    \
		{ RECORD_EXTRA_NO_BUFFERING, 0, "no-buffering", NULL,                              \
		  "the kernel wakes for each sample" },                                            \
	{                                                                                          \
		'k', 'k', "clockid", "CLOCK", "monotonic; others are refused: says why"            \
	}

/* Takes one of them. CLI_GO_ON, or the status to end with: a usage error, which was told, or a list, printed. */
int record_extra_set(struct session_options *options, int value, const char *text);

/*
 * What excludes each other, and what follows from each other: as with perf, -t is without what the threads
 * fork. CLI_GO_ON, or the status of a usage error, which was told.
 */
int record_extra_check(struct session_options *options);

#endif
