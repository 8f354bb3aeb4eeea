/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/name_room.h"

#include <string.h>

#include <bsd/string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/object_store.h"

bool
name_room_init(struct name_room *n, bool no_demangle, enum demangle_style style)
{
	*n = (struct name_room){ .no_demangle = no_demangle, .style = style };
	n->strings = intern_new(INTERN_BYTES_MAX);
	if (n->strings)
		intern_keep_short(n->strings);
	return n->strings != NULL;
}

void
name_room_done(struct name_room *n)
{
	intern_free(n->strings);
	fair_accounts_done(&n->makers);
}

/* As intern_add_for(); remembers the first owner who had no room left. */
static const char *
name_room_add(struct name_room *n, const char *s, size_t len, size_t *owner, size_t *group,
	      const char *path)
{
	const uint64_t left_out = intern_left_out(n->strings);
	const char *kept = intern_add_for(n->strings, s, len, owner, group);

	if (path && !n->lost[0] && intern_left_out(n->strings) != left_out)
		(void)strlcpy(n->lost, path, sizeof(n->lost));
	return kept;
}

static const char *
name_room_of(struct name_room *n, struct object *of, const char *s, size_t len)
{
	size_t *group = of && of->owner != OBJECT_TRUSTED ? &n->others_bytes : NULL;

	return name_room_add(n, s, len, of ? &of->names_bytes : NULL, group, of ? of->path : NULL);
}

int
name_room_symbol(struct name_room *n, struct object *of, const char *raw, const char **ret)
{
	const uint64_t left_out = intern_left_out(n->strings);
	unsigned *cut = of && of->owner != OBJECT_TRUSTED ? &n->others_cut : &n->cut;
	char out[DEMANGLE_OUTPUT_MAX];
	/* With its "@VERSION", as perf prints it: cfree@GLIBC_2.2.5 is not what is linked to now. */
	const char *name = name_room_of(n, of, raw, strnlen(raw, SYMBOL_NAME_MAX));
	const char **pretty;
	size_t len;

	*ret = name;
	if (name == NULL)
		return -FMT_E_NOMEM;
	if (n->no_demangle || (name[0] != '_' && name[0] != 'c'))
		return 0;
	pretty = intern_note(n->strings, name);
	if (*pretty == NULL) {
		len = demangle_patiently(name, n->style, out, sizeof(out), cut);
		*ret = len ? name_room_of(n, of, out, len) : name;
		if (*ret == NULL)
			return -FMT_E_NOMEM;
		/* Of another object with this name there may be room. */
		if (intern_left_out(n->strings) == left_out)
			*pretty = *ret;
		return 0;
	}
	*ret = *pretty;
	return 0;
}

const char *
name_room_text(struct name_room *n, struct object *of, const char *text)
{
	return name_room_of(n, of, text, strnlen(text, INTERN_LENGTH_MAX));
}

const char *
name_room_label(struct name_room *n, const char *text)
{
	return intern_add_for(n->strings, text, INTERN_LENGTH_MAX, NULL, &n->label_bytes);
}

const char *
name_room_made(struct name_room *n, const char *path, const char *name)
{
	struct fair_account *maker = fair_accounts_of(&n->makers, (uintptr_t)path);

	return maker
		? name_room_add(n, name, INTERN_LENGTH_MAX, &maker->bytes, &n->made_bytes, path)
		: NULL;
}
