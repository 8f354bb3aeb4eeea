/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/control.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/control/call_meter.h"
#include "daemon/control/capture_calls.h"
#include "daemon/control/client.h"
#include "daemon/control/disk_calls.h"
#include "daemon/control/listener.h"
#include "daemon/control/methods.h"
#include "daemon/control/peer.h"
#include "daemon/control/varlink.h"
#include "daemon/process/descriptor.h"
#include "daemon/process/log.h"
#include "format/bytes/time_text.h"
#include "recorder/host/subuid.h"

#define EVENTS_MAX 64  /* of one round */
#define ACCEPTS_MAX 16 /* of one round */
#define TRIM_CALLS 1000
#define PARKED_NS                                                                                  \
	UINT64_C(10000000) /* a client is parked for, at most, before it is looked at again */
#define CLIENTS_OF_ROOT 8  /* beyond max_clients, so that members cannot lock root out */

struct control {
	struct control_context context;
	struct capture_calls *captures;
	struct disk_calls *disk_calls;
	struct listener listener;
	bool accepting; /* not while descriptors are short */
	gid_t group;
	bool has_group;
	int epoll;
	int again; /* eventfd: a client has a call that waits for its turn */
	int turn;  /* timerfd: a parked client can have a turn */
	bool turn_is_near;
	struct call_meter meter;
	uint64_t now_ns;
	unsigned int used; /* calls since memory was given back */
	size_t nr_clients;
	TAILQ_HEAD(client_list, client) clients; /* who waits longest for a turn first */
};

/* --- clients ----------------------------------------------------------------------------- */

/* Closed at the end of the round: events of it may be still to come. */
static void
control_drop(struct control *c, struct client *client)
{
	if (client->dead)
		return;
	client->dead = true;
	(void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	capture_calls_leave(c->captures, client);
	disk_calls_leave(c->disk_calls, client);
	(void)eventfd_write(c->again, 1);
}

static bool
has_call(const struct client *client)
{
	return client->wait == METHODS_ANSWERED && !client_unsent(client) && client_message(client);
}

/* Until its user has a turn again nothing of it is looked at, not even that it is gone. */
static void
control_park(struct control *c, struct client *client, uint64_t for_ns)
{
	/* Others may have theirs sooner than this one. */
	const struct itimerspec in = {
		.it_value = { .tv_nsec = (long)(for_ns < PARKED_NS ? for_ns : PARKED_NS) }
	};

	if (!client->parked)
		(void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	client->parked = true;
	client->events = 0;
	if (!c->turn_is_near && timerfd_settime(c->turn, 0, &in, NULL) == 0)
		c->turn_is_near = true;
}

/* Has it a turn, which is then taken? Else it is parked. */
static bool
control_turn(struct control *c, struct client *client)
{
	uint64_t for_ns = 0;

	if (client->access != METHODS_ROOT && !client->paid)
		for_ns = call_meter_take(&c->meter, client->uid, c->now_ns);
	client->paid = false;
	if (for_ns)
		control_park(c, client, for_ns);
	return for_ns == 0;
}

/* After anything happened to a client: what is waited for next, or is it done with? */
static void
control_settle(struct control *c, struct client *client)
{
	struct epoll_event e = { .data.ptr = client };

	if (client->dead)
		return;
	if (client_unsent(client))
		e.events |= EPOLLOUT;
	else if (has_call(client) && !client->parked)
		(void)eventfd_write(c->again, 1);
	else if (client->wait == METHODS_ANSWERED && (client->ended || client_overfull(client)))
		return control_drop(c, client);
	/* While a call is being answered the next ones can wait in the socket. */
	if (client->wait == METHODS_ANSWERED && !client->ended && !client_unsent(client) &&
	    !client_message(client))
		e.events |= EPOLLIN;
	if (e.events == client->events || client->parked)
		return;
	client->events = e.events;
	if (epoll_ctl(c->epoll, EPOLL_CTL_MOD, client->fd, &e) < 0)
		control_drop(c, client);
}

static void
reply(struct control *c, struct client *client, const char *error, json_t *parameters,
      bool continues)
{
	if (client_reply(client, error, parameters, continues, c->now_ns) < 0)
		control_drop(c, client);
}

/* Answers the call that is at the front. */
static void
control_answer(struct control *c, struct client *client, struct varlink_call *message)
{
	bool oneway = message->oneway, more = message->more;
	int r;

	struct method_call call = {
		.context = &c->context,
		.captures = c->captures,
		.message = message,
		.access = client->access,
		.uid = client->uid,
		.process = client->process,
		.gid = client->gid,
		.fd = client->passed,
		.now_ns = c->now_ns,
		.client = client,
	};

	methods_call(&call);
	client->passed = call.fd;
	if (client->access != METHODS_ROOT)
		call_meter_charge(&c->meter, client->uid,
				  call.wait == METHODS_CAPTURE	      ? CALL_METER_CAPTURE
					  : call.wait == METHODS_DISK ? CALL_METER_WORK
								      : 0,
				  c->now_ns);
	if (call.wait == METHODS_DISK) {
		r = disk_calls_add(c->disk_calls, &call, message);
		if (r < 0)
			method_call_fail(&call, r,
					 r == -EBUSY ? "too many calls wait for a disk" : "");
	}
	/* Without an answer, but one after another, so that they cannot pile up. */
	client->silent = oneway && call.wait == METHODS_DISK;
	if (oneway && !client->silent) {
		json_decref(call.parameters);
		return;
	}
	client->wait = call.wait;
	client->wait_id = call.wait_id;
	client->wait_ns = call.wait_ns;
	client->next_ns = c->now_ns + call.wait_ns;
	client->more = more;
	if (call.wait == METHODS_ANSWERED || call.parameters)
		reply(c, client, call.error, call.parameters, call.wait != METHODS_ANSWERED);
}

/* It had its turn: what it waited with is done now. */
static void
control_unpark(struct control *c, struct client *client)
{
	struct epoll_event e = { .data.ptr = client };

	client->parked = false;
	client->paid = true;
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, client->fd, &e) < 0)
		control_drop(c, client);
	else
		control_settle(c, client);
}

