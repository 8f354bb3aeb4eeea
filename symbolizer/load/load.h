/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load: the options that every report and export has, and the way from them to a profile.
 */
#ifndef SYMBOLIZER_LOAD_LOAD_H
#define SYMBOLIZER_LOAD_LOAD_H

#include "format/bytes/buf.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/input/input_set.h"
#include "symbolizer/profile/doubts.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/profile/profile.h"
#include "symbolizer/load/fetching.h"
#include "symbolizer/load/unmet_fields.h"

/* name in code, letter, long name, argument, help; of where names come from */
#define LOAD_NAME_OPTIONS(X)                                                                       \
	X(symfs, 0, "symfs", "DIR", "look for the recorded files below DIR")                       \
	X(debuginfod, 0, "debuginfod", NULL, FETCHING_HELP)                                        \
	X(kallsyms, 0, "kallsyms", "FILE",                                                         \
	  "kernel symbols of a recording that has none: a copy of its /proc/kallsyms")             \
	X(vmlinux, 0, "vmlinux", "FILE", "likewise from the kernel's ELF file")                    \
	X(force, 0, "force", NULL,                                                                 \
	  "also use files that cannot be shown to be the recorded ones; reports say where")        \
	X(no_demangle, 0, "no-demangle", NULL, "leave C++ and Rust names as they are")             \
	X(no_inline, 0, "no-inline", NULL, "no frames of calls that were inlined")                 \
	X(no_cache, 0, "no-cache", NULL,                                                           \
	  "neither read nor keep what debug information says in ~/.cache/spoor")
#define LOAD_OWN_OPTIONS(X)                                                                        \
	LOAD_NAME_OPTIONS(X)                                                                       \
	X(input, 'i', "input", "FILE",                                                             \
	  "recording or archive directory to read; - is standard input")

enum load_option {
	LOAD_OPTION_FIRST = 0x800,
#define X(id, letter, name, arg, help) LOAD_OPTION_##id,
	LOAD_OWN_OPTIONS(X)
#undef X
};

/* perf's other names of three of the filters. */
#define LOAD_ALIASES(X) X(comm, "comms") X(dso, "dsos") X(symbol, "symbols")

/* Rows for a command's table of struct cli_option, each with its comma. */
#define LOAD_OPTIONS                                                                               \
	FILTER_OPTIONS(LOAD_FILTER_ROW) LOAD_ALIASES(LOAD_ALIAS_ROW) LOAD_OWN_OPTIONS(LOAD_ROW)
#define LOAD_ALIAS_ROW(id, name) { FILTER_OPTION_##id, 0, name, "NAMES", NULL },
#define LOAD_FILTER_ROW(id, letter, name, arg, help)                                               \
	{ FILTER_OPTION_##id, letter, name, arg, help },
#define LOAD_ROW(id, letter, name, arg, help) { LOAD_OPTION_##id, letter, name, arg, help },

struct load_options {
	const char *command; /* for messages */
	const char *path;    /* NULL: the default */
	const char *symfs, *kallsyms, *vmlinux;
	bool debuginfod, no_demangle, no_inline, no_cache, force;
	struct filter *filter; /* made by load_init() */
	/*
	 * As they were given, "--name value", each with a NUL at its end: what chooses samples, and what says
	 * where names come from. A page tells them, and its commands need them.
	 */
	struct buf filters, places;
	bool told; /* the command itself tells what is lost, not unwound, or not there */
	/*
	 * Nothing is said of values of filters that no sample met, for which all is read again: for whoever
	 * looks again and again.
	 */
	bool quiet_unmet;
	bool keep_code; /* the resolver's objects are for whoever reads code, too */
	/* Sees each recording, with opened_arg; NULL: nobody does. */
	void (*opened)(void *arg, const struct input *in);
	void *opened_arg;
	/* Gets each sample, where the profile_options ask for that (profile_on_sample()). */
	profile_sample_fn *on_sample;
	void *on_sample_arg;
	/*
	 * Sees the set before any recording is read, and may choose widths of time by its range. 0, or an
	 * exit status, said. NULL: nobody does.
	 */
	int (*opening)(void *arg, struct input_set *set, struct profile_options *po);
	void *opening_arg;
};

struct load {
	struct input_set set; /* read to its end: what it counted is good, nothing in it is open */
	struct resolver_options resolver_options;
	char *debug_cache, *debuginfod_cache, *cache_dir;
	struct object_fetch *fetch; /* NULL: nothing is fetched */
	struct resolver *resolver;
	struct inlines *inlines; /* NULL: neither they nor lines are asked for */
	struct profile *profile;
	struct doubts *doubts;
	struct profile_options profile_options;
	struct unmet_fields unmet_fields;
	struct progress *progress; /* while it is read; NULL: nobody is told */
	bool enough;		   /* whoever gets the samples wanted no more: not all were read */
	int status; /* EXIT_FAILED when the input could only be read in part: report, then fail */
};

int load_init(struct load_options *o, const char *command); /* 0 or an exit status, said */
void load_done(struct load_options *o);
/* Takes an option of LOAD_OPTIONS: CLI_GO_ON, or an exit status, said. */
int load_set(struct load_options *o, int value, const char *text);
/* Its long name. */
const char *load_option_name(int value);
/* Does it choose by names, or say where names are? Not for who reads records as they are. */
bool load_option_of_names(int value);

/*
 * Keeps samples apart by what is in list ("comm,pid"; by the command they are in any case). False: a
 * word of it is none of those in allowed, which is such a list.
 */
bool load_labels(const char *list, const char *allowed, struct profile_options *po);
bool load_labels_have(const char *list, const char *word);

/* CLOCK_REALTIME in ns, for filter_new(). */
int64_t load_now(void);

/*
 * Opens the input, one recording or an archive's, and reads all of it; what is damaged or lost
 * is said on stderr. po tells what to keep apart. 0, or an exit status after a message;
 * load_close() in any case. An error half-way is said and kept in l->status, for the command to
 * end with.
 */
int load_open(struct load *l, const struct load_options *o, const struct profile_options *po);
/*
 * The same of one that was opened, and may have failed: what was read is forgotten, but not which file is which
 * object, nor its symbols, until names are many (resolver_crowded()). For whoever looks again and
 * again; without lines, and with equal options but for the filter.
 */
int load_open_again(struct load *l, const struct load_options *o, const struct profile_options *po);
void load_close(struct load *l);

/*
 * Makes l->inlines where lines were not asked for, for whoever looks up more. 0, -FMT_E_NOMEM. And says
 * of which objects it could not: load_open() has done that of its own.
 */
int load_inlines(struct load *l, const struct load_options *o);
void load_warn_inlines(const struct load *l);

/* Name of a stack's or row's event. */
const char *load_event_name(const struct load *l, int event);

#endif
