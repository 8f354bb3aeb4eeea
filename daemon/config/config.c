/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include "daemon/config/config_value.h"
#include "format/bytes/io.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/session_options.h"

#define CONFIG_FILE_MAX (1u << 20) /* bytes: a file of settings is no larger */

enum type {
	TYPE_STRING,
	TYPE_PATH,
	TYPE_EVENTS,
	TYPE_COUNT,
	TYPE_BYTES,
	TYPE_TIME,
	TYPE_PERCENT,
	TYPE_SPACE,
};

enum change {
	CHANGE_AT_ONCE,
	CHANGE_SESSION,
	CHANGE_RESTART,
};

struct row {
	const char *key;
	enum type type;
	enum change change;
	size_t offset, size;
	const char *def;
	uint64_t min, max; /* as written in config_tbl.h; max 0: none */
	const char *unit, *help;
};

static const struct row rows[] = {
#define CONFIG_ROW(key, type, change, def, min, max, unit, help)                                   \
	{ #key,                                                                                    \
	  TYPE_##type,                                                                             \
	  CHANGE_##change,                                                                         \
	  offsetof(struct config, key),                                                            \
	  sizeof(((struct config *)NULL)->key),                                                    \
	  def,                                                                                     \
	  min,                                                                                     \
	  max,                                                                                     \
	  unit,                                                                                    \
	  help },
#include "daemon/config/config_tbl.h"
#undef CONFIG_ROW
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Why a value is refused, for the end of the message. */
struct reason {
	char text[160];
};

static int __attribute__((format(printf, 2, 3))) refuse(struct reason *why, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why->text, sizeof(why->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

static bool
is_text(enum type type)
{
	return type == TYPE_STRING || type == TYPE_PATH || type == TYPE_EVENTS;
}

static void *
config_field(struct config *c, const struct row *row)
{
	return (char *)c + row->offset;
}

static const void *
field_const(const struct config *c, const struct row *row)
{
	return (const char *)c + row->offset;
}

/* As a person writes the value. */
static void
print_number(enum type type, uint64_t n, char out[CONFIG_VALUE_MAX])
{
	switch (type) {
	case TYPE_BYTES:
	case TYPE_SPACE:
		config_bytes_print(n, out);
		return;
	case TYPE_TIME:
		config_time_print(n, out);
		return;
	case TYPE_PERCENT:
		config_percent_print((uint32_t)n, out);
		return;
	default:
		snprintf(out, CONFIG_VALUE_MAX, "%" PRIu64, n);
	}
}

static int
check_range(const struct row *row, uint64_t value, uint64_t scale, struct reason *why)
{
	char min[CONFIG_VALUE_MAX], max[CONFIG_VALUE_MAX];

	if (value >= row->min * scale && (row->max == 0 || value <= row->max * scale))
		return 0;
	print_number(row->type, row->min * scale, min);
	print_number(row->type, row->max * scale, max);
	if (row->max == 0)
		return refuse(why, "must be at least %s%s%s", min, *row->unit ? " " : "",
			      row->unit);
	return refuse(why, "must be %s to %s%s%s", min, max, *row->unit ? " " : "", row->unit);
}

static int
set_text(const struct row *row, const char *value, char **ret, struct reason *why)
{
	size_t max = row->max ? row->max : PATH_MAX - 1;
	char *copy;

	if (!*value && row->type != TYPE_EVENTS)
		return refuse(why, "must not be empty");
	if (row->type == TYPE_PATH && *value != '/')
		return refuse(why, "must be an absolute path");
	if (strlen(value) > max)
		return refuse(why, "must be at most %zu bytes long", max);
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*ret);
	*ret = copy;
	return 0;
}

static int
set_space(const struct row *row, const char *value, struct config_space *ret, struct reason *why)
{
	struct config_space space = { .given = *value };
	uint32_t thousandths;
	int error = 0;

	if (strchr(value, '%')) {
		error = config_percent_parse(value, &thousandths);
		if (error || thousandths % 100 != 0 || thousandths > 100000)
			return refuse(why, "must be 0.1%% to 100%%, in tenths of a percent");
		space.per_mille = thousandths / 100;
	} else if (*value) {
		error = config_bytes_parse(value, &space.bytes);
		if (error)
			return refuse(why, "must be bytes, as 512M, or a share, as 10%%");
	}
	if (*value && space.per_mille == 0)
		error = check_range(row, space.bytes, 1, why);
	if (!error)
		*ret = space;
	return error;
}

static int
set_number(const struct row *row, const char *value, uint64_t *ret, struct reason *why)
{
	const char *what = "a number";
	uint64_t n = 0, scale = 1;
	int error;

	if (row->type == TYPE_BYTES) {
		what = "bytes, as 512M";
		error = config_bytes_parse(value, &n);
	} else if (row->type == TYPE_TIME) {
		what = "a time, as 500ms, 5s, 2m, 1h or 1d";
		scale = SECOND_NS;
		error = config_time_parse(value, &n);
	} else {
		error = config_count_parse(value, &n);
	}
	/* Too large to be held, with a maximum to tell of, is out of range. */
	if (error == -ERANGE && row->max)
		return check_range(row, UINT64_MAX, scale, why);
	if (error)
		return refuse(why, error == -ERANGE ? "is too large" : "must be %s", what);
	error = check_range(row, n, scale, why);
	if (!error && row->offset == offsetof(struct config, ring_pages) && (n & (n - 1)) != 0)
		error = refuse(why, "must be a power of two");
	if (!error)
		*ret = n;
	return error;
}

static int
set_percent(const struct row *row, const char *value, uint32_t *ret, struct reason *why)
{
	uint32_t n;
	int error = config_percent_parse(value, &n);

	if (error == -ERANGE)
		n = UINT32_MAX;
	else if (error)
		return refuse(why, "must be a percentage, as 0.5%%");
	error = check_range(row, n, 1000, why);
	if (!error)
		*ret = n;
	return error;
}

static int
config_set(struct config *c, const struct row *row, const char *value, struct reason *why)
{
	struct session_options options = { 0 };
	uint64_t span_ns, hz;

	if (row->offset == offsetof(struct config, call_graph) &&
	    config_call_graph_parse(value, &options) != 0)
		return refuse(why, "must be fp, auto[,BYTES], none, or dwarf[,BYTES]");
	if (row->offset == offsetof(struct config, build_ids) &&
	    session_build_ids_parse(value, &options.build_ids) != 0)
		return refuse(why, "must be auto, kernel or file");
	if (row->offset == offsetof(struct config, store_objects) &&
	    session_objects_parse(value, &options.objects.mode) != 0)
		return refuse(why, "must be ephemeral, all or none");
	if (row->offset == offsetof(struct config, flight_recorder) &&
	    config_flight_parse(value, &span_ns, &hz) != 0)
		return refuse(
			why,
			"must be none, or TIME @ HZ as 10s @ 999, of up to 1 hour and 100000 Hz");
	if (is_text(row->type))
		return set_text(row, value, config_field(c, row), why);
	if (row->type == TYPE_SPACE)
		return set_space(row, value, config_field(c, row), why);
	if (row->type == TYPE_PERCENT)
		return set_percent(row, value, config_field(c, row), why);
	return set_number(row, value, config_field(c, row), why);
}

struct config *
config_new(void)
{
	struct config *c = calloc(1, sizeof(*c));
	struct reason why;

	if (!c)
		return NULL;
	for (size_t i = 0; i < ROWS; i++) {
		int error = config_set(c, &rows[i], rows[i].def, &why);

		if (error == -ENOMEM) {
			config_free(c);
			return NULL;
		}
		assert(error == 0);
	}
	return c;
}

void
config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < ROWS; i++) {
		if (is_text(rows[i].type))
			free(*(char **)config_field(c, &rows[i]));
	}
	free(c);
}

