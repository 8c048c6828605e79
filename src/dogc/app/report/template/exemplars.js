// The most typical rows of each cluster, with their own values.

// A column of texts stands to the left; one of long texts has room.
function wordsIn(values) {
  const lengths = values.map((value) => (typeof value === "string" ? value.length : 0));
  const longest = Math.max(...lengths);
  return longest > 40 ? "words long" : longest ? "words" : null;
}

function exemplarRow(found, i, first) {
  const value = (cell) => (cell === null ? "–" : typeof cell === "number" ? number(cell, exact) : String(cell));
  const name = found.id ? value(found.id[i]) : whole.format(found.row[i]);
  const cells = found.columns.map((_, k) => el("td", { class: wordsIn(found.values[k]) }, value(found.values[k][i])));
  const row = el("tr", { class: first ? "first" : null }, el("th", { scope: "row" }, swatch(found.cluster[i]), ` ${clusterName(found.cluster[i])}`), el("td", { class: found.id && wordsIn(found.id) }, name), cells, found.truth ? el("td", { class: wordsIn(found.truth) }, value(found.truth[i])) : null);
  follow((only) => row.toggleAttribute("hidden", only !== null && only !== found.cluster[i]));
  return row;
}

function showExemplars() {
  const found = summary.exemplars;
  if (!found || !found.row.length) return;
  const columns = [["cluster", []], [found.id_name || "row", found.id || []], ...found.columns.map((name, k) => [name, found.values[k]])];
  if (found.truth) columns.push(["known label", found.truth]);
  const head = el("tr", {}, columns.map(([name, values]) => el("th", { scope: "col", class: wordsIn(values) }, breakable(name))));
  const body = found.row.map((_, i) => exemplarRow(found, i, !i || found.cluster[i] !== found.cluster[i - 1]));
  section(
    "exemplars",
    "Typical rows",
    "Which rows are typical?",
    "For each cluster, the rows nearest to its middle, among the half with the highest membership. Values are those of the table.",
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Typical rows of each cluster" }, el("table", { class: "exemplars" }, el("caption", {}, "Typical rows of each cluster"), el("thead", {}, head), el("tbody", {}, body))),
  );
}
