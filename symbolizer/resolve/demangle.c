/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/demangle.h"

#include <ctype.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>
#include <libiberty/demangle.h>

/* Without it a name takes all of the stack. */
#ifndef DMGL_NO_RECURSE_LIMIT
#error "spoor needs the libiberty of binutils 2.32 or newer, with its limit of depth"
#endif

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define STUB "@plt"
#define PAST_MAX (64u << 10) /* bytes: a name without references is no longer */
#define LEFT_MAX 64
#define LEFT SIZE_MAX	  /* it was too long, or took too long */
#define WATCHED_LENGTH 96 /* from here on; what doubles takes eight bytes a time */
#define PATIENCE_NS 50000000
#define CUT_MAX 32

struct sink {
	char *out;
	size_t len, cap;
	size_t past, past_max; /* what was said when it was full, and when that is enough */
	bool is_watched, slow;
	sigjmp_buf full;
};

/*
 * The demanglers cannot be told to stop: leaving by longjmp is the only bound on what an
 * exponential name costs. Their callback interface keeps its state on the stack, so nothing
 * is lost; but see demangle_rust().
 */
static void
sink_add(const char *s, size_t len, void *opaque)
{
	struct sink *k = opaque;

	if (k->past != 0 || len >= k->cap - k->len) {
		k->past += len;
		if (k->past > k->past_max)
			siglongjmp(k->full, 1);
		return;
	}
	/* An empty name may come as NULL. */
	if (len != 0)
		memcpy(k->out + k->len, s, len);
	k->len += len;
}

/*
 * libiberty takes exponentially long over some names without a word to its callback: it looks for a pack in what
 * substitutions make of a type ("Dp"), and reads the arguments of a conversion ("cvT_I") twice at each depth. So
 * the clock of the thread ends it.
 */
static _Thread_local struct sink *volatile watched;

static void
on_patience(int signal)
{
	struct sink *k = watched;

	(void)signal;
	if (k == NULL)
		return;
	watched = NULL;
	k->slow = true;
	siglongjmp(k->full, 1);
}

static bool watch_ready;

static void
watch_prepare(void)
{
	struct sigaction act = { .sa_handler = on_patience, .sa_flags = SA_RESTART | SA_NODEFER };

	sigemptyset(&act.sa_mask);
	watch_ready = sigaction(SIGVTALRM, &act, NULL) == 0;
}

/* False: there is no timer. */
static bool
watch_begin(timer_t *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct itimerspec patience = { .it_value.tv_nsec = PATIENCE_NS };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM };
	sigset_t mine;

	if (pthread_once(&once, watch_prepare) != 0 || !watch_ready)
		return false;
	event.sigev_notify_thread_id = gettid();
	sigemptyset(&mine);
	sigaddset(&mine, SIGVTALRM);
	if (pthread_sigmask(SIG_UNBLOCK, &mine, NULL) != 0 ||
	    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, ret) != 0)
		return false;
	if (timer_settime(*ret, 0, &patience, NULL) == 0)
		return true;
	timer_delete(*ret);
	return false;
}

typedef int demangler_fn(const char *, int, demangle_callbackref, void *);

static size_t
demangle_run(demangler_fn *demangler, const char *name, int options, struct sink *k)
{
	if (k->cap == 0)
		return 0;
	if (sigsetjmp(k->full, 0) != 0) {
		watched = NULL;
		return LEFT;
	}
	watched = k->is_watched ? k : NULL;
	if (!demangler(name, options, sink_add, k) || k->len == 0 || k->past != 0)
		k->len = 0;
	watched = NULL;
	if (k->len != 0)
		k->out[k->len] = '\0';
	return k->len;
}

/* ".llvm.123456", as ThinLTO appends to promoted locals: gone, whatever comes after it kept. */
static void
drop_llvm_suffix(char *name)
{
	char *at = strstr(name, ".llvm.");
	char *end;

	if (at == NULL || !isdigit((unsigned char)at[6]))
		return;
	for (end = at + 6; isalnum((unsigned char)*end); end++)
		;
	memmove(at, end, strlen(end) + 1);
}

/*
 * libiberty's limit of depth goes by length and refuses names over 1 KiB, of which C++ has
 * many. Parsing them is no deeper than they are long; Rust's demangler in contrast follows
 * references, and would follow one to itself for ever.
 */
static int
depth(const char *name)
{
	return strlen(name) > DEMANGLE_RECURSION_LIMIT / 2 ? DMGL_NO_RECURSE_LIMIT : 0;
}

static size_t
run_cxx(const char *name, int options, char *out, size_t cap, unsigned *cut)
{
	struct sink k = { .out = out, .cap = cap, .is_watched = strlen(name) > WATCHED_LENGTH };
	timer_t timer;
	size_t len;

	if (k.is_watched && (*cut >= CUT_MAX || !watch_begin(&timer)))
		return 0;
	len = demangle_run(cplus_demangle_v3_callback, name, options | depth(name), &k);
	if (k.is_watched)
		timer_delete(timer);
	*cut += k.slow;
	return len == LEFT ? 0 : len;
}

