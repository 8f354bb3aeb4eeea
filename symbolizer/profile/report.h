/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the rows of a flat report: stacks of a profile added up by what the reader wants
 * to see (command, object, symbol, ...), for each event apart.
 *
 * self: samples taken there. total (children): samples with it anywhere in their stack,
 * counted once per stack however often it recurs. Numbers only; printing is the command's.
 */
#ifndef SYMBOLIZER_PROFILE_REPORT_H
#define SYMBOLIZER_PROFILE_REPORT_H

#include "symbolizer/profile/frame_regex.h"
#include "symbolizer/profile/profile.h"

/*
 * name of the key, title of its column, is it a number, what it is, and its struct report_value:
 * of a stack s, one of its frames, f, the symbol of the function in it that is asked for, parent, and
 * details of its samples: numbers, DETAIL(), and the frames of data, data, and of where branches came from, from.
 * The event is in every row, and so no value.
 */
#define REPORT_KEYS(X)                                                                             \
	X(comm, "Command", false, "command name", .text = s->comm)                                 \
	X(dso, "Shared Object", false, "file or region the code was in", .text = f->dso)           \
	X(sym, "Symbol", false, "function; [k] kernel, [.] user", .text = frame_label(f),          \
	  .number = f->kernel)                                                                     \
	X(address, "Address", true, "where in the object; of the kernel, in memory",               \
	  .number = f->vaddr)                                                                      \
	X(srcline, "Source:Line", false, "line of the source", .text = f->file, .number = f->line) \
	X(srcfile, "Source File", false, "file of the source", .text = f->file)                    \
	X(pid, "Pid", true, "process", .number = s->pid)                                           \
	X(tid, "Tid", true, "thread", .number = s->tid)                                            \
	X(cpu, "CPU", true, "CPU that was sampled", .number = s->cpu)                              \
	X(cgroup, "Cgroup", false, "control group", .text = s->cgroup)                             \
	X(unit, "Unit", false, "unit of systemd that the control group is of", .text = s->unit)    \
	X(cgroup_id, "cgroup id (dev/inode)", false, "namespace of control groups",                \
	  .text = s->cgroup_id)                                                                    \
	X(waker, "Waker", false, "command that ended a wait", .text = s->waker)                    \
	X(time, "Time", true, "start of the span of time, as wide as --time-quantum",              \
	  .number = s->time)                                                                       \
	X(trace, "Trace output", false, "fields of a tracepoint; EVENT.FIELD: of one of them",     \
	  .text = s->trace)                                                                        \
	X(event, "Event", false, "event that took the sample", .text = NULL)                       \
	X(parent, "Parent symbol", false, "function or caller that --parent names",                \
	  .text = parent)                                                                          \
	X(symbol_daddr, "Data Symbol", false, "variable that was touched", .text = data->symbol,   \
	  .number = data->symbol ? data->symbol_offset : data->vaddr)                              \
	X(dso_daddr, "Data Object", false, "file or region that it is in", .text = data->dso)      \
	X(mem, "Memory access", false, "level of caches or memory that answered", DETAIL(mem))     \
	X(snoop, "Snoop", false, "what other caches had", DETAIL(snoop))                           \
	X(tlb, "TLB access", false, "where the address was translated", DETAIL(tlb))               \
	X(locked, "Locked", false, "was it an atomic access", DETAIL(locked))                      \
	X(blocked, "Blocked", false, "what it waited for", DETAIL(blocked))                        \
	X(weight, "Weight", true, "cost of the samples, of all of the row", DETAIL(weight))        \
	X(local_weight, "Local Weight", true, "cost of one sample", DETAIL(local_weight))          \
	X(local_ins_lat, "Local INSTR Latency", true, "of one instruction", DETAIL(local_ins_lat)) \
	X(phys_daddr, "Data Physical Address", true, "in memory", DETAIL(phys_daddr))              \
	X(data_page_size, "Data Page Size", true, "of the data", DETAIL(data_page_size))           \
	X(code_page_size, "Code Page Size", true, "of the code", DETAIL(code_page_size))           \
	X(transaction, "Transaction", false, "how it ended", DETAIL(transaction))                  \
	X(dso_from, "Source Shared Object", false, "of branches: where they came from",            \
	  .text = from->dso)                                                                       \
	X(symbol_from, "Source Symbol", false, "likewise", .text = frame_label(from),              \
	  .number = from->kernel)                                                                  \
	X(dso_to, "Target Shared Object", false, "where they went", .text = f->dso)                \
	X(symbol_to, "Target Symbol", false, "likewise", .text = frame_label(f),                   \
	  .number = f->kernel)                                                                     \
	X(mispredict, "Branch Mispredicted", false, "predicted wrongly?", DETAIL(mispredict))      \
	X(cycles, "Basic Block Cycles", true, "since the branch before", DETAIL(cycles))           \
	X(in_tx, "Branch in transaction", false, "was it in one", DETAIL(in_tx))                   \
	X(abort, "Transaction abort", false, "did it end one", DETAIL(abort))

/* name of a column of numbers (perf's), its title */
#define REPORT_NUMBERS(X)                                                                          \
	X(overhead, "Overhead")                                                                    \
	X(overhead_children, "Children")                                                           \
	X(sample, "Samples")                                                                       \
	X(period, "Period")

