/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spoord: the service. Ties configuration, archive, streams and control together in one loop
 * of one thread: epoll over a signalfd, a timerfd of a second, the control socket and the
 * streams. It must never block on a client; what may block on a disk has threads: those of the
 * sessions, and chores.h.
 *
 * Always in the foreground: the service manager is told by sd_notify(3) what goes on.
 */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "daemon/control/control.h"
#include "daemon/process/chores.h"
#include "daemon/process/log.h"
#include "daemon/process/notify.h"
#include "daemon/process/watchdog.h"
#include "daemon/stream/configured.h"
#include "daemon/stream/streams.h"
#include "format/bytes/option_wrong.h"
#include "recorder/ground/descriptor_limit.h"
#include "recorder/helper/helper.h"
#include "recorder/host/host.h"

#define EXIT_USAGE 2
#define EXIT_CONFIG 78 /* EX_CONFIG of sysexits.h: the unit does not restart after it */

#define ARCHIVE_TICK_S 5
#define STATUS_TICK_S 10

struct options {
	const char *config; /* NULL: CONFIG_PATH, which may be missing */
	bool check;
};

/* What the archive does beside taking bytes: one at a time. */
struct archive_chore {
	struct chore chore;
	struct archive *archive;
	const struct config *config; /* to be taken; NULL: just what is due */
	bool asked;
};

/* A reload, from the file to the last one who has to know. Asked for meanwhile: one more. */
struct reload {
	uint64_t number, wanted; /* the last one begun; the last one asked for */
	bool busy;
	struct config *config; /* not in force yet */
	int result;	       /* -EINPROGRESS: a session is being opened */
	char text[600];
};

struct spoord {
	const char *config_path;
	struct config *config;
	struct reload reload;
	struct archive_chore tick, limits;
	struct archive *archive;
	struct streams *streams;
	struct control *control;
	struct watchdog watchdog;
	int listen_fd; /* of socket activation, until control has it; -1: none */
	int epoll_fd, signal_fd, timer_fd;
	uint64_t seconds; /* ticks */
	bool stopped;
	bool lost; /* what only the service manager can give again */
};

/* --- starting ---------------------------------------------------------------------------- */

