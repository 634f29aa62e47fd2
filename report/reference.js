// @ts-check
// Lets a reader choose the reference of a component's tables. benchrun has computed every
// comparison (report/reference.go); without this script the tables show the run's reference.
(() => {
	/** @typedef {[verdict: string, lo: number, at: number, hi: number, text: string, verdictText: string, ratio: number]} Line */
	/** @typedef {{ticks: [number, string][] | null, rows: (Line | null)[][] | null}} Table */
	/** @typedef {{impls: string[], reference: string, groups: Table[][]}} Choice */
	const data = document.getElementById("references");
	if (!data) return;
	const choices = /** @type {Record<string, Choice>} */ (JSON.parse(data.textContent ?? "{}"));

	for (const [component, choice] of Object.entries(choices)) {
		const tables = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".group")])
			.filter((group) => group.dataset.component === component)
			.map((group) => /** @type {HTMLTableElement} */ (group.querySelector("table.results")));
		const selects = tables.map((table) => {
			const head = /** @type {HTMLElement} */ (table.querySelector("th.to"));
			const select = document.createElement("select");
			select.ariaLabel = `reference of ${component}`; // more than its visible label says
			for (const impl of choice.impls) select.append(new Option(impl, impl, false, impl === choice.reference));
			const label = document.createElement("label");
			label.append("to ", select);
			head.replaceChildren(label);
			return select;
		});
		for (const select of selects) {
			select.addEventListener("change", () => {
				const chosen = select.selectedIndex;
				for (const [i, table] of tables.entries()) {
					selects[i].selectedIndex = chosen;
					show(table, choice.groups[i][chosen], choice.impls[chosen]);
				}
				document.getElementById("filter")?.dispatchEvent(new Event("input")); // filters and orders the new verdicts
			});
		}
	}

	/** Shows a table against a reference. */
	function show(/** @type {HTMLTableElement} */ table, /** @type {Table} */ against, /** @type {string} */ reference) {
		const ticks = against.ticks ?? [];
		const axis = /** @type {SVGElement} */ (table.querySelector("svg.axis"));
		axis.replaceChildren(...ticks.map(([x, text]) => {
			const label = shape("text", { x, y: 12 });
			label.textContent = text;
			return label;
		}));
		for (const [i, body] of [...table.tBodies].entries()) {
			// The lines in the order of the page, which the place of each has kept since.
			const lines = /** @type {HTMLTableRowElement[]} */ ([...body.querySelectorAll(":scope > tr:not(.more)")]);
			for (const [at, line] of lines.entries()) line.dataset.place ??= String(at);
			lines.sort((a, b) => Number(a.dataset.place) - Number(b.dataset.place));
			const name = lines.map((line) => line.cells[0]).find((cell) => cell.childNodes.length > 0);
			let first = lines[0];
			for (const [k, line] of lines.entries()) {
				const impl = line.cells[1].textContent ?? "";
				fill(line, impl, against.rows?.[i]?.[k] ?? null, ticks);
				if (impl === reference) first = line;
			}
			body.prepend(first); // the reference, with the name of the operation
			if (name && name !== first.cells[0]) first.cells[0].append(...name.childNodes);
		}
	}

	/** Fills a line with its ratio to the reference. */
	function fill(/** @type {HTMLTableRowElement} */ line, /** @type {string} */ impl, /** @type {Line | null} */ ratio, /** @type {[number, string][]} */ ticks) {
		const [, , plot, text, verdict] = line.cells;
		line.hidden = false;
		line.classList.toggle("fixed", !ratio);
		plot.replaceChildren(...(ratio ? [forest(ratio, ticks)] : []));
		text.textContent = ratio ? ratio[4] : "";
		verdict.textContent = ratio ? ratio[5] : "";
		verdict.className = ratio ? ratio[0] : "";
		if (ratio) {
			Object.assign(line.dataset, { impl, verdict: ratio[0], ratio: String(ratio[6]) });
		} else {
			for (const key of ["impl", "verdict", "ratio"]) delete line.dataset[key];
		}
	}

	/** Draws a ratio as the template "forest" does. */
	function forest(/** @type {Line} */ [verdict, lo, at, hi, text], /** @type {[number, string][]} */ ticks) {
		const svg = shape("svg", { class: `forest ${verdict}`, viewBox: "0 0 160 16", role: "img", "aria-label": `${text}, ${verdict}` });
		for (const [x, label] of ticks) svg.append(shape("line", { class: label === "1" ? "one" : "grid", x1: x, x2: x, y1: 0, y2: 16 }));
		svg.append(shape("rect", { class: "interval", x: lo, y: 7, width: Math.max(Math.round(10 * (hi - lo)) / 10, 1), height: 2 }));
		switch (verdict) {
			case "better": svg.append(shape("circle", { class: "at", cx: at, cy: 8, r: 4.5 })); break;
			case "worse": svg.append(shape("polygon", { class: "at", points: `${at},3 ${at + 5},8 ${at},13 ${at - 5},8` })); break;
			case "same": svg.append(shape("rect", { class: "at", x: at, y: 3, width: 3, height: 10, transform: "translate(-1.5)" })); break;
			default: svg.append(shape("circle", { class: "at open", cx: at, cy: 8, r: 3.5 }));
		}
		return svg;
	}

	function shape(/** @type {string} */ name, /** @type {Record<string, string | number>} */ attributes) {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
		return e;
	}
})();
