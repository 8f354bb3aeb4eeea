/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page: what every page has: its data, the words about its recording, light and dark, and a state that
 * is kept behind the # of its address. Names only ever become text, never HTML.
 */
"use strict";
const Page = (() => {
	const $ = id => document.getElementById(id);
	const place = $("data");
	const data = JSON.parse(place.textContent);
	place.remove();

	const element = (tag, attributes, ...children) => {
		const e = document.createElement(tag);
		for (const [name, value] of Object.entries(attributes || {}))
			e[name] = value;
		e.append(...children);
		return e;
	};
	const number = n => Math.round(n).toLocaleString("en-US");
	const percent = (part, whole) => (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %";
	/* Names may be 64 KiB: nobody reads more than this of one. */
	const clip = (text, length) => text.length > length ? text.slice(0, length) + "\u2026" : text;

	/* --- state behind the # ------------------------------------------------------------- */

	const read_state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
	/* Members that are null or empty are left out. step: Back leads to the state before. */
	const write_state = (state, step) => {
		const words = new URLSearchParams();
		for (const [name, value] of Object.entries(state))
			if (value !== null && value !== undefined && value !== "")
				words.set(name, value);
		const hash = "#" + words;
		if (hash !== (location.hash || "#"))
			history[step ? "pushState" : "replaceState"](null, "", hash);
	};

	/* --- light and dark ----------------------------------------------------------------- */

	const dark_screen = matchMedia("(prefers-color-scheme: dark)");
	let theme = null;
	const dark = () => theme ? theme === "dark" : dark_screen.matches;
	const set_theme = name => {
		theme = name === "dark" || name === "light" ? name : null;
		document.documentElement.style.colorScheme = theme || "light dark";
	};
	const toggle_theme = () => set_theme(dark() ? "light" : "dark");

	/* --- what is told of the recording -------------------------------------------------- */

	const loss = (lost, of) => lost > 0 ? element("span", { className: "warn" }, of + number(lost) + " samples were lost.")
		: of + (of ? "no" : "No") + " sample was lost.";
	const list = facts => element("ul", {}, ...facts.map(fact => element("li", {}, fact)));
	/* On top, and in full where it is unfolded: id "facts" is a <details>, "summary" a paragraph. */
	const tell = summary => {
		$("title").textContent = clip(data.title, 300);
		$("summary").append(summary);
		$("summary").append(" ", loss(data.lost, ""));
		if (data.baseline)
			$("summary").append(" ", loss(data.baseline.lost, "Of the baseline "));
		if (data.filters.length)
			$("summary").append(" Only ", element("code", {}, clip(data.filters.join(" "), 500)), ".");
		$("facts").append(list(data.facts));
		if (data.baseline)
			$("facts").append("Baseline: " + clip(data.baseline.name, 300), list(data.baseline.facts));
	};

	return { $, data, element, number, percent, clip, read_state, write_state, dark, dark_screen,
		set_theme, toggle_theme, theme: () => theme, tell };
})();
