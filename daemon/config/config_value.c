/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config/config_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"

#define FLIGHT_NS_MAX UINT64_C(3600000000000)
#define FLIGHT_HZ_MAX 100000

struct unit {
	const char *name;
	uint64_t factor;
};

/* For printing, the first that divides is taken: largest first. */
static const struct unit byte_units[] = {
	{ "T", UINT64_C(1) << 40 },
	{ "G", UINT64_C(1) << 30 },
	{ "M", UINT64_C(1) << 20 },
	{ "K", UINT64_C(1) << 10 },
	{ "", 1 },
};

static const struct unit time_units[] = {
	{ "d", UINT64_C(86400000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ "m", UINT64_C(60000000000) },
	{ "s", UINT64_C(1000000000) },
	{ "ms", UINT64_C(1000000) },
	{ "us", UINT64_C(1000) },
	{ "ns", 1 },
};

/* Takes the digits off the front of *text: how many, or -ERANGE. */
static int
take_digits(const char **text, uint64_t *ret)
{
	uint64_t n = 0;
	int digits = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++, digits++) {
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**text - '0'), &n))
			return -ERANGE;
	}
	*ret = n;
	return digits;
}

int
config_count_parse(const char *text, uint64_t *ret)
{
	uint64_t n;
	int digits = take_digits(&text, &n);

	if (digits < 0)
		return digits;
	if (digits == 0 || *text)
		return -EINVAL;
	*ret = n;
	return 0;
}

int
config_bytes_parse(const char *text, uint64_t *ret)
{
	static const char letters[] = "KMGT";
	const char *letter;
	uint64_t n;
	int digits = take_digits(&text, &n);
	bool binary = false;

	if (digits < 0)
		return digits;
	if (digits == 0)
		return -EINVAL;
	/* One letter, in either case, then nothing, B or iB. */
	letter = *text ? strchr(letters, *text & ~0x20) : NULL;
	if (letter && *letter) {
		text++;
		binary = strcasecmp(text, "iB") == 0;
		if (__builtin_mul_overflow(n, UINT64_C(1) << (10 * (letter - letters + 1)), &n))
			return -ERANGE;
	}
	if (*text && strcasecmp(text, "B") != 0 && !binary)
		return -EINVAL;
	*ret = n;
	return 0;
}

static void
print_units(const struct unit *units, size_t nr, uint64_t n, char out[CONFIG_VALUE_MAX])
{
	size_t i = 0;

	while (i < nr - 1 && n % units[i].factor != 0)
		i++;
	snprintf(out, CONFIG_VALUE_MAX, "%" PRIu64 "%s", n / units[i].factor,
		 n ? units[i].name : "");
}

void
config_bytes_print(uint64_t bytes, char out[CONFIG_VALUE_MAX])
{
	print_units(byte_units, sizeof(byte_units) / sizeof(byte_units[0]), bytes, out);
}

int
config_time_parse(const char *text, uint64_t *ret_ns)
{
	int error = time_text_duration(text, ret_ns);

	if (error)
		return error == -FMT_E_TOO_BIG ? -ERANGE : -EINVAL;
	return 0;
}

void
config_time_print(uint64_t ns, char out[CONFIG_VALUE_MAX])
{
	print_units(time_units, sizeof(time_units) / sizeof(time_units[0]), ns, out);
}

int
config_percent_parse(const char *text, uint32_t *ret)
{
	uint64_t whole, fraction = 0;
	int digits = take_digits(&text, &whole);

	if (digits < 0 || whole > UINT32_MAX / 1000 - 1)
		return -ERANGE;
	if (digits == 0)
		return -EINVAL;
	if (*text == '.') {
		text++;
		digits = take_digits(&text, &fraction);
		if (digits < 1 || digits > 3)
			return -EINVAL;
		for (; digits < 3; digits++)
			fraction *= 10;
	}
	text += strspn(text, " \t");
	if (*text == '%')
		text++;
	if (*text)
		return -EINVAL;
	*ret = (uint32_t)(whole * 1000 + fraction);
	return 0;
}

void
config_percent_print(uint32_t thousandths, char out[CONFIG_VALUE_MAX])
{
	int n = snprintf(out, CONFIG_VALUE_MAX, "%u.%03u", thousandths / 1000, thousandths % 1000);

	while (n > 0 && out[n - 1] == '0')
		n--;
	if (n > 0 && out[n - 1] == '.')
		n--;
	snprintf(out + n, CONFIG_VALUE_MAX - (size_t)n, "%%");
}

bool
config_label_good(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t n = strspn(s, letters);

	return n > 0 && n <= LABEL_BYTES_MAX && !s[n] && s[0] != '.';
}

int
config_call_graph_parse(const char *text, struct session_options *options)
{
	if (session_call_graph_parse(text, options) != 0 ||
	    options->call_graph == SESSION_CALL_GRAPH_LBR || options->extra.deferred)
		return -EINVAL;
	return 0;
}

int
config_flight_parse(const char *text, uint64_t *ret_ns, uint64_t *ret_hz)
{
	const char *at = strchr(text, '@'), *end = at;
	char span[CONFIG_VALUE_MAX];
	uint64_t ns, hz;

	if (strcmp(text, "none") == 0) {
		*ret_ns = *ret_hz = 0;
		return 0;
	}
	while (end && end > text && end[-1] == ' ')
		end--;
	if (!end || (size_t)(end - text) >= sizeof(span))
		return -EINVAL;
	memcpy(span, text, (size_t)(end - text));
	span[end - text] = '\0';
	at += 1 + strspn(at + 1, " ");
	if (config_time_parse(span, &ns) != 0 || config_count_parse(at, &hz) != 0)
		return -EINVAL;
	if (!ns || ns > FLIGHT_NS_MAX || !hz || hz > FLIGHT_HZ_MAX)
		return -EINVAL;
	*ret_ns = ns;
	*ret_hz = hz;
	return 0;
}
