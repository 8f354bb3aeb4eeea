/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor top: what the CPUs do now, again and again. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/screen.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/cmd/top_source.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/top_print.h"

#define ARCHIVE "/var/lib/spoor"
#define DELAY_NS (2 * (uint64_t)SECOND_NS)
#define WINDOW_NS (15 * (uint64_t)SECOND_NS) /* of which an archive has ten: block_age is five */
#define KEPT_MAX 64
#define SAID_MAX 2048
#define STEP_MS 50 /* between looks at whether a look has ended */

enum { OPT_ONCE = 0x100, OPT_WINDOW };

/* name, its keys, what it is called */
#define TOP_BYS(X)                                                                                 \
	X("sym", "dso,sym", "function")                                                            \
	X("comm", "comm", "command")                                                               \
	X("pid", "pid,comm", "process")                                                            \
	X("unit", "unit", "unit")                                                                  \
	X("dso", "dso", "object")                                                                  \
	X("cpu", "cpu", "CPU")

static const struct {
	const char *name, *keys, *text;
} bys[] = {
#define X(name, keys, text) { name, keys, text },
	TOP_BYS(X)
#undef X
};
#define NR_BYS (sizeof(bys) / sizeof(bys[0]))

#define OWN_OPTIONS                                                                                \
	{ 'd', 'd', "delay", "TIME", "between two looks (2s); a number is seconds" },              \
		{ 'n', 'n', "iterations", "N",                                                     \
		  "ends after so many looks; 1 unless on a terminal" },                            \
		{ 'b', 'b', "by", "WHAT", "sym (default), comm, pid, unit, dso or cpu" },          \
		{ OPT_WINDOW, 0, "window", "TIME", "looks at the last 15s" },                      \
		{ OPT_ONCE, 0, "once", NULL, "prints lines, as in a pipe; once, unless -n" },      \
		{ 'a', 'a', "all-cpus", NULL, "records by itself, all CPUs" },                     \
		{ 'p', 'p', "record-pid", "PIDS", "records by itself, these processes" },          \
		{ 'F', 'F', "freq", "HZ", "samples a second when it records by itself (99)" },     \
		CLI_COLOR_ROW

static const struct cli_option own_options[] = { OWN_OPTIONS };
#define NR_OWN (sizeof(own_options) / sizeof(own_options[0]))

static struct cli_option options[] = { OWN_OPTIONS LOAD_OPTIONS{ 0 } };

static const struct cli_syntax syntax = {
	.command = "top",
	.synopsis = "[options] [-i FILE | -a | -p PIDS | -- COMMAND [ARGUMENT...]]",
	.about =
		"Shows what takes the CPUs now: of the last seconds that the daemon's archive has "
		"(/var/lib/spoor), of a file that is being recorded, or of a recording of its own. "
		"Keys: q ends, space pauses, s sorts by something else, h helps.",
	.options = options,
	.command_follows = true,
};

struct request {
	struct {
		int value;
		const char *text;
	} kept[KEPT_MAX]; /* options of each look */
	size_t nr_kept;
	struct top_record record;
	bool records, all_cpus, once;
	uint64_t delay_ns, window_ns;
	long long iterations; /* 0: no end */
	size_t by;
	/* While it looks. */
	struct top_source source;
	const char *path;
	struct load load;
	bool opened, on_screen, paused, helps;
	char *frame; /* the last one */
	/* On a screen a thread looks, and keys are answered meanwhile. */
	struct looker {
		pthread_mutex_t lock;
		pthread_cond_t told;
		bool started, wanted, done;
	} looker;
	bool looking, asked; /* asked: by a key, and not by the time */
	size_t look_by;
	char *next_frame;
};

static int
set_time(const char *name, const char *text, uint64_t *ret)
{
	if (time_text_duration(text, ret) == 0 && *ret >= 10000000 &&
	    *ret <= 86400 * UINT64_C(1000000000))
		return CLI_GO_ON;
	return cli_usage_error("top", "--%s %s: not a time from 10ms to a day", name, text);
}

static int
set_by(struct request *rq, const char *text)
{
	for (size_t i = 0; i < NR_BYS; i++)
		if (strcmp(text, bys[i].name) == 0) {
			rq->by = i;
			return CLI_GO_ON;
		}
	return cli_usage_error("top", "--by %s: sym, comm, pid, unit, dso or cpu", text);
}

