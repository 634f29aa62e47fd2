// @ts-check
// Filters the series of a history. Without it the page shows all of them.
"use strict";
(() => {
	const form = /** @type {HTMLFormElement | null} */ (document.getElementById("filter"));
	const shown = document.getElementById("shown");
	if (!form || !shown) return;
	const figures = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("figure[data-name]")]);
	const groups = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".group")]);
	form.hidden = false;
	form.addEventListener("submit", (e) => e.preventDefault());
	form.addEventListener("input", apply);

	function apply() {
		const chosen = new FormData(/** @type {HTMLFormElement} */ (form));
		const of = (/** @type {string} */ name) => String(chosen.get(name) ?? "");
		const text = of("text").toLowerCase(), component = of("component"), changed = of("changed");
		let visible = 0;
		for (const figure of figures) {
			const group = /** @type {HTMLElement} */ (figure.closest(".group"));
			const how = figure.dataset.changed ?? "";
			const show = (!component || group.dataset.component === component) && (figure.dataset.name ?? "").toLowerCase().includes(text) &&
				(!changed || (changed === "worse" ? how === "worse" : how !== ""));
			figure.hidden = !show;
			if (show) visible++;
		}
		for (const group of groups) group.hidden = ![...group.querySelectorAll("figure")].some((f) => !f.hidden);
		/** @type {HTMLElement} */ (shown).textContent = `${visible} of ${figures.length} series`;
	}
	apply();

	// A link to a series that the filter hides shows everything again.
	addEventListener("hashchange", () => {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (target?.closest("[hidden]")) {
			form.reset();
			apply();
			target.scrollIntoView();
		}
	});
})();
