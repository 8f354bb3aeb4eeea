/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_request.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "format/bytes/io.h"
#include "recorder/ground/session_error.h"

struct session_requests {
	pthread_mutex_t lock; /* of all that follows, and of done in each request */
	pthread_cond_t changed;
	STAILQ_HEAD(, session_request) posted;
	unsigned callers; /* inside session_request_wait() */
	bool shut;
	int fd;
};

int
session_requests_new(struct session_requests **ret)
{
	struct session_requests *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0) {
		r = -errno;
		free(q);
		return r;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	STAILQ_INIT(&q->posted);
	*ret = q;
	return 0;
}

void
session_requests_free(struct session_requests *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	while (q->callers)
		pthread_cond_wait(&q->changed, &q->lock);
	pthread_mutex_unlock(&q->lock);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	close(q->fd);
	free(q);
}

int
session_requests_fd(const struct session_requests *q)
{
	return q->fd;
}

/* With the lock held. */
static void
session_request_fail(struct session_request *rq)
{
	rq->result = session_fail(&rq->error, -ESHUTDOWN, "the session has ended");
	rq->done = true;
}

int
session_request_wait(struct session_requests *q, struct session_request *rq,
		     struct session_error *error)
{
	int r;

	pthread_mutex_lock(&q->lock);
	q->callers++;
	if (q->shut) {
		session_request_fail(rq);
	} else {
		STAILQ_INSERT_TAIL(&q->posted, rq, next);
		(void)eventfd_write(q->fd, 1);
	}
	while (!rq->done)
		pthread_cond_wait(&q->changed, &q->lock);
	r = rq->result;
	if (error && r)
		*error = rq->error;
	q->callers--;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	/* Nobody took it over. Closing may wait for a disk, which the drain must not. */
	if (rq->sink)
		rq->sink->close(rq->sink);
	return r;
}

struct session_request *
session_request_take(struct session_requests *q)
{
	struct session_request *rq;

	pthread_mutex_lock(&q->lock);
	rq = STAILQ_FIRST(&q->posted);
	if (rq)
		STAILQ_REMOVE_HEAD(&q->posted, next);
	pthread_mutex_unlock(&q->lock);
	return rq;
}

void
session_request_done(struct session_requests *q, struct session_request *rq, int result)
{
	pthread_mutex_lock(&q->lock);
	rq->result = result;
	rq->done = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

void
session_requests_shut(struct session_requests *q, struct session_request *taken)
{
	struct session_request *rq;

	pthread_mutex_lock(&q->lock);
	q->shut = true;
	if (taken)
		session_request_fail(taken);
	while ((rq = STAILQ_FIRST(&q->posted))) {
		STAILQ_REMOVE_HEAD(&q->posted, next);
		session_request_fail(rq);
	}
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
