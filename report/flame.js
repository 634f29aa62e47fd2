// Draws the flame graphs, each when its cell is first opened. Without it the page has the
// tables and commands of each cell.
(() => {
	"use strict";
	/**
	 * A profile as report/flamedata.go writes it: tree holds depth, name and value of each call.
	 * @typedef {{ unit: number, total: number, samples: number, tree: number[] }} Profile
	 * @typedef {{ label: string, against: number, cpu: Profile | null, allocs: Profile | null }} Cell
	 *
	 * A call of a graph. here and there are its shares of this profile and of the reference's,
	 * size is its share of the graph's width.
	 * @typedef {{ name: number, here: number, there: number, size: number, up: Call | null, callees: Call[] }} Call
	 *
	 * What is drawn of one cell: the tree and, for a difference, its standard error's factor.
	 * @typedef {{ root: Call, profile: Profile, reference: Profile | null, noise: number }} Graph
	 */
	const text = document.getElementById("flame-data")?.textContent;
	const tools = /** @type {HTMLTemplateElement | null} */ (document.getElementById("flame-tools"));
	if (!text || !tools) return;
	/** @type {{ names: string[], kinds: string, cells: Cell[] }} */
	const data = JSON.parse(text);
	// Boxes narrower than this share of the graph are not drawn: on a wide screen, a pixel.
	const narrowest = 0.001;
	// A difference of more standard errors than this is told apart from sampling.
	const errors = 2;

	/** The name without the path of its package, as shortName in calls.go. @param {Call} c */
	const short = (c) => c.name < 0 ? "all" : data.names[c.name].replace(/^[^[(]*\//, "");
	const percent = (/** @type {number} */ share) => (100 * share).toFixed(1) + "%";
	const points = (/** @type {number} */ d) => (d < 0 ? "\u2212" : "+") + Math.abs(100 * d).toFixed(1);

	/** @param {number} value @param {boolean} bytes */
	function amount(value, bytes) {
		const units = bytes ? ["B", "KiB", "MiB", "GiB", "TiB"] : ["ns", "\u00b5s", "ms", "s"], step = bytes ? 1024 : 1000;
		let i = 0;
		for (; value >= step && i < units.length - 1; i++) value /= step;
		return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${units[i]}`;
	}

	/** Adds a profile's calls to a tree, as here or as there. @param {Call} root @param {Profile} p @param {"here" | "there"} side */
	function addTo(root, p, side) {
		root[side] = 1;
		const path = [root];
		for (let i = 0; i < p.tree.length; i += 3) {
			const [depth, name, value] = p.tree.slice(i, i + 3), up = path[depth];
			let call = up.callees.find((c) => c.name === name);
			if (!call) {
				call = { name, here: 0, there: 0, size: 0, up, callees: [] };
				up.callees.push(call);
			}
			call[side] = value / p.total;
			path[depth + 1] = call;
		}
	}

	/** @param {Call} root @param {(c: Call) => boolean | void} visit returns false to leave out what is below */
	function walk(root, visit) {
		for (const left = [root]; left.length;) {
			const c = /** @type {Call} */ (left.pop());
			if (visit(c) !== false) left.push(...c.callees.slice().reverse());
		}
	}

	/** @param {Profile} profile @param {Profile | null} reference @returns {Graph} */
	function graphOf(profile, reference) {
		/** @type {Call} */
		const root = { name: -1, here: 0, there: 0, size: 0, up: null, callees: [] };
		addTo(root, profile, "here");
		if (reference) addTo(root, reference, "there");
		walk(root, (c) => {
			// Means of shares add up like shares, so no callee sticks out of its caller, and a
			// function that only the reference calls has its place.
			c.size = reference ? (c.here + c.there) / 2 : c.here;
		});
		walk(root, (c) => { c.callees.sort((a, b) => b.size - a.size) });
		return { root, profile, reference, noise: reference ? 1 / profile.samples + 1 / reference.samples : 0 };
	}

	/** Whether the shares differ by more than sampling explains: the test for two proportions. @param {Graph} g @param {Call} c */
	function apart(g, c) {
		if (!g.reference) return false;
		const n = g.profile.samples, m = g.reference.samples, p = (c.here * n + c.there * m) / (n + m);
		return Math.abs(c.here - c.there) > errors * Math.sqrt(Math.max(0, p * (1 - p)) * g.noise);
	}

	/** @param {HTMLDetailsElement} place */
	function setUp(place) {
		const cell = data.cells[Number(place.dataset.cell)];
		const reference = cell.against < 0 ? null : data.cells[cell.against];
		const made = /** @type {DocumentFragment} */ (/** @type {HTMLTemplateElement} */ (tools).content.cloneNode(true));
		const of = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (made.querySelector(selector));
		const form = /** @type {HTMLFormElement} */ (of("form")), said = of("output"), about = of(".flame-about"), chart = of(".flame-graph");
		const legends = { own: of(".flame-legend.own"), difference: of(".flame-legend.difference") };
		const field = (/** @type {string} */ name) => /** @type {HTMLInputElement | HTMLSelectElement} */ (form.elements.namedItem(name));
		const [ofWhat, show, find] = [field("of"), field("show"), field("find")];
		for (const option of /** @type {HTMLSelectElement} */ (ofWhat).options) option.disabled = !cell[/** @type {"cpu" | "allocs"} */ (option.value)];
		if (!cell.cpu) ofWhat.value = "allocs";
		if (reference) of("option[value=difference]").textContent = "the difference against " + reference.label;
		else /** @type {HTMLElement} */ (show.closest("label")).hidden = true;

		/** @type {Graph} */
		let graph;
		/** @type {Call} */
		let zoomed;
		/** The boxes drawn, by row. @type {Call[][]} */
		let rows = [];
		/** @type {Map<Call, HTMLElement>} */
		let boxes = new Map();
		/** @type {WeakMap<EventTarget, Call>} */
		let calls = new WeakMap();
		let pixels = 0; // the graph's width when it was drawn

		function choose() {
			const what = /** @type {"cpu" | "allocs"} */ (ofWhat.value), theirs = reference ? reference[what] : null;
			for (const option of /** @type {HTMLSelectElement} */ (show).options) option.disabled = option.value === "difference" && !theirs;
			if (!theirs) show.value = "own";
			graph = graphOf(/** @type {Profile} */ (cell[what]), show.value === "difference" ? theirs : null);
			zoomed = graph.root;
			legends.own.hidden = !!graph.reference;
			legends.difference.hidden = !graph.reference;
			chart.setAttribute("aria-label", `flame graph of ${cell.label}, ${ofWhat.value === "cpu" ? "CPU time" : "allocated bytes"}` + (graph.reference ? `, difference against ${reference?.label}` : ""));
			draw();
		}

		const found = (/** @type {Call} */ c) => !!find.value.trim() && c.name >= 0 && data.names[c.name].toLowerCase().includes(find.value.trim().toLowerCase());

		/** Says everything of a call on one line. @param {Call} c */
		function describe(c) {
			const bytes = ofWhat.value === "allocs";
			const self = c.callees.reduce((rest, callee) => rest - callee.here, c.here);
			let line = `${c.name < 0 ? "the whole profile" : data.names[c.name]}: ${percent(c.here)}, ${amount(c.here * graph.profile.total * graph.profile.unit, bytes)}`;
			if (c.up && c.callees.length) line += `, by itself ${percent(Math.max(0, self))}`;
			if (graph.reference) {
				line += `; in ${reference?.label} ${percent(c.there)}, ${amount(c.there * graph.reference.total * graph.reference.unit, bytes)}`;
				if (c.name >= 0) line += `: ${points(c.here - c.there)} percentage points, ${apart(graph, c) ? "more than sampling explains" : "not told apart from sampling"}`;
			}
			return line;
		}

		/** The colour of a call's box, and the text that fits it. @param {Call} c @param {number} wide in pixels */
		function look(c, wide) {
			const name = wide < 42 ? "" : short(c);
			if (!graph.reference || c.name < 0) return { kind: c.name < 0 ? "o" : data.kinds[c.name], label: name };
			const d = c.here - c.there;
			if (!apart(graph, c)) return { kind: "even", label: name && "\u2248 " + name };
			const step = Math.abs(d) >= 0.05 ? 3 : Math.abs(d) >= 0.01 ? 2 : 1, sign = d < 0 ? "\u2212" : "+";
			return { kind: (d > 0 ? "more" : "less") + step, label: name ? `${points(d)} ${name}` : wide < 12 ? "" : sign };
		}

		function draw() {
			const held = document.activeElement ? calls.get(document.activeElement) : undefined;
			rows = [];
			boxes = new Map();
			calls = new WeakMap();
			pixels = chart.clientWidth;
			/** @param {Call} c @param {number} row @param {number} left @param {number} width */
			const box = (c, row, left, width) => {
				const e = document.createElement("div"), { kind, label } = look(c, width * pixels);
				e.className = "box " + kind + (found(c) ? " found" : "") + (row < up.length ? " above" : "");
				e.style.left = 100 * left + "%";
				e.style.width = 100 * width + "%";
				e.style.setProperty("--row", String(row));
				e.textContent = label;
				e.title = describe(c);
				e.tabIndex = -1;
				e.setAttribute("role", "treeitem");
				e.setAttribute("aria-level", String(row + 1));
				e.setAttribute("aria-label", e.title);
				e.setAttribute("aria-selected", String(c === zoomed));
				(rows[row] ??= []).push(c);
				boxes.set(c, e);
				calls.set(e, c);
			};
			/** @type {Call[]} */
			const up = [];
			for (let c = zoomed.up; c; c = c.up) up.unshift(c);
			up.forEach((c, row) => box(c, row, 0, 1));
			/** @type {[Call, number, number][]} */
			const left = [[zoomed, up.length, 0]];
			for (let next; (next = left.pop());) {
				const [c, row, at] = next, width = c.size / zoomed.size;
				if (width < narrowest) continue;
				box(c, row, at, width);
				let x = at;
				const below = c.callees.map((callee) => {
					const from = x;
					x += callee.size / zoomed.size;
					return /** @type {[Call, number, number]} */ ([callee, row + 1, from]);
				});
				left.push(...below.reverse());
			}
			chart.style.setProperty("--rows", String(rows.length));
			chart.replaceChildren(...boxes.values());
			/** @type {HTMLElement} */ (boxes.get(zoomed)).tabIndex = 0;
			about.textContent = describe(zoomed);
			say();
			if (held) boxes.get(held)?.focus();
		}

		/** Sums up what the search finds: a found call within another counts once. */
		function say() {
			let here = 0, there = 0, some = 0;
			walk(graph.root, (c) => {
				if (!found(c)) return true;
				[here, there, some] = [here + c.here, there + c.there, some + 1];
				return false;
			});
			said.textContent = !find.value.trim() ? "" : some === 0 ? "no function of that name" :
				`found: ${percent(here)} of the profile` + (graph.reference ? `, ${percent(there)} of ${reference?.label}'s` : "");
		}

		/** @param {Call} c @param {boolean} focus */
		function zoom(c, focus) {
			zoomed = c;
			draw();
			if (focus) boxes.get(c)?.focus();
		}

		/** @param {Event} e */
		const callOf = (e) => e.target ? calls.get(e.target) : undefined;
		form.addEventListener("submit", (e) => e.preventDefault());
		ofWhat.addEventListener("input", choose);
		show.addEventListener("input", choose);
		find.addEventListener("input", draw);
		/** @type {HTMLElement} */ (form.querySelector("[name=reset]")).addEventListener("click", () => {
			find.value = "";
			zoom(graph.root, false);
		});
		chart.addEventListener("click", (e) => {
			const c = callOf(e);
			if (c) zoom(c, true);
		});
		// Not pointerover, which a box that is drawn under the resting pointer gets too.
		for (const event of ["pointermove", "focusin"]) {
			chart.addEventListener(event, (e) => {
				const c = callOf(e);
				if (c) about.textContent = describe(c);
			});
		}
		chart.addEventListener("keydown", (e) => {
			if (e.altKey || e.ctrlKey || e.metaKey) return; // the browser's own, such as Back
			const c = callOf(e), row = rows.findIndex((r) => c && r.includes(c));
			if (!c || row < 0) return;
			/** @type {Call | null | undefined} */
			let to;
			switch (e.key) {
				case "Enter": case " ": zoom(c, true); break;
				case "Escape": zoom(graph.root, true); break;
				case "ArrowUp": to = c.up; break;
				case "ArrowDown": to = rows[row + 1]?.find((callee) => callee.up === c); break;
				case "ArrowLeft": to = rows[row][rows[row].indexOf(c) - 1]; break;
				case "ArrowRight": to = rows[row][rows[row].indexOf(c) + 1]; break;
				case "Home": to = rows[0][0]; break;
				default: return;
			}
			e.preventDefault();
			const box = to && boxes.get(to);
			if (!box) return;
			for (const other of boxes.values()) other.tabIndex = -1;
			box.tabIndex = 0;
			box.focus();
		});
		place.querySelector(".tops")?.before(made);
		choose();
		// What fits a box depends on the graph's width, which is 0 while the cell is closed.
		new ResizeObserver(() => {
			if (chart.clientWidth !== pixels && chart.clientWidth > 0) draw();
		}).observe(chart);
	}

	for (const place of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.flame"))) {
		place.addEventListener("toggle", () => {
			if (place.open && !place.querySelector(".flame-graph")) setUp(place);
		});
	}

	/** A link to a cell opens it. */
	function follow() {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (target instanceof HTMLDetailsElement && target.matches(".flame")) {
			target.open = true;
			target.scrollIntoView();
		}
	}
	addEventListener("hashchange", follow);
	follow();
})();