static int
keep(struct request *rq, int value, const char *text)
{
	struct load_options o;
	int status;

	if (value == FILTER_OPTION_time || value == FILTER_OPTION_since ||
	    value == FILTER_OPTION_until || value == FILTER_OPTION_last)
		return cli_usage_error("top", "--%s: it looks at the last seconds (--window)",
				       load_option_name(value));
	if (rq->nr_kept == KEPT_MAX)
		return cli_usage_error("top", "more than %d options", KEPT_MAX);
	/* What is wrong with it is said now, and not on a screen. */
	status = load_init(&o, "top");
	if (status != 0)
		return status;
	status = load_set(&o, value, text);
	if (o.path)
		rq->path = o.path;
	load_done(&o);
	rq->kept[rq->nr_kept].value = value;
	rq->kept[rq->nr_kept++].text = text;
	return status;
}

static int
cmd_top_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;
	const char *problem;

	switch (value) {
	case 'd':
		return set_time("delay", text, &rq->delay_ns);
	case OPT_WINDOW:
		return set_time("window", text, &rq->window_ns);
	case 'n':
		rq->iterations = strtonum(text, 1, INT32_MAX, &problem);
		if (!problem)
			return CLI_GO_ON;
		return cli_usage_error("top", "--iterations %s: %s", text, problem);
	case 'b':
		return set_by(rq, text);
	case OPT_ONCE:
		rq->once = true;
		return CLI_GO_ON;
	case 'a':
		rq->records = rq->all_cpus = true;
		return CLI_GO_ON;
	case 'p':
		rq->records = true;
		rq->record.pids = text;
		return CLI_GO_ON;
	case 'F':
		rq->record.frequency = text;
		return CLI_GO_ON;
	}
	return keep(rq, value, text);
}

/* --- one look ----------------------------------------------------------------------------- */

static int
want_spans(void *unused, struct input_set *set, struct profile_options *po)
{
	(void)unused;
	(void)po;
	set->wants_spans = true;
	/* That it has no end yet is why it is looked at. */
	set->in.live = true;
	return 0;
}

static int
make_options(const struct request *rq, struct load_options *o)
{
	char since[48];
	const char *why;
	int status = load_init(o, "top");

	for (size_t i = 0; i < rq->nr_kept && status == 0; i++)
		if (load_set(o, rq->kept[i].value, rq->kept[i].text) != CLI_GO_ON)
			status = EXIT_USAGE;
	if (status != 0)
		return status;
	snprintf(since, sizeof(since), "%.3fs", (double)rq->window_ns / 1e9);
	if (filter_set(o->filter, FILTER_OPTION_since, since, &why) < 0)
		return cli_usage_error("top", "--window: %s", why);
	o->path = rq->path;
	o->told = true;
	/* The second line of a look tells of them. */
	o->quiet_unmet = rq->on_screen || rq->opened;
	o->opening = want_spans;
	return 0;
}

static int
print_frame(struct request *rq, const struct report_options *ro, FILE *out)
{
	struct top_print p = { .load = &rq->load,
			       .options = ro,
			       .by = bys[rq->look_by].text,
			       .now_ns = (uint64_t)load_now() };
	struct report *r = NULL;
	int err = report_build(rq->load.profile, ro, &r);

	p.report = r;
	if (rq->on_screen) {
		p.about = "s: by something else, space: pause, h: help, q: quit";
		p.color = cli_color();
		screen_size(&p.lines, &p.columns);
	}
	if (err == 0)
		err = top_print(&p, out);
	report_free(r);
	return err;
}

/* Loads the last seconds, and prints them: 0, or an exit status, said on stderr. */
static int
look(struct request *rq, FILE *out)
{
	struct report_options ro = { 0 };
	struct report_list sort = { 0 };
	const struct report_list none = { 0 };
	struct profile_options po = { 0 };
	struct load_options o;
	const char *bad;
	size_t len;
	int status = make_options(rq, &o);

	if (status == 0 &&
	    report_parse_list(bys[rq->look_by].keys, REPORT_KEYS_MAX, &sort, &bad, &len) == 0) {
		report_choose(&ro, &sort, &none, false);
		report_profile_options(&ro, &po);
		status = rq->opened ? load_open_again(&rq->load, &o, &po)
				    : load_open(&rq->load, &o, &po);
		rq->opened = true;
		if (status == 0 && print_frame(rq, &ro, out) < 0) {
			screen_text_warn("out of memory");
			status = EXIT_FAILED;
		}
	}
	/* The profile has what of the options it needs no more. */
	load_done(&o);
	return status;
}

/* --- again and again ---------------------------------------------------------------------- */

