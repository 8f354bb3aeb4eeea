/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/text/screen_text.h"

#define ENTER "\033[?1049h\033[?25l\033[H\033[J" /* the other screen, no cursor, empty */
#define LEAVE "\033[?25h\033[?1049l"
#define ESCAPE 27
#define ESCAPE_MS 20 /* what belongs to a key comes at once */

/* Signals that ask to end, which is done in order; and those after which nothing is. */
static const int asking[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };

static struct termios before, raw;
static volatile sig_atomic_t is_open, resized, ended;

/* Only what a signal handler may do. */
static void
show(const char *text, size_t len)
{
	while (len > 0) {
		const ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void
enter(void)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	show(ENTER, strlen(ENTER));
	is_open = 1;
	resized = 1;
}

static void
leave(void)
{
	if (!is_open)
		return;
	is_open = 0;
	show(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void
on_asking(int sig)
{
	/* Asked twice, it does not wait for whatever takes so long. */
	if (ended) {
		leave();
		signal(sig, SIG_DFL);
		raise(sig);
	}
	ended = 1;
}

static void
on_fatal(int sig)
{
	leave();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* ^Z: the shell has its terminal, until it lets us go on. */
static void
on_stop(int sig)
{
	const int error = errno;

	(void)sig;
	leave();
	raise(SIGSTOP);
	enter();
	errno = error;
}

static void
on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static void
set_handlers(void (*how)(int sig), const int *signals, size_t n)
{
	struct sigaction action = { .sa_handler = how };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < n; i++)
		sigaction(signals[i], &action, NULL);
}

int
screen_open(void)
{
	static const int stop[] = { SIGTSTP }, resize[] = { SIGWINCH };

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
		return -1;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	ended = 0;
	set_handlers(on_asking, asking, sizeof(asking) / sizeof(asking[0]));
	set_handlers(on_fatal, fatal, sizeof(fatal) / sizeof(fatal[0]));
	set_handlers(on_stop, stop, 1);
	set_handlers(on_resize, resize, 1);
	atexit(leave);
	enter();
	return 0;
}

void
screen_close(void)
{
	leave();
}

void
screen_size(int *ret_lines, int *ret_columns)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0) {
		size.ws_row = 24;
		size.ws_col = 80;
	}
	*ret_lines = size.ws_row;
	*ret_columns = size.ws_col;
}

/* As much of a line as there is room for; colours (ESC ... m) take none. */
static void
put_line(FILE *out, const char *line, size_t len, int columns)
{
	const char *end = line + len;

	while (line < end) {
		const char *next = line;

		if (*line == ESCAPE) {
			while (next < end && *next != 'm')
				next++;
			next += next < end;
		} else {
			columns -= screen_text_next(&next);
		}
		if (columns >= 0)
			fwrite(line, 1, (size_t)(next - line), out);
		line = next;
	}
}

void
screen_draw(const char *text)
{
	int lines, columns;
	size_t len = 0;
	char *frame = NULL;
	FILE *out = open_memstream(&frame, &len);

	if (!out)
		return;
	screen_size(&lines, &columns);
	fputs("\033[H", out);
	for (int i = 0; i < lines && *text; i++) {
		const size_t n = strcspn(text, "\n");

		put_line(out, text, n, columns);
		/* The last line has no end: the terminal would scroll. */
		fputs(i + 1 < lines ? "\033[0m\033[K\r\n" : "\033[0m\033[K", out);
		text += n + (text[n] == '\n');
	}
	fputs("\033[J", out);
	if (fclose(out) == 0 && is_open)
		show(frame, len);
	free(frame);
}

static int
remaining_ms(const struct timespec *until)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (until->tv_sec - now.tv_sec) * 1000 + (until->tv_nsec - now.tv_nsec) / 1000000;
	return ms > 0 ? (int)ms : 0;
}

/* The rest of a key that is several bytes. */
static void
pass_over(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char rest[32];

	while (poll(&p, 1, ESCAPE_MS) > 0 && read(STDIN_FILENO, rest, sizeof(rest)) > 0)
		;
}

int
screen_key(int timeout_ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec until;
	unsigned char key;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	for (;;) {
		int n;

		if (ended)
			return SCREEN_ENDED;
		if (resized) {
			resized = 0;
			return SCREEN_REDRAW;
		}
		/* A signal between that and this is seen a moment later. */
		n = remaining_ms(&until);
		if (n == 0)
			return SCREEN_TIMEOUT;
		n = poll(&p, 1, n < 200 ? n : 200);
		if (n <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1) {
			if (errno == EINTR)
				continue;
			return SCREEN_ENDED;
		}
		if (key != ESCAPE)
			return key;
		pass_over();
	}
}
