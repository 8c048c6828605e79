// The most typical rows of each cluster, with their own values.

function exemplarRow(found, i, first) {
  const value = (cell) => (cell === null ? "–" : typeof cell === "number" ? number(cell, exact) : String(cell));
  const name = found.id ? value(found.id[i]) : whole.format(found.row[i]);
  const cells = found.columns.map((_, k) => el("td", { class: typeof found.values[k][i] === "string" ? "words" : null }, value(found.values[k][i])));
  const row = el("tr", { class: first ? "first" : null }, el("th", { scope: "row" }, swatch(found.cluster[i]), ` ${clusterName(found.cluster[i])}`), el("td", { class: found.id ? "words" : null }, name), cells, found.truth ? el("td", { class: "words" }, value(found.truth[i])) : null);
  follow((only) => row.toggleAttribute("hidden", only !== null && only !== found.cluster[i]));
  return row;
}

function showExemplars() {
  const found = summary.exemplars;
  if (!found || !found.row.length) return;
  const names = ["cluster", found.id_name || "row", ...found.columns, ...(found.truth ? ["known label"] : [])];
  const head = el("tr", {}, names.map((name) => el("th", { scope: "col" }, breakable(name))));
  const body = found.row.map((_, i) => exemplarRow(found, i, !i || found.cluster[i] !== found.cluster[i - 1]));
  section(
    "exemplars",
    "Typical rows",
    "Which rows are typical?",
    "For each cluster, up to five rows nearest to its middle, among the half with the highest confidence. Values are those of the table.",
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Typical rows of each cluster" }, el("table", { class: "exemplars" }, el("caption", {}, "Typical rows of each cluster"), el("thead", {}, head), el("tbody", {}, body))),
  );
}
