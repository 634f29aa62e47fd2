// @ts-check
// Filters and orders the results. Without it the page shows everything in the order of the run.
"use strict";
(() => {
	const form = /** @type {HTMLFormElement | null} */ (document.getElementById("filter"));
	const shown = document.getElementById("shown");
	if (!form || !shown) return;
	form.hidden = false;
	form.addEventListener("submit", (e) => e.preventDefault());
	form.addEventListener("input", apply);

	// The lines of each operation, in the order of the run.
	const blocks = [...document.querySelectorAll("tbody[data-operation]")].map((body) => ({
		body: /** @type {HTMLElement} */ (body),
		lines: /** @type {HTMLElement[]} */ ([...body.querySelectorAll(":scope > tr:not(.more)")]),
		more: body.querySelector("tr.more"),
	}));
	// The rows of a comparison of two runs, where each number is a block of its own.
	const versus = [.../** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table.versus"))].map((table) => ({ table, bodies: [...table.tBodies] }));

	function apply() {
		const chosen = new FormData(/** @type {HTMLFormElement} */ (form));
		const of = (/** @type {string} */ name) => String(chosen.get(name) ?? "");
		const operation = of("operation").toLowerCase();
		let visible = 0, all = 0;
		for (const { body, lines, more } of blocks) {
			const rows = lines.filter((line) => line.dataset.impl !== undefined); // the rest, such as the reference's, stays in view
			const group = /** @type {HTMLElement} */ (body.closest(".group"));
			const here = (!of("component") || group.dataset.component === of("component")) &&
				(body.dataset.operation ?? "").toLowerCase().includes(operation);
			let some = false;
			for (const row of rows) {
				const show = here && (!of("impl") || row.dataset.impl === of("impl")) && (!of("verdict") || row.dataset.verdict === of("verdict"));
				row.hidden = !show;
				some ||= show;
				all++;
				if (show) visible++;
			}
			// What was measured of one implementation only has no row to filter by.
			body.hidden = rows.length > 0 ? !some : !here || of("impl") !== "" || of("verdict") !== "";
			const order = of("order") ? [...rows].sort((a, b) => Number(a.dataset.ratio) - Number(b.dataset.ratio)) : rows;
			for (const row of order) body.insertBefore(row, more);
		}
		for (const { table, bodies } of versus) {
			const order = [...bodies];
			if (of("order") === "ratio") order.sort((a, b) => Number(a.dataset.ratio) - Number(b.dataset.ratio));
			if (of("order") === "name") order.sort((a, b) => (a.dataset.operation ?? "").localeCompare(b.dataset.operation ?? ""));
			table.append(...order);
		}
		for (const group of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".group"))) {
			const bodies = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("tbody[data-operation]")]);
			group.hidden = bodies.length > 0 && bodies.every((b) => b.hidden);
		}
		/** @type {HTMLElement} */ (shown).textContent = `${visible} of ${all} comparisons`;
	}
	apply();

	// A link to a row that a filter hides shows everything again.
	addEventListener("hashchange", () => {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (target?.closest("[hidden]")) {
			form.reset();
			apply();
			target.scrollIntoView();
		}
	});
})();