static int
spoord_watch(struct spoord *d, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

/* Signals are blocked before there is a thread, so that none of them takes one. */
static int
open_loop(struct spoord *d)
{
	const struct itimerspec each_second = { { 1, 0 }, { 1, 0 } };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	/* Writes fail instead, with EPIPE and EFBIG. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->epoll_fd < 0 || d->signal_fd < 0 || d->timer_fd < 0)
		return -errno;
	if (timerfd_settime(d->timer_fd, 0, &each_second, NULL) < 0 ||
	    spoord_watch(d, d->signal_fd) < 0 || spoord_watch(d, d->timer_fd) < 0)
		return -errno;
	return 0;
}

static uint64_t spoord_reload(void *arg);

static int
open_control(struct spoord *d)
{
	const struct control_context context = {
		.config = d->config,
		.archive = d->archive,
		.streams = d->streams,
		.reload = spoord_reload,
		.arg = d,
	};
	char why[512] = "";
	int r = control_open(&context, d->listen_fd, &d->control, why, sizeof(why));

	if (r < 0)
		log_error("%s", why);
	return r;
}

static int
open_all(struct spoord *d)
{
	struct session_error error = { .text = "" };
	int r = open_loop(d);

	if (r < 0) {
		log_error("cannot set up the main loop: %s", strerror(-r));
		return r;
	}
	r = archive_open(d->config, &d->archive, &error);
	if (r == 0)
		r = streams_open(d->config, d->archive, &d->streams, &error);
	if (r < 0) {
		log_error("%s", error.text);
		return r;
	}
	r = open_control(d);
	if (r < 0)
		return r;
	if (spoord_watch(d, control_fd(d->control)) < 0 ||
	    spoord_watch(d, streams_fd(d->streams)) < 0) {
		r = -errno;
		log_error("cannot watch: %s", strerror(-r));
	}
	return r;
}

static void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void
close_all(struct spoord *d)
{
	/* Captures end in there, and who waits for one is told what it has. */
	if (d->control)
		control_leave(d->control);
	streams_close(d->streams);
	control_close(d->control);
	archive_close(d->archive);
	config_free(d->reload.config);
	config_free(d->config);
	close_fd(d->epoll_fd);
	close_fd(d->signal_fd);
	close_fd(d->timer_fd);
}

/* --- running ----------------------------------------------------------------------------- */

static void
tell_status(struct spoord *d)
{
	struct streams_status s;
	struct archive_usage u;

	streams_status(d->streams, &s);
	archive_usage(d->archive, &u);
	(void)notify_send("STATUS=%llu samples, %llu lost; %llu Hz on %u CPUs%s%s%s; "
			  "archive %llu of %llu MiB, %u segments; %u captures\n",
			  (unsigned long long)s.base.samples, (unsigned long long)s.base.lost,
			  (unsigned long long)s.base.frequency_hz, s.base.cpus,
			  s.governor[0] ? ", lowered: " : "", s.governor,
			  s.base.suspended ? ", writing is suspended" : "",
			  (unsigned long long)u.bytes >> 20, (unsigned long long)u.max_use >> 20,
			  u.segments, s.captures);
}

static void
run_archive(struct chore *one)
{
	struct archive_chore *c = (struct archive_chore *)one;
	struct clock_triple now;

	if (c->config) {
		archive_reload(c->archive, c->config);
		return;
	}
	host_clocks(&now);
	archive_tick(c->archive, &now);
}

static void
archive_done(struct chore *one)
{
	((struct archive_chore *)one)->asked = false;
}

static void
ask_archive(struct spoord *d, struct archive_chore *c, const struct config *config)
{
	if (c->asked)
		return;
	c->asked = true;
	c->archive = d->archive;
	c->config = config;
	c->chore.run = run_archive;
	c->chore.done = archive_done;
	chores_add(streams_chores(d->streams), &c->chore);
}

/* --- reload ------------------------------------------------------------------------------ */

static int
fail_reload(struct reload *l, int r, const char *text)
{
	snprintf(l->text, sizeof(l->text), "%s", text);
	config_free(l->config);
	l->config = NULL;
	return r;
}

/* The configuration anew. On any error the old one stays in force, and text says why. */
static int
read_config(struct spoord *d)
{
	struct session_error session_error = { .text = "" };
	struct config_error config_error = { .text = "", .events = configured_check_events };
	struct reload *l = &d->reload;
	int r = config_read(d->config_path, &l->config, &config_error);

	if (r < 0) {
		fail_reload(l, r, config_error.text);
		if (config_error.more > 0)
			snprintf(l->text + strlen(l->text), sizeof(l->text) - strlen(l->text),
				 " (and %u more, which spoord -n lists)", config_error.more);
		return r;
	}
	r = streams_reload(d->streams, l->config, &session_error);
	if (r < 0 && r != -EINPROGRESS)
		return fail_reload(l, r, session_error.text);
	return r;
}

/* The streams have it. */
static void
take_config(struct spoord *d)
{
	struct config *c = d->reload.config;
	char restart[256] = "";

	config_restart_keys(d->config, c, restart, sizeof(restart));
	if (restart[0])
		log_warning("the configuration asks for a restart: %s", restart);
	config_swap_restart_keys(d->config, c);
	control_reload(d->control, c);
	ask_archive(d, &d->limits, c);
	config_free(d->config);
	d->config = c;
	d->reload.config = NULL;
}

static void
begin_reload(struct spoord *d)
{
	struct reload *l = &d->reload;

	(void)notify_send("RELOADING=1\nMONOTONIC_USEC=%llu",
			  (unsigned long long)host_now_ns() / 1000);
	l->number = l->wanted;
	l->busy = true;
	l->text[0] = '\0';
	l->result = read_config(d);
}

static void
end_reload(struct spoord *d)
{
	struct reload *l = &d->reload;

	l->busy = false;
	if (l->result < 0)
		log_error("%s; the old configuration stays in force", l->text);
	else
		log_notice("configuration reloaded");
	(void)notify_send("READY=1");
	tell_status(d);
	control_reloaded(d->control, l->number, l->result, l->text);
}

/* Each round of the loop: goes on with what is under way, and begins what has been asked for. */
static void
go_on_reloading(struct spoord *d)
{
	struct session_error error = { .text = "" };
	struct reload *l = &d->reload;

	if (!l->busy && l->wanted > l->number && !d->limits.asked)
		begin_reload(d);
	if (!l->busy)
		return;
	if (l->result == -EINPROGRESS) {
		l->result = streams_reloaded(d->streams, l->config, &error);
		if (l->result == -EINPROGRESS)
			return;
		if (l->result < 0)
			(void)fail_reload(l, l->result, error.text);
	}
	if (l->config)
		take_config(d);
	/* Also the archive's limits are those of the file when this is answered. */
	if (!d->limits.asked)
		end_reload(d);
}

static uint64_t
spoord_reload(void *arg)
{
	struct spoord *d = arg;

	/* One that has read the file already may not have seen what this one is about. */
	d->reload.wanted = d->reload.number + 1;
	return d->reload.wanted;
}

/* --- the loop ---------------------------------------------------------------------------- */

static void
take_signals(struct spoord *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			(void)spoord_reload(d);
		else
			d->stopped = true;
	}
}

/*
 * A service that may write to nothing but its own directory cannot make it again when somebody
 * has removed it: all above is read-only. A new process gets a new one.
 */
static void
look_for_directory(struct spoord *d)
{
	const char *path = d->config->archive_directory;
	struct archive_usage u;

	archive_usage(d->archive, &u);
	d->lost = u.astray == -EROFS && notify_makes(path);
	if (!d->lost)
		return;
	log_error("archive_directory %s is gone, and can only be made again from outside: this "
		  "process ends, so that the service manager starts another one",
		  path);
	d->stopped = true;
}

