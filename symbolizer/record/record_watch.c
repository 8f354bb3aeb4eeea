/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/io.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/record/record_command.h"
#include "symbolizer/record/record_control.h"
#include "symbolizer/record/size_sink.h"
#include "symbolizer/text/screen_text.h"

#define MS_NS UINT64_C(1000000)
#define DELAY_MS_MAX (INT64_C(1) << 40)
#define FILES_MAX 100000

struct record_watch {
	const struct record_watch_options *options;
	struct record_output *out;
	struct session *session;
	pthread_t thread;
	bool started;
	int wake_fd, trigger_fd;
	struct record_control control;
	struct record_command command;
	atomic_bool ending;
	atomic_bool full; /* the file has as many bytes as it may */
	bool reached;	  /* --max-size: it ends */
	uint64_t start_ns, file_ns;
	size_t nr_past; /* of options->times_ns */
	char **files;	/* a ring of files_max names */
	uint64_t nr_files;
};

/* SIGUSR2: the handler knows nobody else. */
static volatile sig_atomic_t switch_asked;
static volatile sig_atomic_t switch_fd = -1;

static void
on_switch_signal(int sig)
{
	int saved = errno;

	(void)sig;
	switch_asked = 1;
	if (switch_fd >= 0)
		(void)eventfd_write(switch_fd, 1);
	errno = saved;
}

static uint64_t
watch_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MS_NS + (uint64_t)t.tv_nsec;
}

/* --- options ----------------------------------------------------------------------------- */

/* A number and one of units; false: not that. *ret_unit: which. */
static bool
watch_number(const char *text, const char *units, uint64_t *ret, size_t *ret_unit)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] && !text[digits + 1] ? strchr(units, text[digits]) : NULL;
	const char *problem;
	char number[20];

	if (!unit || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	*ret = (uint64_t)strtonum(number, 1, INT64_MAX, &problem);
	*ret_unit = (size_t)(unit - units);
	return !problem;
}

bool
record_watch_size(const char *text, uint64_t *ret)
{
	const char *problem;
	uint64_t n;
	size_t unit;

	if (watch_number(text, "BKMG", &n, &unit) && n <= (uint64_t)INT64_MAX >> 10 * unit) {
		*ret = n << 10 * unit;
		return true;
	}
	n = (uint64_t)strtonum(text, 1, INT64_MAX, &problem);
	if (!problem)
		*ret = n;
	return !problem;
}

/* Numbers of milliseconds that rise, in at most 32 pairs A-B with commas. */
static bool
watch_windows(struct record_watch_options *o, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one;
	bool good = copy;
	uint64_t last = 0;

	while (good && (one = strsep(&rest, ","))) {
		char *from = strsep(&one, "-");
		const char *problem, *problem2 = "";
		uint64_t a = (uint64_t)strtonum(from, 0, DELAY_MS_MAX, &problem), b = 0;

		if (one)
			b = (uint64_t)strtonum(one, 1, DELAY_MS_MAX, &problem2);
		good = !problem && !problem2 && b > a && (a > last || o->nr_times == 0) &&
			o->nr_times + 2 <= RECORD_WATCH_TIMES;
		if (!good)
			break;
		o->times_ns[o->nr_times++] = a * MS_NS;
		o->times_ns[o->nr_times++] = b * MS_NS;
		last = b;
	}
	free(copy);
	return good;
}

static int
set_delay(struct record_watch_options *o, const char *text)
{
	const char *problem;
	long long ms = strtonum(text, -1, DELAY_MS_MAX, &problem);

	o->nr_times = 0;
	if (!problem && ms >= 0)
		o->times_ns[o->nr_times++] = (uint64_t)ms * MS_NS;
	if (problem && !watch_windows(o, text))
		return cli_usage_error("record",
				       "-D %s: milliseconds, -1, or times that rise such as "
				       "10-20,30-40, of which there may be %d",
				       text, RECORD_WATCH_TIMES / 2);
	/* What begins at once begins with the command, not when a thread gets to it. */
	o->disabled = o->nr_times == 0 || o->times_ns[0] > 0;
	return CLI_GO_ON;
}

