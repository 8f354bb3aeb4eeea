/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/text/screen_text.h"

/* As perf: both ways, so that whoever comes and goes at the other end makes no end of it. */
static int
open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		screen_text_warn("--control: %s: %s", path, strerror(errno));
	return fd;
}

/* Our own are closed at exec, the recording's among them: what we were given is not. */
static int
take_descriptor(const char *text)
{
	const char *problem;
	int fd = (int)strtonum(text, 0, INT32_MAX, &problem), flags = -1;

	if (!problem)
		flags = fcntl(fd, F_GETFD);
	if (flags >= 0 && !(flags & FD_CLOEXEC))
		return fd;
	screen_text_warn("--control: %s is no descriptor that was open at the start", text);
	return -1;
}

int
record_control_open(struct record_control *c, const char *how)
{
	const char *colon = strchr(how, ':');
	char *copy, *rest, *name;
	bool fifo = strncmp(how, "fifo:", 5) == 0;
	int status = CLI_GO_ON;

	if (!colon || !colon[1] || (!fifo && strncmp(how, "fd:", 3) != 0))
		return cli_usage_error("record", "--control %s: fd:N[,N] or fifo:PATH[,PATH]", how);
	copy = rest = strdup(colon + 1);
	if (!copy)
		return cli_no_memory();
	c->owned = fifo;
	name = strsep(&rest, ",");
	c->fd = fifo ? open_fifo(name) : take_descriptor(name);
	if (rest)
		c->ack_fd = fifo ? open_fifo(rest) : take_descriptor(rest);
	if (c->fd < 0 || (rest && c->ack_fd < 0))
		status = EXIT_FAILED;
	free(copy);
	return status;
}

/* Whoever does not read it misses it: the recording waits for nobody. */
static void
answer(const struct record_control *c)
{
	if (c->ack_fd >= 0 && poll(&(struct pollfd){ c->ack_fd, POLLOUT, 0 }, 1, 0) > 0 &&
	    write(c->ack_fd, "ack\n", 4) < 0)
		screen_text_warn("--control: no answer can be written: %s", strerror(errno));
}

/* Commands end in a line's end or in NUL. */
void
record_control_take(struct record_control *c, record_control_fn *obey, void *arg)
{
	char *end;
	ssize_t n = read(c->fd, c->line + c->bytes, sizeof(c->line) - c->bytes);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* Nobody is at the other end any more; a descriptor of somebody's is not ours to close. */
		if (c->owned)
			close(c->fd);
		c->fd = -1;
		return;
	}
	c->bytes += (size_t)n;
	for (;;) {
		size_t line = 0;

		while (line < c->bytes && c->line[line] && c->line[line] != '\n')
			line++;
		if (line == c->bytes)
			break;
		end = c->line + line;
		*end = '\0';
		if (line && !c->skipping && obey(arg, c->line))
			answer(c);
		c->skipping = false;
		c->bytes -= line + 1;
		memmove(c->line, end + 1, c->bytes);
	}
	if (c->bytes == sizeof(c->line)) {
		if (!c->skipping)
			screen_text_warn("--control: a line of more than %d bytes is no command",
					 RECORD_CONTROL_BYTES);
		c->skipping = true;
		c->bytes = 0;
	}
}

void
record_control_done(struct record_control *c)
{
	if (c->owned && c->fd >= 0)
		close(c->fd);
	if (c->owned && c->ack_fd >= 0)
		close(c->ack_fd);
}