static void
tick(struct spoord *d, uint64_t now_ns)
{
	uint64_t expired;

	if (read(d->timer_fd, &expired, sizeof(expired)) < 0)
		return;
	d->seconds++;
	log_tick(now_ns);
	control_tick(d->control, now_ns);
	if (d->seconds % ARCHIVE_TICK_S == 0)
		ask_archive(d, &d->tick, NULL);
	look_for_directory(d);
	if (d->seconds % STATUS_TICK_S == 0)
		tell_status(d);
	watchdog_tick(&d->watchdog, streams_alive(d->streams, now_ns), now_ns);
}

static int
spoord_loop(struct spoord *d)
{
	struct epoll_event events[8];

	while (!d->stopped) {
		int n = epoll_wait(d->epoll_fd, events, 8, -1);
		uint64_t now_ns = host_now_ns();

		if (n < 0 && errno != EINTR) {
			const int r = -errno;

			log_error("epoll_wait: %s", strerror(-r));
			return r;
		}
		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == d->signal_fd)
				take_signals(d);
			else if (fd == control_fd(d->control))
				control_dispatch(d->control, now_ns);
			else if (fd == d->timer_fd)
				tick(d, now_ns);
		}
		/* On its own descriptor and each second: whatever woke us, it costs nothing. */
		if (n > 0) {
			streams_dispatch(d->streams, now_ns);
			go_on_reloading(d);
		}
	}
	return d->lost ? -EROFS : 0;
}

static int
spoord_serve(struct spoord *d)
{
	int r;

	umask(027);
	/* Changes the environment, which threads that log look into. */
	d->listen_fd = notify_listen_fd();
	r = open_all(d);
	if (r == 0) {
		watchdog_init(&d->watchdog);
		log_notice("version %s, recording into %s", SPOOR_VERSION,
			   d->config->archive_directory);
		(void)notify_send("READY=1");
		tell_status(d);
		r = spoord_loop(d);
		(void)notify_send("STOPPING=1\nSTATUS=writing what is left\n"
				  "EXTEND_TIMEOUT_USEC=5000000");
	}
	close_all(d);
	log_tick(UINT64_MAX);
	if (r == 0)
		log_notice("stopped");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- command line ------------------------------------------------------------------------ */

static void
usage(void)
{
	fputs("usage: spoord [-n] [-c FILE] [--foreground]\n"
	      "\n"
	      "  -c, --config FILE   configuration (default " CONFIG_PATH ")\n"
	      "  -n, --check         check the configuration, print it in canonical form, exit\n"
	      "      --foreground    stay in the foreground, as it always does\n"
	      "      --version       print the version\n"
	      "      --help          print this, and the keys of the configuration\n",
	      stdout);
}

/* -1: go on; else what to exit with. */
static int
spoord_parse(int argc, char **argv, struct options *o)
{
	enum { OPT_FOREGROUND = 256, OPT_VERSION, OPT_HELP };
	static const struct option names[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'n' },
		{ "foreground", no_argument, NULL, OPT_FOREGROUND },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	char wrong[OPTION_WRONG_BYTES];
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:n", names, NULL)) >= 0) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case 'n':
			o->check = true;
			break;
		case OPT_FOREGROUND:
			break;
		case OPT_VERSION:
			puts("spoord " SPOOR_VERSION);
			return EXIT_SUCCESS;
		case OPT_HELP:
			usage();
			puts("\nkeys of the configuration, with their defaults; see spoord.conf(5):");
			config_help(stdout);
			return EXIT_SUCCESS;
		default:
			option_wrong_text(c, argv, names, wrong, sizeof(wrong));
			fprintf(stderr, "spoord: %s (spoord --help)\n", wrong);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "spoord: %s: no arguments are taken\n", argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

static void
log_each(const char *text)
{
	log_error("%s", text);
}

int
main(int argc, char **argv)
{
	struct spoord d = { .epoll_fd = -1, .signal_fd = -1, .timer_fd = -1 };
	struct config_error error = { .each = log_each, .events = configured_check_events };
	struct options o = { .config = NULL };
	int status = spoord_parse(argc, argv, &o);

	if (status >= 0)
		return status;
	/* Threads that come and go would leave a heap each, with holes. */
	(void)mallopt(M_ARENA_MAX, 1);
	/* The first one that glibc has: raised by each large buffer that is freed, it leaves such holes. */
	(void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
	if (o.check)
		error.events = configured_try_events;
	if (config_read(o.config, &d.config, &error) < 0)
		return o.check ? EXIT_FAILURE : EXIT_CONFIG;
	if (o.check) {
		config_print(d.config, stdout);
		config_free(d.config);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	d.config_path = o.config;
	/* Now, while there is one thread, and little memory that it would share. */
	descriptor_limit_raise();
	(void)helper_start();
	return spoord_serve(&d);
}