/* One call of one client, if it has a turn; the others get theirs before its next. */
static void
control_serve(struct control *c, struct client *client)
{
	struct varlink_call message;
	const char *p = client_message(client);

	if (!has_call(client) || !control_turn(c, client))
		return;
	if (varlink_call_parse(p, strlen(p), &message) < 0) {
		log_user_info(client->uid, 1,
			      "control: what uid %u sends is not varlink: the connection is closed",
			      (unsigned int)client->uid);
		control_drop(c, client);
		return;
	}
	c->used++;
	control_answer(c, client, &message);
	json_decref(message.message);
	client_consume(client, c->now_ns);
	control_settle(c, client);
}

static void
control_serve_all(struct control *c)
{
	struct client *client = TAILQ_FIRST(&c->clients), *next;
	const struct client *last = TAILQ_LAST(&c->clients, client_list);

	for (; client; client = next) {
		next = client == last ? NULL : TAILQ_NEXT(client, next);
		if (client->dead || (!client->parked && !has_call(client)))
			continue;
		if (client->parked && control_turn(c, client))
			control_unpark(c, client);
		if (client->parked || client->dead)
			continue;
		control_serve(c, client);
		/* With few turns the first ones would have all of them. */
		TAILQ_REMOVE(&c->clients, client, next);
		TAILQ_INSERT_TAIL(&c->clients, client, next);
	}
}

static void
on_client(struct control *c, struct client *client, uint32_t events)
{
	int r = 0;

	if (client->dead || client->parked)
		return;
	if (events & EPOLLOUT)
		r = client_send(client, c->now_ns);
	/* A peer that is gone may have left calls; but it sees no answer any more. */
	if (r == 0 && (events & EPOLLHUP) &&
	    (client->wait != METHODS_ANSWERED || client_unsent(client)))
		r = -EPIPE;
	if (r == 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !client->ended) {
		if (!control_turn(c, client))
			return;
		r = client_receive(client, c->now_ns);
	}
	if (r < 0 && r != -EAGAIN)
		control_drop(c, client);
	else
		control_settle(c, client);
}

/* --- connections ------------------------------------------------------------------------- */

static void
listen_on(struct control *c, bool on)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &c->listener };

	if (c->accepting != on)
		(void)epoll_ctl(c->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, c->listener.fd, &e);
	c->accepting = on;
}

static enum methods_access
access_of(const struct control *c, int fd, uid_t uid, gid_t gid)
{
	if (uid == 0 || uid == geteuid())
		return METHODS_ROOT;
	if (c->has_group && peer_in_group(fd, uid, gid, c->group))
		return METHODS_MEMBER;
	return METHODS_ANYONE;
}