#define REPORT_QUANTUM_NS UINT64_C(100000000) /* perf's */

/* Sort keys and, behind them, numbers. */
enum report_column {
#define X(name, ...) REPORT_##name,
	REPORT_KEYS(X)
#undef X
		REPORT_KEYS_MAX,
	REPORT_SHARED_MAX = REPORT_symbol_daddr, /* before it: keys that samples of a task share */
	REPORT_BEFORE_NUMBERS = REPORT_KEYS_MAX - 1,
#define X(name, title) REPORT_##name,
	REPORT_NUMBERS(X)
#undef X
		REPORT_COLUMNS_MAX
};

#define REPORT_FIELDS_BYTES 512

struct report_list {
	enum report_column v[REPORT_COLUMNS_MAX];
	size_t n;
	bool more;			  /* it began with '+': besides what there is without it */
	char fields[REPORT_FIELDS_BYTES]; /* of REPORT_trace, as profile_options has them; "": all */
};

struct report_options {
	struct report_list keys;    /* what rows are told apart by */
	struct report_list columns; /* those, and numbers, in the order of the text */
	bool children;		    /* fill in and order by total */
	uint64_t quantum_ns;	    /* width of the spans of REPORT_time; 0: REPORT_QUANTUM_NS */
	bool absolute;	  /* shares are of the whole, and not of what passed the filters */
	bool with_parent; /* the key parent is among them in any case */
	/* What parent is, borrowed; it remembers what it was asked. */
	struct frame_regex *parent;
	bool graphs;   /* rows have call graphs (call_graph.h) */
	bool branches; /* rows count branches, each as 1, and not samples */
	bool mem_mode; /* shares are of the weights of samples, not of periods */
};

/*
 * "comm,dso,sym" (symbol is sym; sched_switch.prev_comm is trace, of that field), of the columns
 * below end: REPORT_KEYS_MAX for sort keys, REPORT_COLUMNS_MAX. 0, or -1: the word at fault is
 * *ret_bad (length *ret_len): not one of them, or one given twice.
 */
int report_parse_list(const char *text, enum report_column end, struct report_list *ret,
		      const char **ret_bad, size_t *ret_len);
bool report_has(const struct report_list *l, enum report_column column);
/* Is the number of this key one of sample_detail.h, rather than an address or a part of a name? */
bool report_is_detail(enum report_column column);

/*
 * Keys and columns by what was asked for, as perf report has it: fields take the place of numbers
 * and, unless there is a sort, of the keys; of sort, those that fields do not have follow.
 * samples: with their number. Both may be empty: comm,dso,sym with their shares. Shares of
 * children are among the columns when o->children, and o->children is then whether they are.
 */
void report_choose(struct report_options *o, const struct report_list *sort,
		   const struct report_list *fields, bool samples);

/* Is one of the keys of branches alone among them? */
bool report_of_branches(const struct report_list *keys);

/* What the profile has to tell apart for this report. */
void report_profile_options(const struct report_options *o, struct profile_options *ret);

struct report_value {
	const char *text; /* of a name; NULL: unknown */
	uint64_t number;  /* of a number; of a symbol: 1 in the kernel */
};

/* By text, what is unknown last, then by number. */
int report_value_compare(const struct report_value *a, const struct report_value *b);

struct report_row {
	int event; /* always a key; of the others: report_value() */
	struct profile_weight self, total;
	uint32_t number; /* in the order in which they were found: for report_numbers() */
};

/* One event: its rows are [first, first + nr). */
struct report_section {
	int event;
	struct profile_weight weight, whole; /* without what filters left out, and with it */
	size_t first, nr;
};

/*
 * Leaf samples without a name, by object and reason; and, with RESOLVE_OK, those with a name of an
 * object without debug information, where lines of the source are asked for.
 */
struct report_unknown {
	const char *dso_path;
	const char *build_id; /* as of frames */
	enum resolve_miss miss;
	uint64_t samples;
};

struct report;

/* Strings are the resolver's. 0, -FMT_E_NOMEM. */
int report_build(const struct profile *p, const struct report_options *o, struct report **ret);
void report_free(struct report *r);

/*
 * Sections by event; rows by weight descending, then by name: the order is always the same. Where the
 * time is a column before all numbers, by time first.
 */
size_t report_sections(const struct report *r);
const struct report_section *report_section_at(const struct report *r, size_t i);
const struct report_row *report_row_at(const struct report *r, size_t i);
/* What a row has of a key; zero of what is none. */
struct report_value report_value(const struct report *r, const struct report_row *row,
				 enum report_column key);
/*
 * Where options say graphs: of each stack of the profile, in its order, the number of the row that counts
 * it; with children, likewise of each frame of each stack.
 */
const uint32_t *report_numbers(const struct report *r);
size_t report_rows(const struct report *r);
/* Percent of all that w is. */
double report_share(const struct profile_weight *w, const struct profile_weight *all);
/* Percent that a row's weight is of what shares of its event are of. */
double report_percent(const struct report *r, const struct report_section *s,
		      const struct profile_weight *w);
/* What the key weight is of a row: its number is that of one sample. */
uint64_t report_weight(const struct report_options *o, const struct report_row *row,
		       uint64_t number);
/* By samples descending. */
size_t report_unknowns(const struct report *r);
const struct report_unknown *report_unknown_at(const struct report *r, size_t i);

#endif
