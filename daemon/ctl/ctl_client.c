/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ctl/ctl_client.h"

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#include "daemon/ctl/ctl_print.h"

#define INTERFACE "io.spoor.Recorder."
#define RECEIVE_BYTES (64u << 10)

void
ctl_client_init(struct ctl_client *c, const char *path)
{
	*c = (struct ctl_client){ .path = path, .fd = -1 };
	buf_init(&c->in);
}

void
ctl_client_done(struct ctl_client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	buf_done(&c->in);
	c->used = 0;
}

/* --- what went wrong --------------------------------------------------------------------- */

static const char *
group_of(const char *path)
{
	const struct group *g;
	struct stat st;

	if (stat(path, &st) < 0 || st.st_gid == 0)
		return "spoor";
	g = getgrgid(st.st_gid);
	return g ? g->gr_name : "spoor";
}

static int
cannot_connect(const struct ctl_client *c, int error)
{
	fprintf(stderr, "spoorctl: cannot connect to ");
	ctl_print_text(stderr, c->path);
	fprintf(stderr, ": %s", strerror(error));
	if (error == EACCES)
		fprintf(stderr, ": you are not root, and not a member of group %s",
			group_of(c->path));
	else if (error == ENOENT || error == ECONNREFUSED)
		fprintf(stderr, ": is spoord running? systemctl status spoord");
	fputc('\n', stderr);
	return CTL_FAILED;
}

static const char *
text_of(const struct varlink_reply *reply, const char *key)
{
	const char *s = json_string_value(json_object_get(reply->parameters, key));

	return s ? s : "?";
}

static void
tell_error(const struct ctl_client *c, const struct varlink_reply *reply)
{
	const char *e = reply->error;

	fprintf(stderr, "spoorctl: ");
	if (strcmp(e, INTERFACE "Failed") == 0) {
		ctl_print_text(stderr, text_of(reply, "message"));
	} else if (strcmp(e, INTERFACE "LimitExceeded") == 0) {
		ctl_print_text(stderr, text_of(reply, "limit"));
		fprintf(stderr, " of spoord's configuration allows no more than %lld%s",
			(long long)json_integer_value(json_object_get(reply->parameters, "value")),
			strcmp(text_of(reply, "limit"), "max_capture_time") == 0 ? " s" : "");
	} else if (strcmp(e, INTERFACE "NoSuchCapture") == 0) {
		fprintf(stderr, "no such capture is running");
	} else if (strcmp(e, VARLINK_PERMISSION_DENIED) == 0) {
		fprintf(stderr,
			"permission denied: this is for root, or you are not a member of group %s",
			group_of(c->path));
	} else if (strcmp(e, VARLINK_INVALID_PARAMETER) == 0) {
		fprintf(stderr, "spoord refuses this value of ");
		ctl_print_text(stderr, text_of(reply, "parameter"));
	} else {
		fprintf(stderr, "spoord answers ");
		ctl_print_text(stderr, e);
	}
	fputc('\n', stderr);
}

/* --- bytes ------------------------------------------------------------------------------- */

static int
connect_to(struct ctl_client *c)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlcpy(address.sun_path, c->path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		return cannot_connect(c, ENAMETOOLONG);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return cannot_connect(c, errno);
	return CTL_DONE;
}

static int
send_bytes(int fd, const uint8_t *p, size_t n, int pass)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = CMSG_LEN(sizeof(int)) } };

	memcpy(CMSG_DATA(&control.header), &pass, sizeof(pass));
	while (n > 0) {
		struct iovec part = { (void *)(uintptr_t)p, n };
		struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
		ssize_t sent;

		if (pass >= 0) {
			m.msg_control = control.room;
			m.msg_controllen = sizeof(control.room);
		}
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		/* It went with the first byte. */
		pass = -1;
		p += sent;
		n -= (size_t)sent;
	}
	return 0;
}

int
ctl_client_send(struct ctl_client *c, const char *method, json_t *parameters, bool more, int pass)
{
	char name[VARLINK_METHOD_BYTES];
	struct buf out;
	int r;

	if (c->fd < 0 && connect_to(c) != CTL_DONE) {
		json_decref(parameters);
		return CTL_FAILED;
	}
	buf_init(&out);
	snprintf(name, sizeof(name), INTERFACE "%s", method);
	r = varlink_call_print(&out, name, parameters, more);
	if (r == 0 && out.len > VARLINK_MESSAGE_BYTES) {
		warnx("the call has %zu bytes, and spoord takes %u at most: ask for less",
		      (size_t)out.len, VARLINK_MESSAGE_BYTES);
		buf_done(&out);
		return CTL_FAILED;
	}
	if (r == 0)
		r = send_bytes(c->fd, out.p, out.len, pass);
	buf_done(&out);
	if (r < 0)
		warnx("cannot talk to spoord: %s", strerror(-r));
	return r < 0 ? CTL_FAILED : CTL_DONE;
}

/* Reads until there is a NUL. 0, -errno; -EPIPE: the daemon is gone. */
static int
ctl_client_fill(struct ctl_client *c)
{
	c->in.len -= c->used;
	if (c->used)
		memmove(c->in.p, c->in.p + c->used, c->in.len);
	c->used = 0;
	while (!c->in.len || !memchr(c->in.p, 0, c->in.len)) {
		uint8_t *to = buf_reserve(&c->in, RECEIVE_BYTES);
		ssize_t n;

		if (!to)
			return -ENOMEM;
		if (c->in.len > VARLINK_REPLY_BYTES)
			return -EMSGSIZE;
		n = recv(c->fd, to, RECEIVE_BYTES, 0);
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EPIPE;
		c->in.len += (size_t)n;
	}
	return 0;
}

int
ctl_client_receive(struct ctl_client *c, struct varlink_reply *ret)
{
	struct varlink_reply reply;
	size_t n;
	int r = ctl_client_fill(c);

	if (r == 0) {
		n = strlen((const char *)c->in.p);
		c->used = n + 1;
		r = varlink_reply_parse((const char *)c->in.p, n, &reply);
	}
	if (r == -EINTR)
		return r;
	if (r == -EPIPE || r == -ECONNRESET) {
		warnx("spoord closed the connection: it ended, or has too many clients");
		return CTL_FAILED;
	}
	if (r < 0) {
		warnx("what spoord answers cannot be read: %s", strerror(-r));
		return CTL_FAILED;
	}
	if (reply.error) {
		tell_error(c, &reply);
		json_decref(reply.message);
		return CTL_FAILED;
	}
	*ret = reply;
	return CTL_DONE;
}

int
ctl_client_call(struct ctl_client *c, const char *method, json_t *parameters,
		struct varlink_reply *ret)
{
	int r = ctl_client_send(c, method, parameters, false, -1);

	if (r != CTL_DONE)
		return r;
	do {
		r = ctl_client_receive(c, ret);
	} while (r == -EINTR);
	if (r == CTL_DONE && c->json)
		ctl_client_print_json(ret->parameters);
	return r;
}

void
ctl_client_print_json(const json_t *j)
{
	/* No byte of a name is more than a terminal may see. */
	(void)json_dumpf(j, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	(void)fflush(stdout);
}
