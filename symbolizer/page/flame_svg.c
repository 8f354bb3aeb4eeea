/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/page/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/page/flame_data.h"
#include "symbolizer/page/page.h"
#include "symbolizer/profile/call_tree.h"
#include "symbolizer/text/escape.h"

#define WIDTH 1200
#define ROW 16
#define LINE 17
#define MARGIN 10
#define CHARACTER 7.2 /* of 12 px in a font of one width */
#define DRAWN (WIDTH - 2.0 * MARGIN)
#define NARROWEST 0.1 /* as flamegraph.pl: pixels; what is narrower is left out */
/* Percent: surely narrower, whichever way it is rounded. Narrow boxes are right of their wide siblings. */
#define TOO_SMALL (100 * NARROWEST / DRAWN * 0.999999)
#define NAME_CHARACTERS 400

struct drawing {
	const struct flame_svg *s;
	FILE *out;
	struct buf text, name;
	bool nomem;
	/* Of the event that is drawn. */
	const struct call_tree *tree;
	int event;
	bool by_period;
	double per_weight; /* pixels */
	uint32_t rows;
	uint64_t *next; /* by depth: weight to the left of the next box there */
	size_t cap_next;
	unsigned int top;
};

static uint64_t
box_weight(const struct drawing *d, const struct profile_weight *w)
{
	return d->by_period ? w->period : w->samples;
}

/* Up to so many characters of text that is escaped already, and what tells that there is more. */
static void
put_clipped(struct drawing *d, const char *escaped, size_t room)
{
	const char *end = escaped;
	struct buf part;

	for (size_t n = 0; n < room && *end; n++)
		escape_next(&end);
	buf_init(&part);
	buf_append(&part, escaped, (size_t)(end - escaped));
	buf_u8(&part, 0);
	buf_clear(&d->text);
	if (!buf_failed(&part))
		page_escape(&d->text, (const char *)part.p);
	if (*end)
		buf_text(&d->text, "..");
	if (!buf_failed(&part) && !buf_failed(&d->text))
		fwrite(d->text.p, 1, d->text.len, d->out);
	else
		d->nomem = true;
	buf_done(&part);
}

static void
put_text(struct drawing *d, const char *class, unsigned int y, const char *text)
{
	fprintf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class, MARGIN, y);
	put_clipped(d, text, NAME_CHARACTERS);
	fputs("</text>\n", d->out);
}

/* Its name, escaped, as a string in d->name. */
static const char *
box_name(struct drawing *d, uint32_t i, const struct call_node *n)
{
	static const struct stack_export plain = { .profile = NULL };

	buf_clear(&d->name);
	if (n->frame != CALL_TREE_NONE)
		stack_export_frame_name(&plain, profile_frame(d->s->profile, n->frame), escape,
					&d->name);
	else
		escape(&d->name, i == CALL_TREE_ROOT ? "all" : n->comm ? n->comm : "[unknown]");
	buf_u8(&d->name, 0);
	if (!buf_failed(&d->name))
		return (const char *)d->name.p;
	d->nomem = true;
	return "";
}

