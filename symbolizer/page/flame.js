/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph. The data has the stacks as one tree of frames (nodes, parents first) and rows of who
 * was sampled where. What is shown is a tree of boxes, made as far as they are wide enough to be seen:
 * from the outermost frames on, or (callers) from the sampled ones. A box lies between x0 and x1, as
 * parts of the whole; the view is such a part too, so that to zoom is to change two numbers.
 */
(() => {
const { $, data, element, number, percent, clip } = Page;
const ROW = 18, FONT = "12px ui-monospace, Menlo, Consolas, monospace";
const NARROWEST = 0.7; /* pixels; what is narrower is drawn together with its neighbours */
const ZOOM_MS = 160;

/* --- the data ----------------------------------------------------------------------------------- */

const texts = data.texts, frames = data.frames, whos = data.whos;
const nr_nodes = data.nodes.parent.length + 1, nr_rows = data.rows.node.length;
const parent = new Uint32Array(nr_nodes), frame_of = new Int32Array(nr_nodes);
for (let i = 1; i < nr_nodes; i++) {
	parent[i] = i - data.nodes.parent[i - 1];
	frame_of[i] = data.nodes.frame[i - 1];
}
frame_of[0] = -1;
const row_node = new Uint32Array(nr_rows);
for (let i = 0, node = 0; i < nr_rows; i++)
	row_node[i] = node += data.rows.node[i];
const row_who = Uint32Array.from(data.rows.who);
const row_samples = Float64Array.from(data.rows.samples);
const row_period = Float64Array.from(data.rows.period, n => n * data.period_unit);
const row_bucket = data.time ? Uint32Array.from(data.rows.bucket) : null;
const names = frames.name.map(i => texts[i]);
const kinds = data.kinds;
const two_sides = whos.side.some(side => side === 1);
data.nodes = data.rows = null;

/* --- what is asked for -------------------------------------------------------------------------- */

const SPLITS = {
	none: { title: "nothing", key: () => 0, label: () => "all" },
	comm: { title: "command", key: w => whos.comm[w], label: w => texts[whos.comm[w]] || "[unknown]" },
	pid: { title: "process", key: w => whos.pid[w], label: w => (texts[whos.comm[w]] || "[unknown]") + " " + whos.pid[w] },
	tid: { title: "thread", key: w => whos.tid[w], label: w => (texts[whos.comm[w]] || "[unknown]") + " " + whos.tid[w] },
	unit: { title: "service", key: w => whos.unit[w], label: w => texts[whos.unit[w]] || "(no service)" },
	cgroup: { title: "control group", key: w => whos.cgroup[w], label: w => texts[whos.cgroup[w]] || "(no control group)" },
	cpu: { title: "CPU", key: w => whos.cpu[w], label: w => "CPU " + whos.cpu[w] },
};
const DEFAULTS = { view: data.view, split: "comm", order: "weight", event: "0", weight: "period", widths: "after", q: "", zoom: "", range: "" };
const state = { ...DEFAULTS };

/* Of an event and a side: the sum of its periods; -1: it has no samples. */
const period_sums = new Float64Array(2 * data.events.length).fill(-1);
row_who.forEach((w, i) => {
	const k = 2 * whos.event[w] + whos.side[w];
	period_sums[k] = Math.max(period_sums[k], 0) + row_period[i];
});
/* Samples of an event without periods weigh one each, as in every report. */
const by_samples = () => state.weight === "samples" || period_sums[2 * state.event] === 0 || period_sums[2 * state.event + 1] === 0;
const clock = () => data.events.length > 0 && data.events[+state.event].clock;
const wait = () => data.events.length > 0 && data.events[+state.event].wait;
/* Samples a second of an event that is sampled by time though it counts something else; 0: of another. */
const rate = () => (data.rates.find(r => r.event === data.events[+state.event].name) || { hz: 0 }).hz;
const weight_text = n => !by_samples() ?
	clock() ? (n / 1e9).toFixed(3) + " CPU s" :
	wait() ? (n / 1e9).toFixed(3) + " s waited" : number(n) + " events" :
	number(n) + " samples" + (rate() ? `, about ${(n / rate()).toFixed(3)} CPU s` : "");

/* --- boxes -------------------------------------------------------------------------------------- */

let tree = null; /* root, total and base of all, groups: labels */

/* Numbers of the groups that a split makes, by who; only of whos that have the event. */
function group_whos() {
	const split = SPLITS[state.split], numbers = new Map(), labels = [];
	const event = +state.event, of_who = new Int32Array(whos.side.length).fill(-1);
	for (let w = 0; w < of_who.length; w++) {
		if (whos.event[w] !== event)
			continue;
		const key = split.key(w);
		let g = numbers.get(key);
		if (g === undefined) {
			numbers.set(key, g = labels.length);
			labels.push(split.label(w));
		} else if ((state.split === "pid" && whos.tid[w] === whos.pid[w])) {
			labels[g] = split.label(w); /* a process has the name of its first thread */
		}
		of_who[w] = g;
	}
	return { of_who, labels };
}

/* Rows that are asked for, by group: order, and where each group begins. */
function choose_rows(groups) {
	const [from, until] = selected_range();
	const start = new Uint32Array(groups.labels.length + 2);
	const group = new Int32Array(nr_rows);
	for (let i = 0; i < nr_rows; i++) {
		/* What it is compared with is of another time anyway. */
		const inside = !row_bucket || whos.side[row_who[i]] === 1 || (row_bucket[i] >= from && row_bucket[i] < until);
		group[i] = inside ? groups.of_who[row_who[i]] : -1;
		start[group[i] + 2]++;
	}
	start[0] = start[1] = 0;
	for (let g = 1; g < start.length; g++)
		start[g] += start[g - 1];
	const order = new Uint32Array(start[start.length - 1]);
	for (let i = 0; i < nr_rows; i++)
		if (group[i] >= 0)
			order[start[group[i] + 1]++] = i;
	return { order, start };
}

const weights = () => by_samples() ? row_samples : row_period;

/* Of each group its nodes, as a tree of their own: ids in which parents come first. */
function top_down(groups, rows) {
	let room = 1 << 16, n = 1;
	let node = new Int32Array(room), up = new Int32Array(room);
	let sums = new Float64Array(room), bases = new Float64Array(room), selfs = new Float64Array(room);
	const add = (of, above) => {
		if (n === room) {
			room *= 2;
			const grown = old => { const v = new old.constructor(room); v.set(old); return v; };
			[node, up, sums, bases, selfs] = [node, up, sums, bases, selfs].map(grown);
		}
		node[n] = of;
		up[n] = above;
		return n++;
	};
	const seen = new Int32Array(nr_nodes).fill(-1), id = new Int32Array(nr_nodes), way = [];
	const weight = weights();
	for (let g = 0; g < groups.labels.length; g++) {
		if (rows.start[g] === rows.start[g + 1])
			continue;
		seen[0] = g;
		id[0] = state.split === "none" ? 0 : add(-1 - g, 0);
		for (let i = rows.start[g]; i < rows.start[g + 1]; i++) {
			const row = rows.order[i];
			let at = row_node[row];
			while (seen[at] !== g) {
				way.push(at);
				at = parent[at];
			}
			let box = id[at];
			while (way.length) {
				at = way.pop();
				box = add(at, box);
				seen[at] = g;
				id[at] = box;
			}
			if (whos.side[row_who[row]]) {
				bases[box] += weight[row];
			} else {
				sums[box] += weight[row];
				selfs[box] += weight[row];
			}
		}
	}
	for (let i = n - 1; i > 0; i--) {
		sums[up[i]] += sums[i];
		bases[up[i]] += bases[i];
	}
	/* Children of i: child[first[i]] to child[first[i + 1]]. */
	const first = new Uint32Array(n + 2), child = new Uint32Array(n);
	for (let i = 1; i < n; i++)
		first[up[i] + 2]++;
	for (let i = 1; i < n + 2; i++)
		first[i] += first[i - 1];
	for (let i = 1; i < n; i++)
		child[first[up[i] + 1]++] = i;
	const box = (i, above) => ({
		above, inside: i, frame: node[i] < 0 ? -1 : frame_of[node[i]], group: node[i] < 0 ? -1 - node[i] : -1,
		w: sums[i], b: bases[i], self: selfs[i], x0: 0, x1: 1, depth: above ? above.depth + 1 : 0, kids: null,
	});
	return {
		root: { ...box(0, null), frame: -1, group: -1 },
		expand: above => {
			const kids = [];
			for (let k = first[above.inside]; k < first[above.inside + 1]; k++)
				kids.push(box(child[k], above));
			return kids;
		},
	};
}

/* From where samples were taken up: a box has the nodes that it stands for, with their weights. */
function bottom_up(groups, rows) {
	const weight = weights();
	const make = (above, frame, group) => ({
		above, frame, group, inside: { nodes: [], w: [], b: [] }, w: 0, b: 0, self: 0,
		x0: 0, x1: 1, depth: above ? above.depth + 1 : 0, kids: null,
	});
	const put = (box, node, w, b) => {
		box.w += w;
		box.b += b;
		if (node > 0) {
			box.inside.nodes.push(node);
			box.inside.w.push(w);
			box.inside.b.push(b);
		}
	};
	const root = make(null, -1, -1);
	const heads = [];
	for (let g = 0; g < groups.labels.length; g++) {
		if (rows.start[g] === rows.start[g + 1])
			continue;
		let head = root;
		if (state.split !== "none")
			heads.push(head = make(root, -1, g));
		for (let i = rows.start[g]; i < rows.start[g + 1]; i++) {
			const row = rows.order[i], before = whos.side[row_who[row]];
			const w = before ? 0 : weight[row], b = before ? weight[row] : 0;
			put(head, row_node[row], w, b);
			if (head !== root) {
				root.w += w;
				root.b += b;
			}
		}
	}
	return {
		root,
		expand: above => {
			if (above === root && state.split !== "none")
				return heads;
			const by_frame = new Map(), inside = above.inside;
			const sampled = above.frame < 0;
			for (let i = 0; i < inside.nodes.length; i++) {
				const node = inside.nodes[i], frame = frame_of[node];
				let kid = by_frame.get(frame);
				if (!kid)
					by_frame.set(frame, kid = make(above, frame, -1));
				put(kid, parent[node], inside.w[i], inside.b[i]);
				if (sampled)
					kid.self += inside.w[i];
			}
			above.inside = null;
			return [...by_frame.values()];
		},
	};
}

const label = box => box.frame >= 0 ? names[box.frame] : box.group >= 0 ? tree.groups[box.group] : "all";
const extent = box => two_sides && state.widths === "before" ? box.b : box.w;

function kids_of(box) {
	if (box.kids)
		return box.kids;
	const kids = tree.expand(box).filter(kid => extent(kid) > 0);
	const by_name = (a, b) => label(a) < label(b) ? -1 : label(a) > label(b) ? 1 : a.frame - b.frame;
	kids.sort(state.order === "name" ? by_name : (a, b) => extent(b) - extent(a) || by_name(a, b));
	let at = box.x0;
	for (const kid of kids) {
		kid.x0 = at;
		kid.x1 = at += extent(kid) / tree.whole;
	}
	return box.kids = kids;
}

function build() {
	const groups = group_whos(), rows = choose_rows(groups);
	tree = (state.view === "callers" ? bottom_up : top_down)(groups, rows);
	tree.groups = groups.labels;
	tree.rows = rows;
	tree.group_of_who = groups.of_who;
	tree.whole = extent(tree.root) || 1;
	zoomed = tree.root;
	cursor = null;
}

/* A box is named by its way from the root, which stays the same as long as the file does. */
function way_to(box) {
	const way = [];
	for (; box.above; box = box.above)
		way.unshift(box.frame >= 0 ? box.frame.toString(36) : "!" + label(box));
	return way.join("~");
}

function box_at(way) {
	let box = tree.root;
	for (const step of way ? way.split("~") : []) {
		const next = kids_of(box).find(kid =>
			step === (kid.frame >= 0 ? kid.frame.toString(36) : "!" + label(kid)));
		if (!next)
			break;
		box = next;
	}
	return box;
}

/* --- search ------------------------------------------------------------------------------------- */

let matches = null; /* by frame: 1; null: nothing is looked for */
let group_matches = null;

function search() {
	matches = group_matches = null;
	$("matched").textContent = "";
	if (!state.q)
		return;
	let pattern, flags = /[A-Z]/.test(state.q) ? "" : "i";
	try {
		pattern = new RegExp(state.q, flags);
	} catch (e) {
		pattern = new RegExp(state.q.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
	}
	matches = Uint8Array.from(names, name => pattern.test(name) ? 1 : 0);
	group_matches = tree.groups.map(name => state.split !== "none" && pattern.test(name));
	count_matches();
}

/* The share of samples that have a match anywhere in their stacks. */
function count_matches() {
	const above = new Uint8Array(nr_nodes), weight = weights();
	const before = two_sides && state.widths === "before" ? 1 : 0;
	let sum = 0;
	for (let i = 1; i < nr_nodes; i++)
		above[i] = above[parent[i]] | matches[frame_of[i]];
	for (let i = 0; i < tree.rows.order.length; i++) {
		const row = tree.rows.order[i], who = row_who[row];
		if ((above[row_node[row]] || group_matches[tree.group_of_who[who]]) && whos.side[who] === before)
			sum += weight[row];
	}
	const functions = matches.reduce((n, m) => n + m, 0);
	$("matched").textContent = `Matched: ${percent(sum, tree.whole)} (${number(functions)} functions)`;
}

const is_match = box => box.frame >= 0 ? matches[box.frame] : box.group >= 0 && group_matches[box.group];

/* --- colours ------------------------------------------------------------------------------------ */

const HUES = { kernel: [212, 62], inlined: [50, 82], jit: [140, 45], unknown: [0, 0], user: [22, 78], group: [265, 22] };
const colour_cache = new Map();

function name_hash(name) {
	let h = 0x811c9dc5;
	for (let i = 0; i < name.length && i < 80; i++)
		h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
	return (h >>> 8) % 9;
}

function kind_colour(kind, shade) {
	const [hue, saturation] = HUES[kind], turn = (shade - 4) * 2;
	return Page.dark() ? `hsl(${hue + turn} ${saturation * 0.6}% ${33 + shade}%)` :
		`hsl(${hue + turn} ${saturation}% ${70 + shade * 1.5}%)`;
}

/* How much a box's share has grown, from -1 to 1. */
function growth(box) {
	const after = box.w / (tree.root.w || 1), before = box.b / (tree.root.b || 1);
	return after + before > 0 ? (after - before) / Math.max(after, before) : 0;
}

function growth_colour(g) {
	const steps = Math.round(Math.min(1, Math.abs(g)) * 8), hue = g > 0 ? 4 : 216;
	return Page.dark() ? `hsl(${hue} ${steps * 9}% ${30 + steps * 1.6}%)` :
		`hsl(${hue} ${steps ? 55 + steps * 4 : 0}% ${93 - steps * 4}%)`;
}

const MATCH = "#e055d4";

/* By what it is of: a canvas takes "#rrggbb" faster than it takes hsl(). */
function plain_colour(key, make) {
	let c = colour_cache.get(key);
	if (!c) {
		context.fillStyle = make();
		colour_cache.set(key, c = context.fillStyle);
	}
	return c;
}

function colour(box) {
	if (matches && is_match(box))
		return MATCH;
	if (two_sides) {
		const g = Math.round(growth(box) * 8) / 8;
		return plain_colour("growth" + g, () => growth_colour(g));
	}
	if (box.frame < 0)
		return plain_colour(-1, () => kind_colour("group", 4));
	return plain_colour(box.frame, () => kind_colour(kinds[frames.kind[box.frame]], name_hash(names[box.frame])));
}

/* --- drawing ------------------------------------------------------------------------------------ */

const stage = $("stage"), canvas = $("canvas"), context = canvas.getContext("2d", { alpha: false });
let zoomed = null, cursor = null;
let view0 = 0, view1 = 1;
let width = 0, height = 0; /* of the canvas, in CSS pixels */
let shown = []; /* by depth: what is drawn there, from left to right; box null: boxes too narrow */
let character = 7;
const times = { first: 0, frame: 0 }; /* ms: of the first picture, and of the slowest since the last zoom */

/* Below a box, those of its callees that are in view, and in the place of narrow neighbours a strip. */
function visible_kids(above, scale, put) {
	const kids = kids_of(above);
	let from = -1, until = -1;
	const narrow = () => {
		if (from >= 0 && until - from >= NARROWEST)
			put({ strip: true, depth: above.depth + 1, from, until });
		from = -1;
	};
	for (const kid of kids) {
		const x0 = (kid.x0 - view0) * scale, x1 = (kid.x1 - view0) * scale;
		if (x1 <= 0)
			continue;
		if (x0 >= width)
			break;
		if (x1 - x0 >= NARROWEST) {
			narrow();
			put(kid);
			continue;
		}
		if (from < 0)
			from = Math.max(0, x0);
		until = x1;
		if (state.order === "weight") {
			/* So are all others. */
			until = Math.min(width, (kids[kids.length - 1].x1 - view0) * scale);
			break;
		}
	}
	narrow();
}

function lay_out() {
	const scale = width / (view1 - view0), left = [tree.root];
	shown = [];
	while (left.length) {
		const box = left.pop();
		let row = shown[box.depth];
		if (!row)
			row = shown[box.depth] = { x0: [], x1: [], box: [] };
		if (box.strip) {
			row.x0.push(box.from);
			row.x1.push(box.until);
			row.box.push(null);
			continue;
		}
		row.x0.push(Math.max(0, (box.x0 - view0) * scale));
		row.x1.push(Math.min(width, (box.x1 - view0) * scale));
		row.box.push(box);
		const first = left.length;
		visible_kids(box, scale, kid => left.push(kid));
		/* The leftmost is to be the next. */
		for (let a = first, z = left.length - 1; a < z; a++, z--)
			[left[a], left[z]] = [left[z], left[a]];
	}
	$("tall").style.height = Math.max(shown.length * ROW + 2, 40, stage.clientHeight) + "px";
}

const upwards = () => state.view === "flame";
const tall = () => Math.max(shown.length * ROW + 2, stage.clientHeight);
/* Where a row begins, from the top of all. */
const row_top = depth => upwards() ? tall() - 1 - (depth + 1) * ROW : 1 + depth * ROW;
const row_at = y => Math.floor((upwards() ? tall() - 1 - y : y - 1) / ROW);

function paint_row(row, depth, y, dark) {
	const ink = dark ? "#f2f2f0" : "#16171a", strip = dark ? "#3c4048" : "#d4d5d8";
	context.globalAlpha = depth < zoomed.depth ? 0.55 : 1;
	for (let i = 0; i < row.box.length; i++) {
		const box = row.box[i], x0 = row.x0[i], gap = row.x1[i] - x0 > 3 ? 1 : 0;
		const w = Math.max(row.x1[i] - x0 - gap, 0.6), room = Math.floor((w - 6) / character);
		context.fillStyle = box ? colour(box) : strip;
		context.fillRect(x0, y, w, ROW - 1);
		if (!box)
			continue;
		if (room >= 3) {
			const text = label(box);
			context.fillStyle = ink;
			context.fillText(text.length > room ? text.slice(0, room - 1) + "\u2026" : text, x0 + 3, y + 13, w - 6);
		}
		if (box === cursor) {
			context.strokeStyle = ink;
			context.lineWidth = 2;
			context.strokeRect(x0 + 1, y + 1, Math.max(w - 2, 2), ROW - 3);
		}
	}
	context.globalAlpha = 1;
}

function paint() {
	const ratio = devicePixelRatio || 1, dark = Page.dark();
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.fillStyle = dark ? "#16181c" : "#ffffff";
	context.fillRect(0, 0, width, height);
	context.font = FONT;
	const top = stage.scrollTop;
	for (let depth = 0; depth < shown.length; depth++) {
		const y = row_top(depth) - top;
		if (y + ROW >= 0 && y <= height && shown[depth])
			paint_row(shown[depth], depth, y, dark);
	}
}

function resize() {
	const ratio = devicePixelRatio || 1;
	width = stage.clientWidth;
	height = stage.clientHeight;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	context.font = FONT;
	character = context.measureText("MMMMMMMMMM").width / 10;
}

/* end: a flame graph stands on its lower edge. */
function draw(end) {
	const began = performance.now();
	lay_out();
	if (end && upwards())
		stage.scrollTop = tall();
	else if (end)
		stage.scrollTop = 0;
	paint();
	times.frame = Math.max(times.frame, performance.now() - began);
}

/* --- zoom --------------------------------------------------------------------------------------- */

let moving = 0;

function zoom_to(box, quietly) {
	const a0 = view0, a1 = view1, b0 = box.x0, b1 = box.x1 > box.x0 ? box.x1 : box.x0 + 1e-12;
	const still = quietly || matchMedia("(prefers-reduced-motion: reduce)").matches;
	const began = performance.now();
	zoomed = box;
	state.zoom = way_to(box);
	cancelAnimationFrame(moving);
	times.frame = 0;
	const step = now => {
		const part = still ? 1 : Math.min(1, Math.max(0, (now - began) / ZOOM_MS));
		const ease = part * (2 - part);
		view0 = a0 + (b0 - a0) * ease;
		view1 = part === 1 ? b1 : a1 + (b1 - a1) * ease;
		draw(false);
		if (part < 1) {
			moving = requestAnimationFrame(step);
			return;
		}
		moving = 0;
		reveal(box);
	};
	step(began);
	show_path();
	if (!quietly)
		save(true);
}

/* Scrolls so that a box can be seen. */
function reveal(box) {
	const y = row_top(box.depth);
	if (y < stage.scrollTop || y + ROW > stage.scrollTop + stage.clientHeight) {
		stage.scrollTop = upwards() ? y + 3 * ROW - stage.clientHeight : y - 2 * ROW;
		paint();
	}
}

function show_path() {
	const path = $("path"), way = [];
	for (let box = zoomed; box; box = box.above)
		way.unshift(box);
	path.replaceChildren();
	way.forEach((box, i) => {
		if (i > 0)
			path.append(element("span", { className: "soft" }, "\u203a"));
		path.append(element("button", { type: "button", title: clip(label(box), 500), onclick: () => zoom_to(box) },
			clip(label(box), 60)));
	});
	path.scrollTop = path.scrollHeight;
}

/* --- what a box is ------------------------------------------------------------------------------ */

function lines_of(box) {
	const lines = [], root = tree.root;
	if (box.frame >= 0) {
		const object = texts[frames.object[box.frame]], file = texts[frames.file[box.frame]];
		const kind = kinds[frames.kind[box.frame]];
		lines.push((kind === "user" ? "" : { jit: "made at run time, ", unknown: "no name, " }[kind] || kind + ", ") +
			"in " + clip(object || "[unknown]", 300) + (file ? ", source " + clip(file, 300) : ""));
	}
	let text = `${weight_text(box.w)}, ${percent(box.w, root.w)}`;
	if (zoomed !== root)
		text += `, ${percent(box.w, zoomed.w)} of what is zoomed to`;
	if (box.self > 0)
		text += `; itself ${weight_text(box.self)}, ${percent(box.self, root.w)}`;
	lines.push(text);
	if (two_sides) {
		const after = 100 * box.w / (root.w || 1), before = 100 * box.b / (root.b || 1);
		lines.push(`before ${before.toFixed(2)} %, after ${after.toFixed(2)} %: ` +
			`${after >= before ? "+" : "\u2212"}${Math.abs(after - before).toFixed(2)} points`);
	}
	return lines;
}

function describe(place, box, length) {
	place.replaceChildren();
	if (box)
		place.append(element("div", { className: "name" }, clip(label(box), length)),
			...lines_of(box).map(line => element("div", {}, line)));
}

function box_under(event) {
	const bounds = canvas.getBoundingClientRect();
	const x = event.clientX - bounds.left, row = shown[row_at(event.clientY - bounds.top + stage.scrollTop)];
	if (!row)
		return null;
	let low = 0, high = row.x0.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (row.x0[middle] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && x <= row.x1[low - 1] ? row.box[low - 1] : null;
}

canvas.addEventListener("mousemove", event => {
	const box = box_under(event), tip = $("tip");
	tip.hidden = !box;
	if (!box)
		return;
	describe(tip, box, 400);
	const right = event.clientX + 14 + tip.offsetWidth > innerWidth;
	tip.style.left = Math.max(2, right ? event.clientX - 10 - tip.offsetWidth : event.clientX + 14) + "px";
	tip.style.top = Math.max(2, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)) + "px";
});
canvas.addEventListener("mouseleave", () => { $("tip").hidden = true; });
canvas.addEventListener("click", event => {
	const box = box_under(event);
	if (!box)
		return;
	cursor = box;
	describe($("details"), box, 2000);
	zoom_to(box);
});
stage.addEventListener("scroll", () => { $("tip").hidden = true; paint(); });

/* --- keys --------------------------------------------------------------------------------------- */

function set_cursor(box) {
	cursor = box;
	describe($("details"), box, 2000);
	$("tip").hidden = true;
	paint();
	reveal(box);
}

function move(direction) {
	if (!cursor)
		return set_cursor(zoomed);
	if (direction === "in") {
		const kids = kids_of(cursor);
		return kids.length ? set_cursor(kids.reduce((a, b) => extent(b) > extent(a) ? b : a)) : undefined;
	}
	if (direction === "out")
		return cursor.above ? set_cursor(cursor.above) : undefined;
	const row = shown[cursor.depth], i = row ? row.box.indexOf(cursor) : -1;
	for (let k = i + direction; i >= 0 && k >= 0 && k < row.box.length; k += direction)
		if (row.box[k])
			return set_cursor(row.box[k]);
}

/* The next of the boxes that are drawn; from the outermost row on. */
function next_match(direction) {
	if (!matches)
		return;
	const found = shown.flatMap(row => row.box).filter(box => box && is_match(box));
	if (!found.length)
		return;
	const i = found.indexOf(cursor);
	set_cursor(found[i < 0 ? (direction > 0 ? 0 : found.length - 1) : (i + direction + found.length) % found.length]);
}

const KEYS = {
	ArrowUp: () => move(upwards() ? "in" : "out"),
	ArrowDown: () => move(upwards() ? "out" : "in"),
	ArrowLeft: () => move(-1),
	ArrowRight: () => move(1),
	Enter: () => cursor && zoom_to(cursor),
	Escape: () => zoomed.above && zoom_to(zoomed.above),
	Backspace: () => zoomed.above && zoom_to(zoomed.above),
	0: () => zoom_to(tree.root),
	Home: () => zoom_to(tree.root),
	n: () => next_match(1),
	N: () => next_match(-1),
	"/": () => { $("search").focus(); $("search").select(); },
	v: () => change("view", { flame: "icicle", icicle: "callers", callers: "flame" }[state.view]),
	t: () => switch_theme(),
	"?": () => $("keys").showModal(),
};

addEventListener("keydown", event => {
	if (event.ctrlKey || event.altKey || event.metaKey || $("keys").open)
		return;
	if (event.target === $("search")) {
		if (event.key === "Enter") {
			apply_search();
			next_match(event.shiftKey ? -1 : 1);
		} else if (event.key === "Escape") {
			$("search").value = "";
			apply_search();
			stage.focus();
		}
		return;
	}
	if (/^(SELECT|INPUT)$/.test(event.target.tagName) || (event.target.tagName === "BUTTON" && event.key === "Enter") ||
	    (event.target === $("timeline") && timeline_key(event)))
		return;
	const key = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
	if (key) {
		event.preventDefault();
		key();
	}
});

/* --- time --------------------------------------------------------------------------------------- */

/* Buckets [from, until) that are asked for. */
function selected_range() {
	const nr = data.time ? data.time.buckets : 1, [from, until] = state.range.split("-").map(Number);
	return state.range && from < until ? [Math.max(0, from), Math.min(nr, until)] : [0, nr];
}

let bars = null; /* weight by bucket */

function count_bars() {
	const weight = weights(), event = +state.event;
	bars = new Float64Array(data.time.buckets);
	for (let i = 0; i < nr_rows; i++)
		if (whos.event[row_who[i]] === event && !whos.side[row_who[i]])
			bars[row_bucket[i]] += weight[i];
}

/* As --since and --until take it, or, of a recording that knows no time of day, as --time does. */
function time_text(bucket) {
	const ms = data.time.first_ms + bucket * data.time.bucket_ms;
	if (!data.time.wall)
		return (ms / 1000).toFixed(3);
	const text = new Date(ms).toISOString().replace("T", " ");
	return data.time.bucket_ms % 1000 ? text.slice(0, 23) : text.slice(0, 19);
}

function draw_timeline() {
	if (!data.time)
		return;
	const place = $("timeline"), ratio = devicePixelRatio || 1, pen = place.getContext("2d");
	const w = place.clientWidth, h = place.clientHeight, [from, until] = selected_range();
	place.width = Math.round(w * ratio);
	place.height = Math.round(h * ratio);
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.fillStyle = Page.dark() ? "#22252b" : "#f4f4f2";
	pen.fillRect(0, 0, w, h);
	const most = bars.reduce((a, b) => Math.max(a, b), 0) || 1, step = w / bars.length;
	for (let i = 0; i < bars.length; i++) {
		const inside = i >= from && i < until, tallness = bars[i] / most * (h - 2);
		pen.fillStyle = inside ? (Page.dark() ? "#d98a4e" : "#d2691e") : (Page.dark() ? "#4a4e57" : "#c5c7cb");
		pen.fillRect(i * step, h - tallness, Math.max(step - (step > 3 ? 1 : 0), 0.5), tallness);
		if (data.time.missing[i]) {
			pen.fillStyle = Page.dark() ? "#80868f" : "#8a8f96";
			pen.fillRect(i * step, 0, step + 0.5, data.time.missing[i] === 2 ? h - tallness : 5);
		}
	}
	if (state.range) {
		pen.strokeStyle = Page.dark() ? "#f2f2f0" : "#16171a";
		pen.strokeRect(from * step + 0.5, 0.5, Math.max((until - from) * step - 1, 1), h - 1);
	}
	const share = percent(bars.slice(from, until).reduce((a, b) => a + b, 0), bars.reduce((a, b) => a + b, 0));
	const words = $("range");
	words.textContent = `${time_text(from)} to ${time_text(until)}`;
	if (state.range)
		words.append(`: ${share} of the weight; `, element("code", {}, data.time.wall ?
			`--since '${time_text(from)}' --until '${time_text(until)}'` : `--time ${time_text(from)},${time_text(until)}`));
	if (data.time.missing.some(mark => mark))
		words.append(" (grey above: not recorded, or in part)");
	$("range_clear").hidden = !state.range;
	place.setAttribute("aria-label", `Weight over time; chosen: ${$("range").textContent}. Left and right move, with Shift widen`);
}

function choose_range(from, until) {
	const whole = from <= 0 && until >= data.time.buckets;
	change("range", whole || from >= until ? "" : `${from}-${until}`);
}

function timeline_key(event) {
	const [from, until] = selected_range(), nr = data.time.buckets;
	const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
	if (step) {
		const wide = Math.max(1, Math.round(nr / 20));
		if (!state.range)
			choose_range(step > 0 ? 0 : nr - wide, step > 0 ? wide : nr);
		else if (event.shiftKey)
			choose_range(from, Math.min(nr, Math.max(from + 1, until + step)));
		else if (from + step >= 0 && until + step <= nr)
			choose_range(from + step, until + step);
	} else if (event.key === "Escape" && state.range) {
		choose_range(0, nr);
	} else {
		return false;
	}
	event.preventDefault();
	return true;
}

function watch_timeline() {
	const place = $("timeline");
	let began = -1;
	const bucket = event => {
		const bounds = place.getBoundingClientRect(), part = (event.clientX - bounds.left) / bounds.width;
		return Math.max(0, Math.min(data.time.buckets - 1, Math.floor(part * data.time.buckets)));
	};
	place.addEventListener("pointerdown", event => {
		began = bucket(event);
		place.setPointerCapture(event.pointerId);
	});
	place.addEventListener("pointermove", event => {
		if (began < 0)
			return;
		const here = bucket(event);
		choose_range(Math.min(began, here), Math.max(began, here) + 1);
	});
	place.addEventListener("pointerup", event => {
		/* A click without a way is one bucket. */
		if (began >= 0 && bucket(event) === began)
			choose_range(began, began + 1);
		began = -1;
	});
	place.addEventListener("dblclick", () => choose_range(0, data.time.buckets));
	$("range_clear").onclick = () => choose_range(0, data.time.buckets);
	$("time").hidden = false;
}

/* --- all together ------------------------------------------------------------------------------- */

function show_legend() {
	const legend = $("legend"), sums = new Float64Array(kinds.length), weight = weights();
	const swatch = fill => {
		const place = element("canvas", { width: 14, height: 14 }), pen = place.getContext("2d");
		pen.fillStyle = fill;
		pen.fillRect(0, 0, 14, 14);
		return place;
	};
	const entry = (fill, text) => legend.append(element("span", {}, swatch(fill), text));
	legend.replaceChildren();
	if (two_sides) {
		entry(growth_colour(-1), "share has shrunk");
		entry(growth_colour(0), "as before");
		entry(growth_colour(1), "has grown");
	} else {
		let all = 0;
		for (let i = 0; i < tree.rows.order.length; i++) {
			const row = tree.rows.order[i];
			all += weight[row];
			if (row_node[row] > 0)
				sums[frames.kind[frame_of[row_node[row]]]] += weight[row];
		}
		const words = { jit: "made at run time", unknown: "no name" };
		kinds.forEach((kind, i) => {
			if (frames.kind.includes(i))
				entry(kind_colour(kind, 4), `${words[kind] || kind} ${percent(sums[i], all)}`);
		});
	}
	if (matches)
		entry(MATCH, "matches");
}

function save(step) {
	const words = {};
	for (const name of Object.keys(DEFAULTS))
		words[name] = state[name] === DEFAULTS[name] ? "" : state[name];
	Page.write_state({ ...words, theme: Page.theme() }, step);
}

/* All anew but for the data. */
function renew() {
	const way = state.zoom;
	build();
	search();
	if (data.time) {
		count_bars();
		draw_timeline();
	}
	zoomed = box_at(way);
	state.zoom = way_to(zoomed);
	view0 = zoomed.x0;
	view1 = zoomed.x1 > zoomed.x0 ? zoomed.x1 : 1;
	show_path();
	show_legend();
	describe($("details"), null);
	draw(true);
	reveal(zoomed);
	$("stage").dataset.empty = tree.root.w + tree.root.b > 0 ? "" : "yes";
	if (!(tree.root.w + tree.root.b > 0))
		$("details").textContent = "No samples: nothing of the recording is left by what was asked for.";
}

let waiting = 0;

function change(name, value) {
	if (state[name] === value)
		return;
	state[name] = value;
	if ($(name))
		$(name).value = value;
	cancelAnimationFrame(waiting);
	cancelAnimationFrame(moving);
	moving = 0;
	waiting = requestAnimationFrame(() => {
		waiting = 0;
		renew();
		save(false);
	});
}

function apply_search() {
	if (state.q === $("search").value)
		return;
	state.q = $("search").value;
	search();
	show_legend();
	paint();
	save(false);
}

function switch_theme() {
	Page.toggle_theme();
	repaint();
	save(false);
}

function repaint() {
	colour_cache.clear();
	show_legend();
	draw_timeline();
	paint();
}

function take_state() {
	const given = Page.read_state();
	for (const name of Object.keys(DEFAULTS))
		state[name] = given[name] || DEFAULTS[name];
	for (const name of ["view", "split", "order", "event", "weight", "widths"]) {
		const select = $(name);
		select.value = state[name];
		if (select.selectedIndex < 0)
			select.value = state[name] = select.options.length ? select.options[0].value : DEFAULTS[name];
	}
	if (!/^[0-9]+-[0-9]+$/.test(state.range))
		state.range = "";
	$("search").value = state.q;
	Page.set_theme(given.theme);
	colour_cache.clear();
}

function fill_controls() {
	const option = (select, value, text) => $(select).append(element("option", { value }, text));
	for (const [name, split] of Object.entries(SPLITS))
		if (name === "none" || data.keys.includes(name))
			option("split", name, split.title);
	data.events.forEach((event, i) => option("event", i, clip(event.name, 60)));
	$("event_label").hidden = data.events.length < 2;
	option("weight", "period", data.events.every(event => event.clock) ? "CPU time" :
		data.events.every(event => event.clock || event.wait) ? "time" : "period");
	option("weight", "samples", "samples");
	$("widths_label").hidden = !two_sides;
	for (const name of ["view", "split", "order", "event", "weight", "widths"])
		$(name).addEventListener("change", () => change(name, $(name).value));
	$("search").addEventListener("input", apply_search);
	$("theme").onclick = switch_theme;
	$("help").onclick = () => $("keys").showModal();
}

function start() {
	const began = performance.now();
	let samples = 0;
	for (let i = 0; i < nr_rows; i++)
		samples += whos.side[row_who[i]] ? 0 : row_samples[i];
	Page.tell(`${number(samples)} samples` + (data.baseline ? `, compared with ${clip(data.baseline.name, 300)}.` : "."));
	fill_controls();
	if (data.time)
		watch_timeline();
	take_state();
	resize();
	renew();
	times.first = performance.now() - began;
	new ResizeObserver(() => { resize(); draw(false); draw_timeline(); }).observe(stage);
	Page.dark_screen.addEventListener("change", repaint);
	addEventListener("popstate", () => { take_state(); renew(); });
}

start();

/* For scripts: what is drawn, and how long that took. */
window.flame = {
	times,
	state: () => ({ ...state }),
	total: () => tree.root.w,
	settled: () => waiting === 0 && moving === 0,
	boxes: () => shown.flatMap((row, depth) => row.box.map((box, i) => box && ({
		name: label(box), depth, x: row.x0[i], width: row.x1[i] - row.x0[i], y: row_top(depth) - stage.scrollTop,
		weight: box.w, before: box.b, self: box.self,
		kind: box.frame >= 0 ? kinds[frames.kind[box.frame]] : "group",
	}))).filter(box => box),
};
})();
