// @ts-check
// Filters and orders the list of runs as one types. Without it the form does so.
"use strict";
(() => {
	const form = /** @type {HTMLFormElement | null} */ (document.getElementById("choose"));
	const body = document.querySelector("#runs tbody");
	const shown = document.getElementById("shown");
	const button = document.getElementById("apply");
	if (!form || !body || !shown || !button) return;
	const all = shown.textContent?.match(/of (\d+)/)?.[1] ?? "";
	const rows = /** @type {HTMLElement[]} */ ([...body.querySelectorAll("tr")]);
	// The server has left some rows out: the form brings them back.
	const complete = String(rows.length) === all;

	const number = (/** @type {HTMLElement} */ row, /** @type {string} */ name) => Number(row.dataset[name]);
	const text = (/** @type {HTMLElement} */ a, /** @type {HTMLElement} */ b, /** @type {string} */ name) =>
		(a.dataset[name] ?? "") < (b.dataset[name] ?? "") ? -1 : (a.dataset[name] ?? "") > (b.dataset[name] ?? "") ? 1 : 0;
	/** @type {Record<string, (a: HTMLElement, b: HTMLElement) => number>} */
	const orders = {
		newest: (a, b) => number(b, "started") - number(a, "started"),
		oldest: (a, b) => number(a, "started") - number(b, "started"),
		name: (a, b) => text(a, b, "name"),
		preset: (a, b) => text(a, b, "preset"),
		open: (a, b) => number(b, "open") - number(a, "open"),
	};

	function choose() {
		const chosen = new FormData(/** @type {HTMLFormElement} */ (form));
		const base = chosen.get("base"), head = chosen.get("head");
		const hint = document.getElementById("hint");
		const ready = base !== null && head !== null && base !== head;
		for (const b of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("#actions button"))) b.disabled = !ready;
		if (hint) hint.textContent = ready ? `${head} against ${base}` : base !== null && base === head ? "Base and head are the same run." : "Choose a base and a head below.";
	}

	function apply() {
		const chosen = new FormData(/** @type {HTMLFormElement} */ (form));
		const of = (/** @type {string} */ name) => String(chosen.get(name) ?? "");
		const part = of("q").trim().toLowerCase();
		let visible = 0;
		for (const row of rows) {
			const picked = row.querySelector("input:checked") !== null;
			const show = picked || (row.dataset.text ?? "").includes(part) && (!of("preset") || row.dataset.preset === of("preset"));
			row.hidden = !show;
			if (show) visible++;
		}
		const last = (/** @type {HTMLElement} */ row) => ("unreadable" in row.dataset ? 1 : 0);
		for (const row of [...rows].sort((a, b) => last(a) - last(b) || orders[of("order")]?.(a, b) || 0)) body?.append(row);
		/** @type {HTMLElement} */ (shown).textContent = `${visible} of ${all} shown`;
	}

	form.addEventListener("input", choose);
	if (complete) {
		button.hidden = true;
		form.addEventListener("input", apply);
		form.addEventListener("submit", (e) => {
			if (e.submitter === null || e.submitter === button) e.preventDefault();
		});
		apply();
	}
	choose();
	// A browser that goes back restores the fields after this script has run.
	addEventListener("pageshow", () => { choose(); if (complete) apply(); });
})();