/* Red, green, blue; names that differ have shades that mostly do, the same in every picture. */
static uint32_t
box_colour(const struct drawing *d, const struct call_node *n, const char *name)
{
	static const uint8_t base[FLAME_KINDS_MAX + 1][3] = {
		[FLAME_kernel] = { 150, 190, 232 }, [FLAME_inlined] = { 243, 226, 130 },
		[FLAME_jit] = { 157, 212, 170 },    [FLAME_unknown] = { 196, 196, 196 },
		[FLAME_user] = { 242, 172, 130 },   [FLAME_KINDS_MAX] = { 189, 178, 209 },
	};
	const uint8_t *rgb = base[n->frame == CALL_TREE_NONE
					  ? FLAME_KINDS_MAX
					  : flame_kind_of(profile_frame(d->s->profile, n->frame))];
	uint32_t hash = 0x811c9dc5, colour = 0;
	int shade;

	for (size_t i = 0; n->frame != CALL_TREE_NONE && name[i] && i < 80; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x01000193;
	shade = n->frame == CALL_TREE_NONE ? 0 : (int)((hash >> 8) % 5) * 6 - 12;
	for (int k = 0; k < 3; k++)
		colour = colour << 8 | (uint32_t)(rgb[k] + shade > 255 ? 255 : rgb[k] + shade);
	return colour;
}

static void
put_weight(struct drawing *d, const struct call_node *n)
{
	const struct call_node *all = call_tree_node(d->tree, CALL_TREE_ROOT);
	const uint64_t whole = box_weight(d, &all->total), own = box_weight(d, &n->total);
	const char *event = profile_event_name(d->s->profile, d->event);

	fprintf(d->out, " (%" PRIu64 " samples, ", n->total.samples);
	if (d->by_period && event && stack_export_is_time(event))
		fprintf(d->out, "%.3f %s, ", (double)n->total.period / 1e9,
			stack_export_is_clock(event) ? "CPU s" : "s");
	fprintf(d->out, "%.2f %%)", whole > 0 ? 100.0 * (double)own / (double)whole : 0);
}

static void
put_box(struct drawing *d, uint32_t i, uint32_t depth, uint64_t before)
{
	const struct call_node *n = call_tree_node(d->tree, i);
	const double x = MARGIN + (double)before * d->per_weight,
		     width = (double)box_weight(d, &n->total) * d->per_weight;
	const unsigned int y =
		d->top + (d->s->inverted ? depth : d->rows - 1 - depth) * (unsigned int)ROW;
	const char *name = box_name(d, i, n);
	const double room = (width - 6) / CHARACTER;

	fputs("<g><title>", d->out);
	put_clipped(d, name, NAME_CHARACTERS);
	put_weight(d, n);
	fprintf(d->out,
		"</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#%06" PRIx32
		"\"/>",
		x, y, width, ROW - 1, box_colour(d, n, name));
	if (room >= 3) {
		const bool whole = strlen(name) <= (size_t)room;

		fprintf(d->out, "<text x=\"%.1f\" y=\"%u\">", x + 3, y + 12);
		put_clipped(d, name, whole ? (size_t)room : (size_t)room - 2);
		fputs("</text>", d->out);
	}
	fputs("</g>\n", d->out);
}

/* Each box that is wide enough, callers first. put: else only how deep they go is found out. */
static int
walk(struct drawing *d, bool put)
{
	uint32_t at = CALL_TREE_ROOT, depth = 0;
	const struct call_node *n;

	d->rows = put ? d->rows : 0;
	for (;;) {
		if (array_reserve(d->next, depth, d->cap_next, 2) < 0)
			return -FMT_E_NOMEM;
		if (depth == 0)
			d->next[0] = 0;
		n = call_tree_node(d->tree, at);
		d->next[depth + 1] = d->next[depth];
		if ((double)box_weight(d, &n->total) * d->per_weight >= NARROWEST) {
			if (put)
				put_box(d, at, depth, d->next[depth]);
			else if (depth >= d->rows)
				d->rows = depth + 1;
			d->next[depth] += box_weight(d, &n->total);
			if (n->first_child != CALL_TREE_NONE) {
				at = n->first_child;
				depth++;
				continue;
			}
		} else {
			d->next[depth] += box_weight(d, &n->total);
		}
		while (at != CALL_TREE_ROOT &&
		       call_tree_node(d->tree, at)->next == CALL_TREE_NONE) {
			at = call_tree_node(d->tree, at)->parent;
			depth--;
		}
		if (at == CALL_TREE_ROOT)
			return 0;
		at = call_tree_node(d->tree, at)->next;
	}
}

/* Sets d up for an event: 0, or -FMT_E_NOMEM. Without samples it has no rows. */
static int
begin_event(struct drawing *d, struct call_tree **ret)
{
	struct profile_weight all; /* what the whole width is */
	int err = call_tree_build(d->s->profile, d->event, d->s->inverted, TOO_SMALL, NULL, ret);

	if (err < 0)
		return err;
	all = call_tree_node(*ret, CALL_TREE_ROOT)->total;
	d->tree = *ret;
	d->rows = 0;
	d->by_period = all.period > 0;
	if (all.samples == 0)
		return 0;
	d->per_weight = DRAWN / (double)box_weight(d, &all);
	return walk(d, false);
}

/* put: else only d->top moves to where the next one begins. */
static int
do_events(struct drawing *d, bool put)
{
	int err = 0;

	for (d->event = -1; err == 0; d->event++) {
		struct call_tree *t = NULL;
		char *name;

		d->event = profile_event_from(d->s->profile, d->event);
		if (d->event == profile_events(d->s->profile))
			break;
		err = begin_event(d, &t);
		if (err == 0 && d->rows > 0) {
			if (put) {
				name = escape_dup(
					d->event < 0 ? "[unknown]"
						     : profile_event_name(d->s->profile, d->event));
				put_text(d, "fact", d->top + 12, name ? name : "");
				err = name ? 0 : -FMT_E_NOMEM;
				free(name);
			}
			d->top += LINE;
			if (put && err == 0)
				err = walk(d, true);
			d->top += d->rows * ROW + MARGIN;
		}
		call_tree_free(t);
	}
	return err;
}

static void
put_head(struct drawing *d, unsigned int height)
{
	const struct flame_svg *s = d->s;
	const char *facts = (const char *)s->facts->p;
	char *title = escape_dup(s->title);
	unsigned int y = MARGIN + LINE;

	fprintf(d->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"12\">\n"
		"<style>.head{font:bold 16px sans-serif}.fact{font:12px sans-serif;fill:#444}"
		"text{fill:#111}g:hover rect{stroke:#111;stroke-width:0.7}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	put_text(d, "head", y, title ? title : "");
	for (size_t at = 0; at < s->facts->len; at += strlen(facts + at) + 1)
		put_text(d, "fact", y += LINE, facts + at);
	d->nomem |= !title;
	free(title);
}

int
flame_svg_write(const struct flame_svg *s, FILE *out)
{
	struct drawing d = { .s = s, .out = out };
	unsigned int above = MARGIN + 2 * LINE;
	int err;

	buf_init(&d.text);
	buf_init(&d.name);
	for (size_t i = 0; i < s->facts->len; i++)
		above += s->facts->p[i] == 0 ? LINE : 0;
	d.top = above;
	err = do_events(&d, false);
	if (err == 0) {
		put_head(&d, d.top);
		d.top = above;
		err = do_events(&d, true);
	}
	fputs("</svg>\n", out);
	if (d.nomem)
		err = -FMT_E_NOMEM;
	buf_done(&d.text);
	buf_done(&d.name);
	free(d.next);
	return err;
}