/* Others must get in whatever one user does, and root whatever all of them do. */
static bool
has_room(const struct control *c, uid_t uid)
{
	uint64_t max = c->context.config->max_clients, its = 0;
	const struct client *client;

	if (uid == 0)
		return c->nr_clients < max + CLIENTS_OF_ROOT;
	TAILQ_FOREACH(client, &c->clients, next)
		its += client->uid == uid;
	return c->nr_clients < max && (its < (max + 1) / 2 || uid == geteuid());
}

static void
add_client(struct control *c, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct client *client;
	uid_t process, uid;
	gid_t gid;

	if (peer_credentials(fd, &process, &gid) < 0) {
		descriptor_close_connection(fd, (uid_t)-1);
		return;
	}
	/* In a user namespace of his own a member is as many users as are his: he has one share. */
	uid = subuid_owner(process);
	if (!has_room(c, uid) || !descriptor_wanted(uid)) {
		descriptor_close_connection(fd, uid);
		return;
	}
	client = client_new(fd, uid, access_of(c, fd, process, gid), c->now_ns);
	if (!client)
		return;
	client->process = process;
	client->gid = gid;
	e.data.ptr = client;
	client->events = e.events;
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
		client_free(client);
		return;
	}
	TAILQ_INSERT_TAIL(&c->clients, client, next);
	c->nr_clients++;
	(void)control_turn(c, client);
}

static void
accept_some(struct control *c)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd = accept4(c->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			add_client(c, fd);
			continue;
		}
		/* Else the connection that cannot be taken would wake us for ever. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			log_user_warning(LOG_NO_USER, 1, "control: no connection can be taken: %s",
					 strerror(errno));
			listen_on(c, false);
		}
		return;
	}
}

static void
bury(struct control *c)
{
	struct client *client, *later;

	TAILQ_FOREACH_SAFE(client, &c->clients, next, later) {
		if (!client->dead)
			continue;
		TAILQ_REMOVE(&c->clients, client, next);
		c->nr_clients--;
		client_free(client);
	}
}

/* --- from outside ------------------------------------------------------------------------ */

void
control_dispatch(struct control *c, uint64_t now_ns)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t count;
	int n = epoll_wait(c->epoll, events, EVENTS_MAX, 0);

	c->now_ns = now_ns;
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == &c->listener)
			accept_some(c);
		else if (events[i].data.ptr == &c->again)
			(void)!read(c->again, &count, sizeof(count));
		else if (events[i].data.ptr == &c->turn)
			c->turn_is_near = read(c->turn, &count, sizeof(count)) < 0;
		else
			on_client(c, events[i].data.ptr, events[i].events);
	}
	control_serve_all(c);
	bury(c);
}

/* The next reply of a call with "more". */
static void
tell_progress(struct control *c, struct client *client)
{
	json_t *parameters;

	/* Who has not read the last one gets a later one; the time-out is for who never does. */
	if (!client->more || client->dead || client_unsent(client))
		return;
	if (client->wait == METHODS_MONITOR) {
		if (c->now_ns < client->next_ns)
			return;
		client->next_ns += client->wait_ns;
		if (client->next_ns <= c->now_ns)
			client->next_ns = c->now_ns + client->wait_ns;
		parameters = methods_status(&c->context);
	} else {
		if (client->wait != METHODS_CAPTURE)
			return;
		parameters = capture_calls_reply(c->captures, client->wait_id);
	}
	if (parameters)
		reply(c, client, NULL, parameters, true);
	control_settle(c, client);
}

void
control_tick(struct control *c, uint64_t now_ns)
{
	uint64_t timeout_ns = c->context.config->client_timeout;
	struct client *client;

	c->now_ns = now_ns;
	listen_on(c, true);
	TAILQ_FOREACH(client, &c->clients, next) {
		if (client_expired(client, now_ns, timeout_ns))
			control_drop(c, client);
		else if (client->wait != METHODS_ANSWERED)
			tell_progress(c, client);
	}
	bury(c);
	/* What a flood or a capture made the heap grow by stays with us otherwise, in holes. */
	if (c->used >= TRIM_CALLS) {
		(void)malloc_trim(0);
		c->used = 0;
	}
}

/* The last reply of a call that was waited for, if anybody still does. */
static void
answer_late(void *arg, void *who, const char *error, json_t *parameters)
{
	struct client *client = who;
	struct control *c = arg;

	if (!client) {
		json_decref(parameters);
		return;
	}
	client->wait = METHODS_ANSWERED;
	client->idle_ns = c->now_ns;
	if (client->silent)
		json_decref(parameters);
	else
		reply(c, client, error, parameters, false);
	client->silent = false;
	control_settle(c, client);
}