static int
set_trigger(struct record_watch_options *o, const char *text)
{
	if (o->trigger)
		return cli_usage_error("record", "--switch-output-event: one EVENT is watched");
	o->trigger = text;
	o->switches = o->stamp = true;
	return CLI_GO_ON;
}

static int
set_switch(struct record_watch_options *o, const char *text)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	uint64_t n;
	size_t unit;

	o->switches = o->stamp = true;
	if (!text || strcmp(text, "signal") == 0)
		return CLI_GO_ON;
	if (watch_number(text, "smhd", &n, &unit) &&
	    n <= INT64_MAX / (seconds[unit] * 1000 * MS_NS))
		o->switch_ns = n * seconds[unit] * 1000 * MS_NS;
	else if (!record_watch_size(text, &o->switch_bytes))
		return cli_usage_error("record",
				       "--switch-output=%s: signal, a size such as 100M, or a time "
				       "such as 30s",
				       text);
	return CLI_GO_ON;
}

int
record_watch_set(struct record_watch_options *o, int value, const char *text)
{
	const char *problem;

	switch (value) {
	case 'D':
		return set_delay(o, text);
	case RECORD_WATCH_CONTROL:
		o->control = text;
		return CLI_GO_ON;
	case RECORD_WATCH_MAX_SIZE:
		if (record_watch_size(text, &o->max_bytes))
			return CLI_GO_ON;
		return cli_usage_error("record", "--max-size %s: a size such as 10M", text);
	case RECORD_WATCH_SWITCH:
		return set_switch(o, text);
	case RECORD_WATCH_TRIGGER:
		return set_trigger(o, text);
	case RECORD_WATCH_OVERWRITE:
		o->overwrite = true;
		return CLI_GO_ON;
	case RECORD_WATCH_MAX_FILES:
		o->files_max = (uint32_t)strtonum(text, 1, FILES_MAX, &problem);
		if (!problem)
			return CLI_GO_ON;
		return cli_usage_error("record", "--switch-max-files %s: %s", text, problem);
	case RECORD_WATCH_STAMP:
		o->stamp = true;
		return CLI_GO_ON;
	}
	return cli_usage_error("record", "option not handled");
}

/* --- files ------------------------------------------------------------------------------- */

static void
tell(const struct record_watch *w, const char *text, const char *more)
{
	if (!w->options->quiet)
		screen_text_warn("%s%s", text, more);
}

/* On the thread that writes. */
static void
on_full(void *arg)
{
	struct record_watch *w = arg;

	w->full = true;
	(void)eventfd_write(w->wake_fd, 1);
}

static uint64_t
file_bytes(const struct record_watch_options *o)
{
	uint64_t max = o->max_bytes, next = o->switch_bytes;

	return next && (!max || next < max) ? next : max;
}

/* Of a file that the session is to write, by its descriptor. NULL: out of memory. */
static struct io_sink *
watch_sink(struct record_watch *w, int fd)
{
	uint64_t bytes = file_bytes(w->options);

	return bytes ? size_sink_new(fd, bytes, on_full, w) : io_sink_fd(fd);
}

/* Together with the one that is being written there are files_max: the oldest goes. */
static void
keep_file(struct record_watch *w, char *name)
{
	uint32_t keep = w->options->files_max;
	char **place;

	tell(w, "recorded ", name);
	w->nr_files++;
	if (!keep) {
		free(name);
		return;
	}
	place = &w->files[w->nr_files % keep];
	*place = name;
	place = &w->files[(w->nr_files + 1) % keep];
	if (*place)
		(void)unlink(*place);
	free(*place);
	*place = NULL;
}

