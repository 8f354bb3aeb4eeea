/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/log_kept.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/string.h>

#include "daemon/process/log.h"

struct kept {
	struct log_kind kind;
	unsigned long long count; /* 0: free */
	unsigned long long turn;  /* of the last one; the highest is the last of all */
	time_t first, last;
	char text[LOG_KEPT_TEXT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock: */
static struct kept all[LOG_KEPT];
static unsigned long long turns;

static bool
of_user(const struct log_kind *kind)
{
	return kind->uid != LOG_NO_USER;
}

/* The oldest of those that count, and how many do: of one user, of users, or of no user. */
struct share {
	struct kept *oldest;
	size_t nr;
};

static void
share_add(struct share *s, struct kept *k)
{
	s->nr++;
	if (!s->oldest || k->turn < s->oldest->turn)
		s->oldest = k;
}

/* Where a kind goes: to its own place, or to that of whoever has more than a share. */
static struct kept *
kept_place(const struct log_kind *kind)
{
	struct share its = { 0 }, users = { 0 }, others = { 0 };
	struct kept *free_one = NULL;

	for (struct kept *k = all; k < all + LOG_KEPT; k++) {
		if (!k->count) {
			free_one = k;
			continue;
		}
		if (log_kind_same(&k->kind, kind))
			return k;
		if (of_user(&k->kind) && k->kind.uid == kind->uid)
			share_add(&its, k);
		share_add(of_user(&k->kind) ? &users : &others, k);
	}
	if (its.nr >= LOG_KEPT_EACH)
		return its.oldest;
	if (of_user(kind) && users.nr >= LOG_KEPT / 2)
		return users.oldest;
	if (free_one)
		return free_one;
	return others.nr > LOG_KEPT / 2 || users.nr == 0 ? others.oldest : users.oldest;
}

void
log_kept_put(const struct log_kind *kind, const char *text)
{
	const time_t now = time(NULL);
	struct kept *k;

	(void)pthread_mutex_lock(&lock);
	k = kept_place(kind);
	if (!k->count || !log_kind_same(&k->kind, kind))
		*k = (struct kept){ .kind = *kind, .first = now };
	k->count++;
	k->turn = ++turns;
	k->last = now;
	(void)strlcpy(k->text, text, sizeof(k->text));
	(void)pthread_mutex_unlock(&lock);
}

static void
kept_print(const struct kept *k, char line[LOG_KEPT_BYTES])
{
	char first[TIME_TEXT_UTC_BYTES], last[TIME_TEXT_UTC_BYTES], times[LOG_KEPT_TIMES] = "";

	time_text_utc(k->first, first);
	time_text_utc(k->last, last);
	if (k->count > 1)
		(void)snprintf(times, sizeof(times), " (%llu times since %s)", k->count, first);
	(void)snprintf(line, LOG_KEPT_BYTES, "%s %s%s", last, k->text, times);
}

bool
log_kept(size_t i, char line[LOG_KEPT_BYTES])
{
	const struct kept *found = NULL;
	unsigned long long after = 0;

	(void)pthread_mutex_lock(&lock);
	for (size_t n = 0; n <= i; n++) {
		found = NULL;
		for (const struct kept *k = all; k < all + LOG_KEPT; k++)
			if (k->count && k->turn > after && (!found || k->turn < found->turn))
				found = k;
		if (!found)
			break;
		after = found->turn;
	}
	if (found)
		kept_print(found, line);
	(void)pthread_mutex_unlock(&lock);
	return found != NULL;
}
