/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heat map: columns of time, and either their parts from the bottom up or a row each of services,
 * processes... A selection is a span of time, in words that spoor takes. Cells are numbered by time
 * alone: in parts, one after another through all columns.
 */
"use strict";
(() => {
	const { $, data, element, number, percent, clip } = Page;
	const AXIS = 22, GAP = 6;
	const parts = data.parts, width = BigInt(data.width_ns);
	const NS = 1000000000n;
	let event = 0, scale = "all", from = null, to = null, row = -1; /* row -1: all */
	let at = { cell: 0, row: 0 }, held = null;

	/* --- numbers ------------------------------------------------------------------------ */

	const now = () => data.events[event];
	const own_rows = () => parts ? [now().all] : now().rows;
	const drawn = data.events.map(e => parts ? [e.all] : e.others.rows > 0 ? [...e.rows, e.others] : e.rows);
	const rows = () => drawn[event];
	const value_of = (samples, period) => now().unit === "cpu-seconds" ? period / 1e9
		: now().unit === "estimated-cpu-seconds" ? samples / now().frequency : period;
	const cell_value = (r, i) => value_of(r.samples[i], r.period[i]);
	const unit = () => now().unit === "events" ? "events" : "CPU s";
	const rate_unit = () => now().unit === "events" ? "events/s" : "CPUs";
	const short = v => v >= 1000 ? number(v) : v.toFixed(v < 10 ? 2 : 1);
	const rate = v => short(v * 1e9 / Number(width));
	const most = new Map();
	const most_of = r => {
		if (!most.has(r)) {
			let m = 0;
			for (let i = 0; i < data.cells; i++)
				m = Math.max(m, cell_value(r, i));
			most.set(r, m);
		}
		return most.get(r);
	};
	/* Of those that are one thing each: the sum of the others may be above it. */
	const hottest = () => own_rows().reduce((m, r) => Math.max(m, most_of(r)), 0);
	const full = r => scale === "each" && !parts ? most_of(r) : hottest();

	/* --- times -------------------------------------------------------------------------- */

	const start_of = i => BigInt(data.start_ns) + width * BigInt(i);
	const seconds = (ns, digits) => {
		const sign = ns < 0n ? "-" : "", n = ns < 0n ? -ns : ns;
		return sign + n / NS + (digits ? "." + String(n % NS).padStart(9, "0").slice(0, digits) : "");
	};
	const zone = () => {
		const m = Math.abs(data.zone_s) / 60 | 0, two = n => String(n).padStart(2, "0");
		return (data.zone_s < 0 ? "-" : "+") + two(m / 60 | 0) + ":" + two(m % 60);
	};
	/* On clocks where the page was made. */
	const day_time = (ns, digits) => {
		const local = ns + BigInt(data.zone_s) * NS, part = (local % NS + NS) % NS;
		return new Date(Number((local - part) / 1000000n)).toISOString().slice(0, 19).replace("T", " ") +
			(digits ? "." + String(part).padStart(9, "0").slice(0, digits) : "");
	};
	const digits = width % NS === 0n ? 0 : width % 1000000n === 0n ? 3 : width % 1000n === 0n ? 6 : 9;
	const wall = i => start_of(i) + BigInt(data.realtime_ns);
	const time_text = i => data.realtime_ns !== null ? day_time(wall(i), digits) : seconds(start_of(i), digits) + " s";

	/* Without options a row is no command's: it is then of all rows. */
	const is_of_row = () => row < 0 || Array.isArray(rows()[row].options);
	const is_of_event = () => data.events.length < 2 || now().option !== null;
	/* What is selected but for its time: pairs of an option and its value. */
	const choice = () => {
		const options = [];
		if (data.events.length > 1 && is_of_event())
			options.push(["event", now().option]);
		if (row >= 0 && is_of_row()) {
			const [name, value, mode] = rows()[row].options;
			if (name)
				options.push([name, value]);
			if (mode)
				options.push([mode]);
		}
		return options;
	};
	/* Clocks of recordings need not be the same: an archive is asked by the time of day. */
	const quote = s => /^[\w@%+=:,.\/-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'";
	const command = () => {
		if (from === null)
			return "";
		const words = ["spoor", "report"], chosen = choice();
		if (data.archive)
			words.push("--since", day_time(wall(from), digits) + zone(), "--until",
				day_time(wall(to + 1), digits) + zone());
		else
			words.push("--time", seconds(start_of(from), 9) + "," + seconds(start_of(to + 1), 9));
		const put = (name, value) => words.push("--" + name, ...(value ? [value] : []));
		chosen.forEach(option => put(...option));
		/* Values of an option unite: a filter would bring back what the row's own option leaves out. */
		const said = new Set(["time", "since", "until", "last", ...chosen.map(option => option[0])]);
		for (const given of [...data.filters, ...data.places]) {
			const blank = given.indexOf(" "), name = given.slice(2, blank);
			if (!said.has(name))
				put(name, given.slice(blank + 1));
		}
		return words.concat(data.file).map(quote).join(" ");
	};

	/* --- where things are --------------------------------------------------------------- */

	const first = parts ? Number((BigInt(data.first_cell)) % BigInt(parts)) : 0;
	const columns = parts ? Math.ceil((first + data.cells) / parts) : data.cells;
	let left = 0, w = 1, h = 1, seen = { wide: 1, high: 1 };
	const lines = () => parts || rows().length;
	const column_of = i => parts ? Math.floor((i + first) / parts) : i;
	const line_of = (i, r) => parts ? parts - 1 - (i + first) % parts : r;
	const inside = i => Math.max(0, Math.min(data.cells - 1, i));
	const cell_at = (x, y) => {
		const c = Math.max(0, Math.min(columns - 1, Math.floor((x - left) / w)));
		const l = Math.max(0, Math.min(lines() - 1, Math.floor((y - AXIS) / h)));
		return parts ? { cell: inside(c * parts + parts - 1 - l - first), row: 0 } : { cell: inside(c), row: l };
	};
	/* Ids of containers are shown as in the terminal (text/unit_name.h). */
	const ids = name => data.by === "unit" || data.by === "cgroup"
		? name.replace(/(?<![0-9a-f])([0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])/g, "$1") : name;
	const label = r => r === now().all ? "(all)" : r === now().others ? `(${r.rows} other${r.rows === 1 ? "" : "s"})`
		: r.number !== null && data.by === "cpu" ? "CPU " + r.number
		: (r.number !== null ? r.number + " " : "") + (r.name === null ? "[unknown]" : ids(r.name));

	/* --- drawing ------------------------------------------------------------------------ */

	/* The canvas is as large as what can be seen; "tall", which is scrolled, as large as all of it. */
	const canvas = $("canvas"), stage = $("stage"), pen = canvas.getContext("2d");
	const shades = () => {
		const dark = Page.dark(), list = [];
		for (let i = 0; i <= 64; i++) {
			const v = i / 64;
			list.push(dark ? `rgb(${60 + 195 * Math.min(1, v * 1.4)},${20 + 215 * v * v},${20 + 120 * v ** 4})`
				: `rgb(${255 - 115 * v * v},${Math.round(235 * (1 - v))},${Math.round(205 * (1 - v) ** 2)})`);
		}
		return list;
	};
	const place = () => {
		const high = AXIS + lines() * (h = parts ? 8 : 20) + 1;
		$("tall").style.height = high + "px";
		const room = stage.clientWidth, ratio = window.devicePixelRatio || 1;
		left = parts ? 56 : Math.min(190, Math.round(room * 0.34));
		w = Math.max(2, (room - left - 1) / columns);
		if (w > 3)
			w = Math.floor(w);
		w = Math.min(w, parts ? 28 : 60);
		const wide = Math.ceil(left + columns * w + 1);
		$("tall").style.width = wide + "px";
		seen = { wide: Math.min(wide, stage.clientWidth), high: Math.min(high, stage.clientHeight) };
		canvas.width = Math.round(seen.wide * ratio);
		canvas.height = Math.round(seen.high * ratio);
		canvas.style.width = seen.wide + "px";
		canvas.style.height = seen.high + "px";
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	};
	/* A part of the canvas; x and y: how far what is in it is scrolled. */
	const within = (x0, y0, x1, y1, x, y, paint) => {
		pen.save();
		pen.beginPath();
		pen.rect(x0, y0, x1 - x0, y1 - y0);
		pen.clip();
		pen.translate(-x, -y);
		paint();
		pen.restore();
	};
	const is_seen_row = k => AXIS + (k + 1) * h > stage.scrollTop + AXIS && AXIS + k * h < stage.scrollTop + seen.high;
	/* Scrolls to a place of "tall". */
	const reveal = (x0, y0, x1, y1) => {
		if (x0 < stage.scrollLeft + left)
			stage.scrollLeft = x0 - left;
		else if (x1 > stage.scrollLeft + stage.clientWidth)
			stage.scrollLeft = x1 - stage.clientWidth;
		if (y0 < stage.scrollTop + AXIS)
			stage.scrollTop = y0 - AXIS;
		else if (y1 > stage.scrollTop + stage.clientHeight)
			stage.scrollTop = y1 - stage.clientHeight;
	};
	const draw_axis = text => {
		pen.fillStyle = text;
		let end = 0;
		const step = Math.max(1, Math.ceil(76 / w));
		for (let c = 0; c < columns; c++) {
			const i = inside(parts ? c * parts - first : c), x = left + c * w;
			if (c % step || x < end)
				continue;
			const words = data.realtime_ns !== null ? day_time(wall(i), 0).slice(11) : seconds(start_of(i), 2) + " s";
			pen.fillRect(x, AXIS - 5, 1, 5);
			pen.fillText(words, x + 3, AXIS / 2);
			end = x + pen.measureText(words).width + 12;
		}
	};
	/* Names of one kind begin alike: what is left out is their middle. */
	const fit = (name, room) => {
		const all = [...name.slice(0, 400)];
		const ends = n => all.slice(0, Math.ceil(n / 2)).join("") + "\u2026" + all.slice(all.length - (n >> 1)).join("");
		if (name.length <= 400 && pen.measureText(name).width <= room)
			return name;
		let low = 0, high = all.length;
		while (low < high) {
			const n = (low + high + 1) >> 1;
			if (pen.measureText(ends(n)).width <= room)
				low = n;
			else
				high = n - 1;
		}
		return ends(low);
	};
	const draw_names = text => {
		pen.fillStyle = text;
		if (parts) {
			for (let k = 0; k < parts; k += 10)
				pen.fillText(number(Number(width) * k / 1e6) + " ms", 2, AXIS + (parts - k - 0.5) * h);
			return;
		}
		rows().forEach((r, k) => {
			if (is_seen_row(k))
				pen.fillText(fit(label(r), left - GAP), 2, AXIS + (k + 0.5) * h);
		});
	};
	const draw_cells = () => {
		const list = shades(), missing = new Set(data.not_recorded);
		rows().forEach((r, k) => {
			if (!parts && !is_seen_row(k))
				return;
			const m = full(r);
			for (let i = 0; i < data.cells; i++) {
				const v = cell_value(r, i), x = left + column_of(i) * w, y = AXIS + line_of(i, k) * h;
				if (x + w < stage.scrollLeft + left || x > stage.scrollLeft + seen.wide)
					continue;
				if (v > 0)
					pen.fillStyle = list[m > 0 ? Math.min(64, Math.ceil(64 * v / m)) : 0];
				else if (missing.has(i))
					pen.fillStyle = Page.dark() ? "#3b3f47" : "#d5d7da";
				else
					continue;
				pen.fillRect(x, y, w > 3 ? w - 0.5 : w, h > 4 ? h - 0.5 : h);
			}
		});
		draw_selection();
	};
	/* The axis and the names stay where they are. */
	const draw = () => {
		if (empty)
			return;
		const text = getComputedStyle(document.body).color;
		place();
		const x = stage.scrollLeft, y = stage.scrollTop;
		pen.clearRect(0, 0, seen.wide, seen.high);
		pen.font = "12px system-ui, sans-serif";
		pen.textBaseline = "middle";
		within(left - 1, 0, seen.wide, AXIS, x, 0, () => draw_axis(text));
		within(0, AXIS, left, seen.high, 0, y, () => draw_names(text));
		within(left - 1, AXIS - 1, seen.wide, seen.high, x, y, draw_cells);
		$("legend").textContent = "Hottest: " + rate(hottest()) + " " +
			rate_unit() + (data.not_recorded.length ? "; grey: not recorded" : "");
	};
	const draw_selection = () => {
		const accent = Page.dark() ? "#8ab8ff" : "#0b57c2";
		pen.fillStyle = accent;
		if (from !== null) {
			pen.globalAlpha = 0.35;
			for (let i = from; i <= to; i++)
				if (row >= 0 || parts)
					pen.fillRect(left + column_of(i) * w, AXIS + line_of(i, Math.max(0, row)) * h, w, h);
				else
					pen.fillRect(left + column_of(i) * w, AXIS, w, lines() * h);
			pen.globalAlpha = 1;
		}
		pen.strokeStyle = accent;
		pen.lineWidth = 1.5;
		pen.strokeRect(left + column_of(at.cell) * w, AXIS + line_of(at.cell, at.row) * h, w, h);
	};

	/* --- words -------------------------------------------------------------------------- */

	const cell_text = p => {
		const r = rows()[p.row], v = cell_value(r, p.cell);
		return (parts ? "" : label(r) + ": ") + time_text(p.cell) + ": " + rate(v) + " " + rate_unit() + ", " +
			number(r.samples[p.cell]) + " samples" +
			(data.not_recorded.includes(p.cell) ? ", not recorded"
				: data.incomplete.includes(p.cell) ? ", incomplete" : "");
	};
	const totals = () => {
		const r = row >= 0 ? rows()[row] : now().all;
		let samples = 0, period = 0;
		for (let i = from; i <= to; i++) {
			samples += r.samples[i];
			period += r.period[i];
		}
		return { samples, period, value: value_of(samples, period),
			whole: value_of(now().whole_samples, now().whole_period),
			seconds: Number(width) * (to - from + 1) / 1e9 };
	};
	const tell = () => {
		$("cell").textContent = clip(cell_text(at), 400);
		$("chosen").hidden = from === null;
		if (from !== null) {
			const t = totals();
			$("totals").textContent = clip(`${time_text(from)} to ${time_text(to + 1)}` +
				(row >= 0 && !parts ? ", " + label(rows()[row]) : "") +
				`: ${short(t.value)} ${unit()} in ${short(t.seconds)} s, ${number(t.samples)} samples, ` +
				percent(t.value, t.whole) + " of all", 800);
			$("note").textContent = (is_of_row() ? "" : "No options choose this row alone: the command is of all rows. ") +
				(is_of_event() ? "" : "No option chooses this event alone: the command is of all events.");
			$("note").hidden = is_of_row() && is_of_event();
			$("command").value = command();
		}
		Page.write_state({ from, to, row: row >= 0 ? row : null, event: event || null, scale: scale === "all" ? null : scale,
			theme: Page.theme() });
		draw();
	};

	/* --- choosing ----------------------------------------------------------------------- */

	const select = (a, b, r) => {
		from = a === null ? null : Math.min(inside(a), inside(b));
		to = a === null ? null : Math.max(inside(a), inside(b));
		row = a === null || parts || r === undefined || r >= rows().length ? -1 : r;
	};
	const point = e => {
		const box = canvas.getBoundingClientRect();
		return cell_at(Math.max(left, e.clientX - box.left) + stage.scrollLeft,
			Math.max(AXIS, e.clientY - box.top) + stage.scrollTop);
	};
	canvas.addEventListener("pointerdown", e => {
		if (e.button !== 0)
			return;
		held = at = point(e);
		canvas.setPointerCapture(e.pointerId);
		select(held.cell, held.cell, held.row);
		tell();
	});
	canvas.addEventListener("pointermove", e => {
		const p = point(e);
		$("tip").hidden = false;
		$("tip").textContent = clip(cell_text(p), 300);
		$("tip").style.left = Math.min(e.clientX + 12, innerWidth - $("tip").offsetWidth - 4) + "px";
		$("tip").style.top = Math.min(e.clientY + 16, innerHeight - $("tip").offsetHeight - 4) + "px";
		if (held && (p.cell !== at.cell || p.row !== at.row)) {
			at = p;
			select(held.cell, p.cell, held.row === p.row ? p.row : undefined);
			tell();
		}
	});
	canvas.addEventListener("pointerup", () => { held = null; });
	canvas.addEventListener("pointercancel", () => { held = null; });
	canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });

	let anchor = null;
	const move = (cells, lines_down, extend) => {
		const last = at;
		const next = parts ? at.cell + cells * parts - lines_down : at.cell + cells;
		if (next < 0 || next >= data.cells)
			return;
		at = { cell: next, row: parts ? 0 : Math.max(0, Math.min(rows().length - 1, at.row + lines_down)) };
		if (extend) {
			anchor = anchor || last;
			select(anchor.cell, at.cell, anchor.row === at.row ? at.row : undefined);
		} else {
			anchor = null;
		}
		const x = left + column_of(at.cell) * w, y = AXIS + line_of(at.cell, at.row) * h;
		reveal(x, y, x + w, y + h);
		tell();
	};
	const toggle_theme = () => { Page.toggle_theme(); tell(); };
	stage.addEventListener("scroll", draw);
	stage.addEventListener("keydown", e => {
		const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
		if (!steps[e.key] || e.ctrlKey || e.altKey || e.metaKey)
			return;
		move(...steps[e.key], e.shiftKey);
		e.preventDefault();
	});
	document.addEventListener("keydown", e => {
		if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("input, select"))
			return;
		if (e.key === "t")
			toggle_theme();
		else if (e.key === "Escape" && !$("keys").open) {
			select(null);
			tell();
		}
	});
	$("theme").onclick = toggle_theme;
	$("help").onclick = () => $("keys").showModal();
	$("clear").onclick = () => { select(null); tell(); };
	$("copy").onclick = () => {
		$("command").select();
		if (navigator.clipboard)
			navigator.clipboard.writeText($("command").value).catch(() => {});
	};
	$("event").onchange = () => { event = Number($("event").value); at.row = 0; select(null); most.clear(); tell(); };
	$("scale").onchange = () => { scale = $("scale").value; tell(); };
	addEventListener("resize", draw);
	Page.dark_screen.addEventListener("change", draw);

	/* --- the beginning ------------------------------------------------------------------ */

	const empty = data.events.length === 0;
	const summary = () => {
		if (empty)
			return "Nothing was sampled.";
		const t = value_of(now().all_samples, now().all_period);
		return `${short(t)} ${unit()}${now().unit === "estimated-cpu-seconds" ? " (estimated)" : ""}, ` +
			`${number(now().all_samples)} samples of ${clip(now().event, 80)}.`;
	};
	Page.tell(summary());
	if (empty) {
		stage.hidden = true;
	} else {
		data.events.forEach((e, i) => $("event").append(element("option", { value: i }, clip(e.event, 80))));
		$("event_label").hidden = data.events.length < 2;
		$("scale_label").hidden = parts > 0;
		const state = Page.read_state();
		Page.set_theme(state.theme);
		event = Number(state.event) < data.events.length ? Number(state.event) || 0 : 0;
		scale = state.scale === "each" ? "each" : "all";
		$("event").value = event;
		$("scale").value = scale;
		if (state.from !== undefined && Number(state.from) >= 0 && Number(state.to) >= 0)
			select(Number(state.from), Number(state.to), state.row === undefined ? undefined : Number(state.row));
		tell();
	}
	window.heat = { cells: data.cells, columns, state: () => ({ from, to, row, event, scale, at, theme: Page.theme() }),
		place_of: (cell, r) => [left + (column_of(cell) + 0.5) * w, AXIS + (line_of(cell, r || 0) + 0.5) * h],
		totals: () => from === null ? null : totals(), command, rows: () => rows().map(label),
		pixel: (x, y) => {
			const one = element("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
			const ratio = canvas.width / canvas.clientWidth;
			reveal(x - w, y - h, x + w, y + h);
			draw();
			one.drawImage(canvas, Math.round((x - stage.scrollLeft) * ratio), Math.round((y - stage.scrollTop) * ratio),
				1, 1, 0, 0, 1, 1);
			return [...one.getImageData(0, 0, 1, 1).data];
		} };
})();