/* False: it goes on in the same file, which was said. */
static bool
switch_file(void *arg)
{
	struct session_error error = { 0 };
	struct record_watch *w = arg;
	struct record_output_next next;
	struct io_sink *sink;
	int r;

	w->file_ns = watch_now_ns();
	if (w->out->lock_fd < 0) {
		screen_text_warn("no new file is begun: the output is not a regular file");
		return false;
	}
	if (record_output_begin(w->out, &next) != EXIT_DONE)
		return false;
	sink = watch_sink(w, next.fd);
	if (!sink) {
		close(next.fd);
		record_output_undo_next(w->out, &next);
		return false;
	}
	r = w->options->overwrite ? session_dump(w->session, sink, &error)
				  : session_rotate(w->session, sink, &error);
	w->full = false;
	/* Over meanwhile: the end gives the file its name. */
	if (r < 0) {
		record_output_undo_next(w->out, &next);
		if (r != -ESHUTDOWN)
			screen_text_warn("%s", error.text);
		return false;
	}
	if (r > 0)
		screen_text_warn("%s", error.text);
	keep_file(w, record_output_take_next(w->out, &next));
	return true;
}

static bool
take_snapshot(struct record_watch *w)
{
	struct session_error error = { 0 };
	int r = session_snapshot(w->session, &error);

	/* Over meanwhile: the end takes one as well. */
	if (r < 0 && r != -ESHUTDOWN)
		screen_text_warn("%s", error.text);
	else if (r == 0)
		tell(w, "recorded what the AUX areas had", "");
	return r == 0;
}

/* What SIGUSR2 is for, and snapshot by --control: a snapshot goes into the file that then ends. */
static bool
keep_moment(void *arg)
{
	struct record_watch *w = arg;
	const struct record_watch_options *o = w->options;
	bool done = !o->snapshots || take_snapshot(w);

	if (!o->snapshots || o->switches)
		done &= switch_file(w);
	return done;
}

static void
look_at_size(struct record_watch *w)
{
	const struct record_watch_options *o = w->options;

	if (!atomic_exchange(&w->full, false))
		return;
	if (w->reached)
		return;
	if (o->max_bytes && o->max_bytes == file_bytes(o)) {
		w->reached = true;
		tell(w, "the recording has the size of --max-size: it ends", "");
		session_stop(w->session);
	} else {
		(void)switch_file(w);
	}
}

/* --- the thread -------------------------------------------------------------------------- */

static void
look_at_time(struct record_watch *w)
{
	const struct record_watch_options *o = w->options;
	uint64_t now_ns = watch_now_ns();

	while (w->nr_past < o->nr_times && now_ns >= w->start_ns + o->times_ns[w->nr_past])
		(void)record_command_turn(&w->command, NULL, w->nr_past++ % 2 == 0);
	if (o->switch_ns && now_ns >= w->file_ns + o->switch_ns)
		(void)switch_file(w);
}

/* Milliseconds until there is something to do; -1: nobody knows. */
static int
watch_wait_ms(const struct record_watch *w)
{
	const struct record_watch_options *o = w->options;
	uint64_t now_ns = watch_now_ns(), due_ns = UINT64_MAX;

	if (w->nr_past < o->nr_times)
		due_ns = w->start_ns + o->times_ns[w->nr_past];
	if (o->switch_ns && w->file_ns + o->switch_ns < due_ns)
		due_ns = w->file_ns + o->switch_ns;
	if (due_ns == UINT64_MAX)
		return -1;
	if (due_ns <= now_ns)
		return 0;
	due_ns = (due_ns - now_ns + MS_NS - 1) / MS_NS;
	return due_ns < INT32_MAX ? (int)due_ns : INT32_MAX;
}

static bool
obey(void *arg, const char *line)
{
	return record_command_obey(arg, line);
}

