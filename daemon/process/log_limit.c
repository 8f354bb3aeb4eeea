/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/log_limit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "daemon/process/log.h"
#include "format/bytes/time_text.h"

#define MINUTE_NS (60 * SECOND_NS)
#define PLACES 64
#define PLACES_OF_USERS 32 /* the first ones */

struct place {
	struct log_kind kind;
	uint64_t until_ns; /* the end of its minute; 0: free */
	unsigned int written;
	unsigned long long left_out;
	int priority; /* of the last that was left out */
	char last[LOG_LIMIT_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock: */
static struct place places[PLACES];
static struct place shared[2]; /* of those that find none: no user's, users' */

/* --- kinds ------------------------------------------------------------------------------- */

/* Are there words in it beside conversions? */
static bool
has_words(const char *format)
{
	for (const char *p = format; *p; p++) {
		if (*p == '%') {
			p += 1 + strspn(p + 1, "-+ #0123456789.*hlzjt");
			if (!*p)
				break;
		} else if (*p >= 'a' && *p <= 'z') {
			return true;
		}
	}
	return false;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* FNV-1a; a run of digits is one, whatever number it is. */
static uint64_t
hash_text(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = text; *p; p++) {
		if (is_digit(*p) && p > text && is_digit(p[-1]))
			continue;
		h = (h ^ (is_digit(*p) ? '0' : (unsigned char)*p)) * UINT64_C(0x100000001b3);
	}
	return h;
}

struct log_kind
log_kind_of(uint32_t uid, const char *format, const char *text)
{
	return (struct log_kind){
		.key = has_words(format) ? (uint64_t)(uintptr_t)format : hash_text(text),
		.uid = uid,
	};
}

bool
log_kind_same(const struct log_kind *a, const struct log_kind *b)
{
	return a->key == b->key && a->uid == b->uid;
}

/* --- limits ------------------------------------------------------------------------------ */

static bool
is_free(const struct place *p, uint64_t now_ns)
{
	return !p->until_ns || (p->until_ns <= now_ns && p->left_out == 0);
}

/*
 * That of the kind, a free one, or one that is shared. What no one user causes has few kinds: one that has left out nothing
 * makes way.
 */
static struct place *
place_of(const struct log_kind *kind, uint64_t now_ns)
{
	const bool users = kind->uid != LOG_NO_USER;
	struct place *p = places + (users ? 0 : PLACES_OF_USERS), *found = NULL;
	const struct place *end = users ? places + PLACES_OF_USERS : places + PLACES;

	for (; p < end; p++) {
		if (p->until_ns && log_kind_same(&p->kind, kind))
			return p;
		if ((is_free(p, now_ns) || (!users && p->left_out == 0)) &&
		    (!found || p->until_ns < found->until_ns))
			found = p;
	}
	if (found && !is_free(found, now_ns))
		found->until_ns = 0;
	return found ? found : &shared[users];
}

bool
log_limit_take(const struct log_kind *kind, unsigned int a_minute, int priority, const char *text,
	       uint64_t now_ns)
{
	struct place *p;
	bool writes;

	(void)pthread_mutex_lock(&lock);
	p = place_of(kind, now_ns);
	if (is_free(p, now_ns)) {
		p->kind = *kind;
		p->until_ns = now_ns + MINUTE_NS;
		p->written = 0;
	}
	writes = p->left_out == 0 && p->written < a_minute;
	if (writes) {
		p->written++;
	} else {
		p->left_out++;
		p->priority = priority;
		(void)strlcpy(p->last, text, sizeof(p->last));
	}
	(void)pthread_mutex_unlock(&lock);
	return writes;
}

static bool
take_due(struct place *p, uint64_t now_ns, int *ret_priority, char *line, size_t size)
{
	if (!p->until_ns || p->until_ns > now_ns || p->left_out == 0)
		return false;
	(void)snprintf(line, size,
		       "%s (%llu lines like this in a minute, of which this is the last)", p->last,
		       p->left_out);
	*ret_priority = p->priority;
	/* It is the first of the next minute. */
	p->until_ns = now_ns + MINUTE_NS;
	p->written = 1;
	p->left_out = 0;
	return true;
}

bool
log_limit_due(uint64_t now_ns, int *ret_priority, char *line, size_t size)
{
	bool due = false;

	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PLACES && !due; i++)
		due = take_due(&places[i], now_ns, ret_priority, line, size);
	for (size_t i = 0; i < 2 && !due; i++)
		due = take_due(&shared[i], now_ns, ret_priority, line, size);
	(void)pthread_mutex_unlock(&lock);
	return due;
}
