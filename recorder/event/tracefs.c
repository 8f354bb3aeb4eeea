/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/record/event_set.h"
#include "recorder/ground/small_file.h"

#define PATH_BYTES 512
#define FAULT_BYTES 8192 /* a filter of a page at most, and what is said of it */

/* --- what was made at run time ----------------------------------------------------------- */

/* "p:probes/open /bin/true:0x1139": is that the event? */
static bool
makes(const char *line, const char *system, const char *event)
{
	const char *at = strchr(line, ':');
	const size_t n = strlen(system), m = strlen(event);

	return at && strncmp(at + 1, system, n) == 0 && at[1 + n] == '/' &&
		strncmp(at + 2 + n, event, m) == 0 && strchr(" \t\n", at[2 + n + m]);
}

/* 1, 0: not in this list; -errno. */
static int
is_listed(const char *root, const char *list, const char *system, const char *event)
{
	char path[PATH_BYTES], *line = NULL;
	size_t cap = 0;
	int found = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", root, list);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	while (!found && getline(&line, &cap, f) > 0)
		found = makes(line, system, event);
	if (!found && ferror(f))
		found = -EIO;
	free(line);
	(void)fclose(f);
	return found;
}

bool
tracefs_made_at_run_time(const char *root, const char *name)
{
	/* The first has all of them, since Linux 5.0. */
	static const char *const lists[] = { "dynamic_events", "kprobe_events", "uprobe_events" };
	char system[PATH_BYTES];
	const size_t n = strcspn(name, ":");

	if (!name[n] || n >= sizeof(system))
		return true;
	(void)strlcpy(system, name, n + 1);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (is_listed(root, lists[i], system, name + n + 1) != 0)
			return true;
	return false;
}

/* --- formats ----------------------------------------------------------------------------- */

static bool
has_id(const char *root, const char *system, const char *name, uint64_t id)
{
	char path[PATH_BYTES], text[32];

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, system, name) >=
	    (int)sizeof(path))
		return false;
	return small_file_read(AT_FDCWD, path, text, sizeof(text)) > 0 &&
		strtoull(text, NULL, 10) == id;
}

/* Behind the name of its system. */
static char *
read_format(const char *root, const char *system, const char *name)
{
	const size_t head = strlen(system) + 1, cap = head + EVENT_FORMAT_BYTES_MAX;
	char path[PATH_BYTES], *text;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, system, name) >=
	    (int)sizeof(path))
		return NULL;
	text = malloc(cap);
	if (!text)
		return NULL;
	snprintf(text, cap, "%s\n", system);
	n = small_file_read(AT_FDCWD, path, text + head, cap - head);
	if (n > 0)
		return text;
	free(text);
	return NULL;
}

/* "sched:sched_switch:u" in two; false: it has no such form, or is a path. */
static bool
split_name(const char *name, char *system, char *event, size_t cap)
{
	const size_t n = strcspn(name, ":");

	if (!name[n] || strchr(name, '/') || *name == '.' || n >= cap)
		return false;
	memcpy(system, name, n);
	system[n] = '\0';
	if (strlcpy(event, name + n + 1, cap) >= cap)
		return false;
	event[strcspn(event, ":")] = '\0';
	return *event != '.';
}

/* Of a system's tracepoints, that of the id. */
static char *
search_system(const char *root, const char *system, uint64_t id)
{
	char path[PATH_BYTES], *format = NULL;
	struct dirent *e;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/events/%s", root, system) >= (int)sizeof(path))
		return NULL;
	d = opendir(path);
	while (d && !format && (e = readdir(d)))
		if (*e->d_name != '.' && has_id(root, system, e->d_name, id))
			format = read_format(root, system, e->d_name);
	if (d)
		closedir(d);
	return format;
}

/* An event can have any name (the term name=). */
static char *
search(const char *root, uint64_t id)
{
	char path[PATH_BYTES], *format = NULL;
	struct dirent *e;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/events", root) >= (int)sizeof(path))
		return NULL;
	d = opendir(path);
	while (d && !format && (e = readdir(d)))
		if (*e->d_name != '.' && e->d_type == DT_DIR)
			format = search_system(root, e->d_name, id);
	if (d)
		closedir(d);
	return format;
}

char *
tracefs_format(const char *root, const char *name, uint64_t id)
{
	char system[128], event[128];

	if (split_name(name, system, event, sizeof(system)) && has_id(root, system, event, id))
		return read_format(root, system, event);
	return search(root, id);
}

/* --- filters ----------------------------------------------------------------------------- */

/*
 *	foo == 1
 *	    ^
 *	parse_error: Field not found
 */
static int
parse_fault(const char *text, struct tracefs_fault *ret)
{
	static const char head[] = "parse_error: ";
	const char *said = strstr(text, head), *caret;

	if (!said)
		return -ENOENT;
	for (caret = said; caret > text && *caret != '^'; caret--)
		;
	ret->at = 0;
	for (; caret > text && caret[-1] != '\n'; caret--)
		ret->at++;
	said += sizeof(head) - 1;
	(void)strlcpy(ret->text, said, sizeof(ret->text));
	ret->text[strcspn(ret->text, "\n")] = '\0';
	return 0;
}

/* 0, -errno of the write. */
static int
write_filter(const char *path, const char *filter)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, filter, strlen(filter)) < 0)
		r = -errno;
	close(fd);
	return r;
}

static int
ask_instance(const char *instance, const char *system, const char *name, const char *filter,
	     struct tracefs_fault *ret)
{
	char path[PATH_BYTES], *said;
	int r;

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/filter", instance, system, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	if (access(path, W_OK) < 0)
		return -EACCES;
	if (write_filter(path, filter) == 0)
		return -ENOENT;
	said = malloc(FAULT_BYTES);
	if (!said)
		return -ENOMEM;
	r = small_file_read(AT_FDCWD, path, said, FAULT_BYTES) < 0 ? -EIO : parse_fault(said, ret);
	free(said);
	return r;
}

int
tracefs_filter_fault(const char *root, const char *system, const char *name, const char *filter,
		     struct tracefs_fault *ret)
{
	char instance[PATH_BYTES];
	int r;

	if (snprintf(instance, sizeof(instance), "%s/instances/spoor-%d", root, (int)getpid()) >=
	    (int)sizeof(instance))
		return -ENAMETOOLONG;
	if (mkdir(instance, 0700) < 0)
		return -errno;
	r = ask_instance(instance, system, name, filter, ret);
	(void)rmdir(instance);
	return r;
}