static void *
watch(void *arg)
{
	struct record_watch *w = arg;
	eventfd_t n;

	while (!w->ending) {
		struct pollfd fds[] = { { .fd = w->wake_fd, .events = POLLIN },
					{ .fd = w->control.fd, .events = POLLIN },
					{ .fd = w->trigger_fd, .events = POLLIN } };

		if (poll(fds, 3, watch_wait_ms(w)) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			(void)eventfd_read(w->wake_fd, &n);
		if (w->ending)
			break;
		if (fds[1].revents)
			record_control_take(&w->control, obey, &w->command);
		look_at_time(w);
		look_at_size(w);
		if (fds[2].revents && eventfd_read(w->trigger_fd, &n) == 0)
			switch_asked = 1;
		if (switch_asked) {
			switch_asked = 0;
			(void)keep_moment(w);
		}
	}
	return NULL;
}

int
record_watch_start(struct record_watch *w, struct session *session)
{
	int r;

	if (!w)
		return EXIT_DONE;
	w->session = session;
	w->command = (struct record_command){ session, w->options->quiet, keep_moment, w };
	w->start_ns = w->file_ns = watch_now_ns();
	r = pthread_create(&w->thread, NULL, watch, w);
	w->started = r == 0;
	if (r == 0)
		return EXIT_DONE;
	screen_text_warn("cannot start a thread: %s", strerror(r));
	return EXIT_FAILED;
}

void
record_watch_stop(struct record_watch *w)
{
	if (!w || !w->started)
		return;
	w->ending = true;
	(void)eventfd_write(w->wake_fd, 1);
	pthread_join(w->thread, NULL);
	w->started = false;
}

static bool
takes_signal(const struct record_watch_options *o)
{
	return o->switches || o->overwrite || o->snapshots;
}

static bool
is_needed(const struct record_watch_options *o)
{
	return o->nr_times || o->control || o->switches || o->max_bytes || takes_signal(o);
}

static int
watch_open(struct record_watch *w, struct io_sink **ret_sink)
{
	struct sigaction act = { .sa_handler = on_switch_signal, .sa_flags = SA_RESTART };
	const struct record_watch_options *o = w->options;

	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake_fd < 0) {
		screen_text_warn("eventfd: %s", strerror(errno));
		return EXIT_FAILED;
	}
	/* From now on: a command may send it as soon as it runs. What comes before the thread waits for it. */
	if (takes_signal(o)) {
		switch_fd = w->wake_fd;
		sigaction(SIGUSR2, &act, NULL);
	}
	if (o->trigger && (w->trigger_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		screen_text_warn("eventfd: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (o->files_max && !(w->files = calloc(o->files_max, sizeof(*w->files))))
		return cli_no_memory();
	if (file_bytes(o) && !(*ret_sink = watch_sink(w, w->out->fd)))
		return cli_no_memory();
	return o->control ? record_control_open(&w->control, o->control) : CLI_GO_ON;
}

int
record_watch_new(const struct record_watch_options *o, struct record_output *out,
		 struct record_watch **ret, struct io_sink **ret_sink)
{
	struct io_sink *sink = NULL;
	struct record_watch *w;
	int status;

	*ret = NULL;
	*ret_sink = NULL;
	if (o->files_max && !o->switches && !o->overwrite)
		return cli_usage_error("record", "--switch-max-files goes with --switch-output");
	if (o->overwrite && file_bytes(o))
		return cli_usage_error("record",
				       "--overwrite: nothing is written until a dump, whose size "
				       "is that of the rings (-m): --max-size and "
				       "--switch-output=SIZE say nothing there");
	if (o->stamp && out->lock_fd < 0)
		return cli_usage_error("record",
				       "--switch-output and --timestamp-filename write regular "
				       "files: give a name by -o FILE");
	if (!is_needed(o))
		return CLI_GO_ON;
	w = calloc(1, sizeof(*w));
	if (!w)
		return cli_no_memory();
	w->options = o;
	w->out = out;
	w->nr_past = !o->disabled;
	w->wake_fd = w->trigger_fd = w->control.fd = w->control.ack_fd = -1;
	status = watch_open(w, &sink);
	if (status == CLI_GO_ON) {
		*ret = w;
		*ret_sink = sink;
		return status;
	}
	if (sink)
		sink->close(sink);
	record_watch_free(w);
	return status;
}

int
record_watch_trigger_fd(const struct record_watch *w)
{
	return w ? w->trigger_fd : -1;
}

uint64_t
record_watch_files(const struct record_watch *w)
{
	return w ? w->nr_files : 0;
}

void
record_watch_free(struct record_watch *w)
{
	if (!w)
		return;
	switch_fd = -1;
	record_control_done(&w->control);
	for (uint32_t i = 0; w->files && i < w->options->files_max; i++)
		free(w->files[i]);
	free(w->files);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	if (w->trigger_fd >= 0)
		close(w->trigger_fd);
	free(w);
}