static void
on_capture_begun(void *arg, void *who)
{
	struct client *client = who;

	if (client && client->wait == METHODS_CAPTURE)
		tell_progress(arg, client);
}

static void
on_capture_ended(void *arg, void *who, const char *error, json_t *parameters)
{
	struct control *c = arg;

	c->used = TRIM_CALLS;
	answer_late(arg, who, error, parameters);
}

void
control_reloaded(struct control *c, uint64_t number, int r, const char *text)
{
	struct client *client;

	TAILQ_FOREACH(client, &c->clients, next) {
		struct method_call call = { .wait = METHODS_ANSWERED };

		if (client->dead || client->wait != METHODS_RELOAD || client->wait_id > number)
			continue;
		if (r < 0)
			method_call_fail(&call, r, text);
		else
			call.parameters = json_object();
		answer_late(c, client, call.error, call.parameters);
	}
}

static void
find_group(struct control *c)
{
	const char *name = c->context.config->control_group;

	c->has_group = peer_group_find(name, &c->group);
	if (!c->has_group)
		log_warning("control_group %s: no such group; only root is answered", name);
}

static int
open_descriptors(struct control *c, int listen_fd, char *text, size_t size)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &c->again };
	struct epoll_event turn = { .events = EPOLLIN, .data.ptr = &c->turn };

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->again = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->turn = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->epoll < 0 || c->again < 0 || c->turn < 0 ||
	    epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->again, &e) < 0 ||
	    epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->turn, &turn) < 0) {
		int error = -errno;

		snprintf(text, size, "control socket: %s", strerror(-error));
		return error;
	}
	if (listen_fd >= 0)
		return listener_adopt(&c->listener, listen_fd, text, size);
	return listener_open(&c->listener, c->context.config->control_socket,
			     c->has_group ? &c->group : NULL, text, size);
}

int
control_open(const struct control_context *context, int listen_fd, struct control **ret, char *text,
	     size_t size)
{
	struct control *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (!c)
		goto memory;
	c->context = *context;
	c->listener.fd = c->epoll = c->again = c->turn = -1;
	TAILQ_INIT(&c->clients);
	c->captures = capture_calls_new(streams_captures(context->streams), on_capture_begun,
					on_capture_ended, c);
	c->disk_calls = disk_calls_new(streams_chores(context->streams), answer_late, c);
	if (!c->captures || !c->disk_calls)
		goto memory;
	find_group(c);
	r = open_descriptors(c, listen_fd, text, size);
	if (r < 0) {
		control_close(c);
		return r;
	}
	listen_on(c, true);
	*ret = c;
	return 0;
memory:
	control_close(c);
	snprintf(text, size, "control socket: %s", strerror(ENOMEM));
	return r;
}

void
control_leave(struct control *c)
{
	listen_on(c, false);
	listener_close(&c->listener);
}

void
control_close(struct control *c)
{
	struct client *client;

	if (!c)
		return;
	capture_calls_free(c->captures);
	disk_calls_free(c->disk_calls);
	while ((client = TAILQ_FIRST(&c->clients))) {
		TAILQ_REMOVE(&c->clients, client, next);
		client_free(client);
	}
	listener_close(&c->listener);
	if (c->epoll >= 0)
		(void)close(c->epoll);
	if (c->again >= 0)
		(void)close(c->again);
	if (c->turn >= 0)
		(void)close(c->turn);
	free(c);
}

/* A socket that somebody removed lets nobody in any more. Who is in stays. */
static void
renew_listener(struct control *c)
{
	struct listener fresh = { .fd = -1 };
	char why[512] = "";

	if (!listener_lost(&c->listener))
		return;
	if (listener_open(&fresh, c->listener.path, c->has_group ? &c->group : NULL, why,
			  sizeof(why)) < 0) {
		log_error("%s", why);
		return;
	}
	log_notice("control_socket %s was removed: made again", fresh.path);
	listen_on(c, false);
	listener_close(&c->listener);
	c->listener = fresh;
	listen_on(c, true);
}

void
control_reload(struct control *c, const struct config *config)
{
	c->context.config = config;
	renew_listener(c);
}

int
control_fd(const struct control *c)
{
	return c->epoll;
}