static const char help[] =
	"spoor top: what takes the CPUs\n"
	"\n"
	"  q        quit\n"
	"  space    pause, and go on\n"
	"  s        by function, command, process, unit, object, CPU\n"
	"  S        the same, backwards\n"
	"  h        this, and back\n"
	"\n"
	"CPU% is a share of one CPU: 200 is two busy CPUs. For events that do not\n"
	"count time, Share% is the share of all of that event. Samples: how many a row\n"
	"rests on.\n"
	"\n"
	"The first line tells which time this covers: a daemon writes what it has\n"
	"sampled every few seconds. The second line tells what was lost.\n";

/* Words on stderr would be on the screen: they go into a file, whose text is *ret. */
static int
look_quietly(struct request *rq, FILE *out, char said[SAID_MAX])
{
	const int words = memfd_create("spoor-top", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
	int status = EXIT_FAILED;
	ssize_t n = 0;

	if (words >= 0 && kept >= 0 && dup2(words, STDERR_FILENO) >= 0) {
		status = look(rq, out);
		dup2(kept, STDERR_FILENO);
		n = pread(words, said, SAID_MAX - 1, 0);
	}
	said[n > 0 ? n : 0] = '\0';
	if (words >= 0)
		close(words);
	if (kept >= 0)
		close(kept);
	return status;
}

/* What is there now becomes the frame; what went wrong is in its place. */
static void
make_frame(struct request *rq)
{
	char said[SAID_MAX];
	char *frame = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&frame, &len);
	int status;

	if (!out)
		return;
	status = look_quietly(rq, out, said);
	if (status != 0)
		fprintf(out, "spoor top\n\n%s", said);
	if (fclose(out) != 0) {
		free(frame);
		return;
	}
	free(rq->next_frame);
	rq->next_frame = frame;
}

/* One thread for all looks: a process that a look starts ends when the thread that started it does. */
static void *
run_looks(void *arg)
{
	struct request *rq = arg;

	pthread_mutex_lock(&rq->looker.lock);
	for (;;) {
		while (!rq->looker.wanted)
			pthread_cond_wait(&rq->looker.told, &rq->looker.lock);
		rq->looker.wanted = false;
		pthread_mutex_unlock(&rq->looker.lock);
		make_frame(rq);
		pthread_mutex_lock(&rq->looker.lock);
		rq->looker.done = true;
	}
	return NULL;
}

