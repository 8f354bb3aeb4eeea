/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/news.h"

#include <stdio.h>

#include <bsd/string.h>

void
news_init(struct news *n)
{
	(void)pthread_mutex_init(&n->lock, NULL);
	n->first = n->nr = 0;
	n->left_out = 0;
}

void
news_put(struct news *n, uint32_t uid, const char *text)
{
	struct news_line *line;

	(void)pthread_mutex_lock(&n->lock);
	if (n->nr < NEWS_LINES) {
		line = &n->lines[(n->first + n->nr++) % NEWS_LINES];
		line->uid = uid;
		(void)strlcpy(line->text, text, sizeof(line->text));
	} else {
		n->left_out++;
	}
	(void)pthread_mutex_unlock(&n->lock);
}

bool
news_take(struct news *n, struct news_line *ret)
{
	bool any = true;

	(void)pthread_mutex_lock(&n->lock);
	if (n->nr) {
		*ret = n->lines[n->first];
		n->first = (n->first + 1) % NEWS_LINES;
		n->nr--;
	} else if (n->left_out) {
		ret->uid = NEWS_NO_USER;
		(void)snprintf(ret->text, sizeof(ret->text), "%llu more messages of this kind",
			       (unsigned long long)n->left_out);
		n->left_out = 0;
	} else {
		any = false;
	}
	(void)pthread_mutex_unlock(&n->lock);
	return any;
}