/*
 * Without parameters libiberty says nothing of ".part.0" and the like, and neither does
 * perf: the parts of a function add up to it.
 */
static size_t
cxx_short(char *name, char *out, size_t cap, unsigned *cut)
{
	name[strcspn(name, ".")] = '\0';
	return run_cxx(name, DMGL_NO_OPTS, out, cap, cut);
}

/*
 * "B", a number and "_" stand in Rust's names for what began at that place before. libiberty
 * until 2022 follows one that leads back to itself until the stack is full (CVE-2021-46195):
 * there none is followed.
 */
static bool
has_reference(const char *name)
{
	const char *at = name;

	while ((at = strchr(at, 'B')) != NULL) {
		at++;
		while (isalnum((unsigned char)*at))
			at++;
		if (*at == '_')
			return true;
	}
	return false;
}

/*
 * Who leaves libiberty in the middle of punycode loses a buffer from the heap, of 16 KiB at most. So a
 * name that is too long is heard to its end, unless it has none: then it is left, but not often.
 */
static size_t
demangle_rust(const char *name, char *out, size_t cap)
{
	struct sink k = { .out = out, .cap = cap, .past_max = PAST_MAX };
	static _Atomic unsigned left;
	size_t len;

	if (name[1] == 'R' && has_reference(name) && (DEMANGLE_ENDLESS_RUST || left >= LEFT_MAX))
		return 0;
	len = demangle_run(rust_demangle_callback, name, DMGL_NO_OPTS, &k);
	left += len == LEFT;
	return len == LEFT ? 0 : len;
}

/* A linkage stub is not the function that it jumps to: "@plt" stays behind the name. */
static size_t
keep_suffix(const char *suffix, char *out, size_t len, size_t cap)
{
	if (len == 0 || strlcpy(out + len, suffix, cap - len) >= cap - len)
		return 0;
	return len + strlen(suffix);
}

static size_t
demangle_copy(char *copy, enum demangle_style style, char *out, size_t cap, unsigned *cut)
{
	size_t len;

	drop_llvm_suffix(copy);
	/* First, because a legacy Rust name is a valid C++ name as well. */
	len = demangle_rust(copy, out, cap);
	if (len != 0 || copy[1] == 'R')
		return len;
	if (style == DEMANGLE_SHORT)
		return cxx_short(copy, out, cap, cut);
	return run_cxx(copy, DMGL_PARAMS | DMGL_ANSI, out, cap, cut);
}

/* ocamlopt: "caml" and a module, "__" between names, "$2b" for a byte that an assembler does not take. */
static bool
is_ocaml(const char *name)
{
	return strncmp(name, "caml", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
}

static unsigned
hex_digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0')
					 : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static size_t
demangle_ocaml(const char *name, char *out, size_t cap)
{
	size_t len = 0;

	for (const char *at = name + 4; *at; at++) {
		if (len + 1 >= cap)
			return 0;
		if (at[0] == '_' && at[1] == '_') {
			out[len++] = '.';
			at++;
		} else if (at[0] == '$' && isxdigit((unsigned char)at[1]) &&
			   isxdigit((unsigned char)at[2]) && (at[1] != '0' || at[2] != '0')) {
			out[len++] = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
			at += 2;
		} else {
			out[len++] = *at;
		}
	}
	out[len] = '\0';
	return len;
}

size_t
demangle_patiently(const char *name, enum demangle_style style, char *out, size_t cap,
		   unsigned *cut)
{
	char copy[DEMANGLE_INPUT_MAX + 1];
	size_t len;

	if (is_ocaml(name))
		return demangle_ocaml(name, out,
				      cap < DEMANGLE_OUTPUT_MAX ? cap : DEMANGLE_OUTPUT_MAX);
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 &&
	    strncmp(name, "_GLOBAL_", 8) != 0)
		return 0;
	len = strlcpy(copy, name, sizeof(copy));
	if (len >= sizeof(copy))
		return 0;
	if (cap > DEMANGLE_OUTPUT_MAX)
		cap = DEMANGLE_OUTPUT_MAX;
	if (len <= sizeof(STUB) || strcmp(copy + len - (sizeof(STUB) - 1), STUB) != 0)
		return demangle_copy(copy, style, out, cap, cut);
	copy[len - (sizeof(STUB) - 1)] = '\0';
	return keep_suffix(STUB, out, demangle_copy(copy, style, out, cap, cut), cap);
}

size_t
demangle(const char *name, enum demangle_style style, char *out, size_t cap)
{
	unsigned cut = 0;

	return demangle_patiently(name, style, out, cap, &cut);
}