/* --- a file ---------------------------------------------------------------------------------- */

struct parser {
	struct config *config;
	const char *name;
	unsigned int line;
	unsigned int seen[ROWS]; /* the line that gave it; 0: none yet */
	struct config_error *error;
};

static void
config_tell(struct config_error *error, const char *text)
{
	if (error->text[0])
		error->more++;
	else
		(void)strlcpy(error->text, text, sizeof(error->text));
	if (error->each)
		error->each(text);
}

static int __attribute__((format(printf, 2, 3))) complain(struct parser *p, const char *format, ...)
{
	char text[sizeof(p->error->text)];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%.200s:%u: ", p->name, p->line);

	va_start(ap, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, ap);
	va_end(ap);
	config_tell(p->error, text);
	return -EINVAL;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts blanks off both ends, in place. */
static char *
trim(char *s)
{
	size_t n;

	while (is_blank(*s))
		s++;
	for (n = strlen(s); n > 0 && is_blank(s[n - 1]); n--)
		s[n - 1] = '\0';
	return s;
}

/* A comment begins with a '#' that begins a line or a value, or follows a blank. */
static void
cut_comment(char *line)
{
	const char *value = strchr(line, '=');

	for (char *s = line; (s = strchr(s, '#')); s++) {
		if (s == line || is_blank(s[-1]) || s - 1 == value) {
			*s = '\0';
			return;
		}
	}
}

static int
parse_line(struct parser *p, char *line)
{
	struct reason why = { "" };
	char of_events[400], *key, *value;
	size_t i = 0;
	int error;

	cut_comment(line);
	key = trim(line);
	if (!*key)
		return 0;
	for (const char *s = key; *s; s++) {
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return complain(p, "a control character (0x%02x)", (unsigned char)*s);
	}
	value = strchr(key, '=');
	if (!value || value == key)
		return complain(p, "\"%.64s\": neither \"key = value\" nor a comment", key);
	*value++ = '\0';
	key = trim(key);
	value = trim(value);
	while (i < ROWS && strcmp(rows[i].key, key) != 0)
		i++;
	if (i == ROWS)
		return complain(p, "%.64s: no such key", key);
	if (p->seen[i])
		return complain(p, "%s: given on line %u already", key, p->seen[i]);
	p->seen[i] = p->line;
	error = config_set(p->config, &rows[i], value, &why);
	if (error == -EINVAL)
		complain(p, "%s = %.128s: %s", key, value, why.text);
	if (error == 0 && rows[i].type == TYPE_EVENTS && *value && p->error->events) {
		error = p->error->events(key, value, of_events, sizeof(of_events));
		if (error == -EINVAL)
			complain(p, "%s: %s", key, of_events);
	}
	return error;
}

int
config_parse(const char *text, size_t n, const char *name, struct config **ret,
	     struct config_error *error)
{
	struct parser p = { .config = config_new(), .name = name, .error = error };
	const char *end = text + n;
	char why[300];
	int result = p.config ? 0 : -ENOMEM, of_line;

	error->text[0] = '\0';
	error->more = 0;
	while (result != -ENOMEM && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		char *line;

		p.line++;
		if (memchr(text, '\0', length)) {
			result = complain(&p, "a NUL byte: this is not a text file");
			break;
		}
		line = strndup(text, length);
		of_line = line ? parse_line(&p, line) : -ENOMEM;
		if (of_line)
			result = of_line;
		free(line);
		text += length + (newline ? 1 : 0);
	}
	if (result == -ENOMEM) {
		snprintf(why, sizeof(why), "%.200s: %s", name, strerror(ENOMEM));
		config_tell(error, why);
	}
	if (result) {
		config_free(p.config);
		return result;
	}
	*ret = p.config;
	return 0;
}

/* All of a file, to CONFIG_FILE_MAX; free(*ret). */
static int
read_file(const char *path, char **ret, size_t *ret_n)
{
	char *p = malloc(CONFIG_FILE_MAX + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error = !p ? -ENOMEM : fd < 0 ? -errno : 0;
	size_t n = 0;

	while (!error && n <= CONFIG_FILE_MAX) {
		ssize_t got = io_read(fd, p + n, CONFIG_FILE_MAX + 1 - n);

		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else
			error = (int)got;
	}
	if (fd >= 0)
		close(fd);
	if (!error && n > CONFIG_FILE_MAX)
		error = -EFBIG;
	if (error) {
		free(p);
		return error;
	}
	*ret = p;
	*ret_n = n;
	return 0;
}

int
config_read(const char *path, struct config **ret, struct config_error *error)
{
	const char *name = path ? path : CONFIG_PATH;
	char *text = NULL, why[sizeof(error->text)];
	size_t n = 0;
	int result = read_file(name, &text, &n);

	if (result == -ENOENT && !path)
		result = 0;
	if (result) {
		error->text[0] = '\0';
		error->more = 0;
		snprintf(why, sizeof(why), "%.400s: %s", name, strerror(-result));
		config_tell(error, why);
		return result;
	}
	result = config_parse(text ? text : "", n, name, ret, error);
	free(text);
	return result;
}

/* --- the way back ---------------------------------------------------------------------------- */

/* As config_read() takes it; out is room for a number. */
static const char *
print_value(const struct config *c, const struct row *row, char out[CONFIG_VALUE_MAX])
{
	const void *p = field_const(c, row);
	const struct config_space *space = p;

	if (is_text(row->type))
		return *(char *const *)p;
	if (row->type == TYPE_PERCENT)
		print_number(TYPE_PERCENT, *(const uint32_t *)p, out);
	else if (row->type != TYPE_SPACE)
		print_number(row->type, *(const uint64_t *)p, out);
	else if (space->per_mille)
		print_number(TYPE_PERCENT, space->per_mille * 100, out);
	else if (space->given)
		print_number(TYPE_BYTES, space->bytes, out);
	else
		out[0] = '\0';
	return out;
}

void
config_print(const struct config *c, FILE *out)
{
	char number[CONFIG_VALUE_MAX];

	for (size_t i = 0; i < ROWS; i++) {
		const char *value = print_value(c, &rows[i], number);

		fprintf(out, "%s =%s%s\n", rows[i].key, *value ? " " : "", value);
	}
}

static bool
row_differs(const struct row *r, const struct config *a, const struct config *b)
{
	const void *va = field_const(a, r), *vb = field_const(b, r);

	if (is_text(r->type))
		return strcmp(*(char *const *)va, *(char *const *)vb) != 0;
	return memcmp(va, vb, r->size) != 0;
}

void
config_restart_keys(const struct config *a, const struct config *b, char *out, size_t size)
{
	out[0] = '\0';
	for (const struct row *r = rows; r < rows + ROWS; r++) {
		if (r->change != CHANGE_RESTART || !row_differs(r, a, b))
			continue;
		if (out[0])
			strlcat(out, ", ", size);
		strlcat(out, r->key, size);
	}
}

void
config_swap_restart_keys(struct config *a, struct config *b)
{
	for (const struct row *r = rows; r < rows + ROWS; r++) {
		uint8_t *va = config_field(a, r), *vb = config_field(b, r);

		for (size_t i = 0; r->change == CHANGE_RESTART && i < r->size; i++) {
			uint8_t byte = va[i];

			va[i] = vb[i];
			vb[i] = byte;
		}
	}
}

bool
config_needs_session(const struct config *a, const struct config *b)
{
	for (const struct row *r = rows; r < rows + ROWS; r++)
		if (r->change == CHANGE_SESSION && row_differs(r, a, b))
			return true;
	return false;
}

void
config_help(FILE *out)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		char value[80];

		snprintf(value, sizeof(value), "%s = %s%s%s", r->key, r->def, *r->unit ? " " : "",
			 r->unit);
		fprintf(out, "  %-46s  %s\n", value, r->help);
	}
}