/* The signals that the screen heeds are for the thread that has it. */
static bool
start_looker(struct request *rq)
{
	static const int of_screen[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	sigset_t blocked, before;
	pthread_t thread;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(of_screen) / sizeof(of_screen[0]); i++)
		sigaddset(&blocked, of_screen[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	rq->looker.started = pthread_create(&thread, NULL, run_looks, rq) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rq->looker.started;
}

static void
begin_look(struct request *rq, bool asked)
{
	if (!rq->looker.started && !start_looker(rq))
		return;
	pthread_mutex_lock(&rq->looker.lock);
	rq->look_by = rq->by;
	rq->asked = asked;
	rq->looking = rq->looker.wanted = true;
	rq->looker.done = false;
	pthread_cond_signal(&rq->looker.told);
	pthread_mutex_unlock(&rq->looker.lock);
}

/* In a pause, what no key has asked for is not shown. False: the look goes on. */
static bool
end_look(struct request *rq)
{
	bool done;

	pthread_mutex_lock(&rq->looker.lock);
	done = rq->looker.done;
	pthread_mutex_unlock(&rq->looker.lock);
	if (!done)
		return false;
	rq->looking = false;
	if (rq->paused && !rq->asked)
		return true;
	free(rq->frame);
	rq->frame = rq->next_frame;
	rq->next_frame = NULL;
	return true;
}

static void
draw(const struct request *rq)
{
	screen_draw(rq->helps ? help : rq->frame ? rq->frame : "");
}

/* False: to the end. */
static bool
take_key(struct request *rq, int key, bool *ret_look)
{
	*ret_look = false;
	switch (key) {
	case 'q':
	case 'Q':
	case SCREEN_ENDED:
		return false;
	case ' ':
		rq->paused = !rq->paused;
		*ret_look = !rq->paused;
		break;
	case 's':
		rq->by = (rq->by + 1) % NR_BYS;
		*ret_look = true;
		break;
	case 'S':
		rq->by = (rq->by + NR_BYS - 1) % NR_BYS;
		*ret_look = true;
		break;
	case 'h':
	case '?':
		rq->helps = !rq->helps;
		break;
	case SCREEN_REDRAW:
		*ret_look = true;
		break;
	case SCREEN_TIMEOUT:
		*ret_look = !rq->paused;
		break;
	}
	return true;
}

static int
on_screen(struct request *rq)
{
	bool go_on = true, looks = true, asked = false;

	rq->on_screen = true;
	for (long long n = 0; go_on && (rq->iterations == 0 || n < rq->iterations);) {
		int key;

		if (looks && !rq->looking) {
			begin_look(rq, asked);
			looks = asked = false;
		}
		key = screen_key(rq->looking ? STEP_MS : (int)(rq->delay_ns / 1000000));
		n += key == SCREEN_TIMEOUT && !rq->looking;
		if (key != SCREEN_TIMEOUT || !rq->looking) {
			bool now;

			go_on = take_key(rq, key, &now);
			looks |= now;
			asked |= now && key != SCREEN_TIMEOUT;
		}
		if (rq->looking && !end_look(rq) && key == SCREEN_TIMEOUT)
			continue;
		draw(rq);
		/* What there is when the recorder of its own has ended stays on the screen. */
		if (top_source_ended(&rq->source) && rq->source.failed)
			go_on = false;
	}
	screen_close();
	return rq->source.failed ? EXIT_FAILED : EXIT_DONE;
}

/* A look may take seconds: the process ends without it. What the look uses is neither closed nor freed. */
static void __attribute__((noreturn)) leave_look(struct request *rq, int status)
{
	top_source_kill(&rq->source);
	fflush(stdout);
	_exit(status);
}

static void
wait_ns(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&t, NULL);
}

static int
in_lines(struct request *rq)
{
	const long long times = rq->iterations ? rq->iterations : 1;
	int status = EXIT_DONE;

	for (long long n = 0; n < times && status == EXIT_DONE && !ferror(stdout); n++) {
		if (n > 0) {
			wait_ns(rq->delay_ns);
			putchar('\n');
		}
		status = look(rq, stdout);
		fflush(stdout);
	}
	return status;
}

/* Where to look, when nobody says: a daemon's archive, or what it records by itself. */
static int
choose_source(struct request *rq)
{
	int status;

	if (!rq->path && !rq->records) {
		if (access(ARCHIVE, R_OK | X_OK) == 0)
			rq->path = ARCHIVE;
		else if (errno == EACCES)
			screen_text_warn("%s: members of group spoor may read it; "
					 "recording by itself instead",
					 ARCHIVE);
	}
	if (rq->path)
		return 0;
	status = top_source_record(&rq->source, &rq->record);
	if (status != 0) {
		top_source_tell(&rq->source);
		screen_text_warn(
			"to see what a daemon records, start spoord; to record as this user, "
			"name a command, or processes (-p)");
		return status;
	}
	rq->path = rq->source.path;
	/* There is nothing to see yet. */
	wait_ns(rq->delay_ns);
	status = top_source_ended(&rq->source) && rq->source.failed ? EXIT_FAILED : 0;
	if (status != 0)
		top_source_tell(&rq->source);
	return status;
}

static int
top(struct request *rq)
{
	int status = choose_source(rq);

	if (status == 0 && !rq->once && screen_open() == 0) {
		status = on_screen(rq);
		top_source_tell(&rq->source);
		if (rq->looking)
			leave_look(rq, status);
	} else if (status == 0) {
		status = in_lines(rq);
	}
	if (rq->opened)
		load_close(&rq->load);
	top_source_stop(&rq->source);
	free(rq->frame);
	free(rq->next_frame);
	return status;
}

/* -d is a time here, as in top(1), and -p, -a and -F are as in spoor record. */
static void
free_letters(void)
{
	for (size_t i = NR_OWN; options[i].name; i++)
		for (size_t k = 0; k < NR_OWN; k++)
			if (options[i].letter == own_options[k].letter)
				options[i].letter = 0;
}

int
cmd_top(int argc, char **argv)
{
	struct request rq = { .delay_ns = DELAY_NS,
			      .window_ns = WINDOW_NS,
			      .looker = { .lock = PTHREAD_MUTEX_INITIALIZER,
					  .told = PTHREAD_COND_INITIALIZER },
			      .source = TOP_SOURCE_NONE };
	int first, status;

	free_letters();
	status = cli_parse(&syntax, argc, argv, cmd_top_set, &rq, &first);
	if (status != CLI_GO_ON)
		return status;
	if (first < argc) {
		rq.records = true;
		rq.record.command = argv + first;
	}
	rq.look_by = rq.by;
	if (rq.path && rq.records)
		return cli_usage_error(
			"top",
			"--input and a recording of its own (-a, -p, a command) exclude each other");
	if (rq.all_cpus + (rq.record.command != NULL) + (rq.record.pids != NULL) > 1)
		return cli_usage_error("top",
				       "--all-cpus, --record-pid and a command exclude each other");
	if (rq.path && rq.record.frequency)
		return cli_usage_error("top",
				       "--freq goes with a recording of its own, not with --input");
	return top(&rq);
}
