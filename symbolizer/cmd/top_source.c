/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/top_source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/input/exit_status.h"
#include "symbolizer/input/temporary.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

#define FREQUENCY "99"
#define BLOCK_AGE "500ms"
#define BEGIN_MS                                                                                   \
	15000 /* opening events and reading /proc takes so long at most, or nobody waits for it */
#define STEP_MS 20

static int
make_file(struct top_source *s)
{
	s->file = temporary_open();
	if (s->file < 0)
		return EXIT_FAILED;
	if (asprintf(&s->path, "/proc/self/fd/%d", s->file) < 0)
		s->path = NULL;
	s->words = memfd_create("spoor-top", MFD_CLOEXEC);
	if (s->path && s->words >= 0)
		return 0;
	screen_text_warn("out of memory, or of descriptors");
	return EXIT_FAILED;
}

/*
 * In the child: the command gets no terminal, which is drawn on. Nothing is executed: the kernel forgets what
 * the end of the parent means when a program with capabilities is, and the command could have the file's
 * descriptor.
 */
static void __attribute__((noreturn))
record(const struct top_source *s, size_t argc, char **argv, pid_t parent)
{
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_NAME, "spoor-record");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Nobody tells of a parent that was gone before. */
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	/* ^C is for the one who looks: it ends this. */
	setpgid(0, 0);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(s->words, STDOUT_FILENO) < 0 ||
	    dup2(s->words, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	exit(cmd_record((int)argc, argv));
}

static int
start(struct top_source *s, const struct top_record *what)
{
	const pid_t parent = getpid();
	size_t n = 0, commands = 0;
	char **argv;

	while (what->command && what->command[commands])
		commands++;
	argv = calloc(commands + 16, sizeof(*argv));
	if (!argv)
		return -1;
#define ADD(word) argv[n++] = (char *)(uintptr_t)(word)
	ADD("record");
	ADD("-F");
	ADD(what->frequency ? what->frequency : FREQUENCY);
	ADD("--block-age");
	ADD(BLOCK_AGE);
	ADD("-o");
	ADD(s->path);
	if (what->pids) {
		ADD("-p");
		ADD(what->pids);
	} else if (what->command) {
		ADD("--");
		for (size_t i = 0; i < commands; i++)
			ADD(what->command[i]);
	} else {
		ADD("-a");
	}
#undef ADD
	s->recorder = fork();
	if (s->recorder == 0)
		record(s, n, argv, parent);
	free(argv);
	if (s->recorder > 0)
		return 0;
	s->recorder = 0;
	return -1;
}

static bool
is_empty(const struct top_source *s)
{
	struct stat st;

	return fstat(s->file, &st) < 0 || st.st_size == 0;
}

/* Until there is something to read. */
static int
wait_for_file(struct top_source *s)
{
	const struct timespec step = { 0, STEP_MS * 1000000L };

	for (int ms = 0; ms < BEGIN_MS; ms += STEP_MS) {
		if (top_source_ended(s) && s->failed)
			return EXIT_FAILED;
		if (!is_empty(s))
			return 0;
		nanosleep(&step, NULL);
	}
	screen_text_warn("the recorder did not start in time");
	return EXIT_FAILED;
}

int
top_source_record(struct top_source *s, const struct top_record *what)
{
	*s = TOP_SOURCE_NONE;
	if (make_file(s) != 0)
		return EXIT_FAILED;
	if (start(s, what) < 0) {
		screen_text_warn("fork: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return wait_for_file(s);
}

void
top_source_tell(const struct top_source *s)
{
	char line[512];
	FILE *f = s->failed ? fdopen(dup(s->words), "r") : NULL;

	if (!f)
		return;
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		char *shown;

		line[strcspn(line, "\n")] = '\0';
		shown = escape_dup(line);
		fprintf(stderr, "%s\n", shown ? shown : "");
		free(shown);
	}
	fclose(f);
}

bool
top_source_ended(struct top_source *s)
{
	if (s->recorder == 0)
		return s->path != NULL;
	if (waitpid(s->recorder, NULL, WNOHANG) != s->recorder)
		return false;
	s->recorder = 0;
	/* A command's own status is nothing to us, once it was recorded. */
	s->failed = is_empty(s);
	return true;
}

void
top_source_kill(struct top_source *s)
{
	if (s->recorder <= 0)
		return;
	kill(s->recorder, SIGTERM);
	while (waitpid(s->recorder, NULL, 0) < 0 && errno == EINTR)
		;
	s->recorder = 0;
}

void
top_source_stop(struct top_source *s)
{
	top_source_kill(s);
	if (s->file >= 0)
		close(s->file);
	if (s->words >= 0)
		close(s->words);
	free(s->path);
	*s = TOP_SOURCE_NONE;
}
