// How well the clusters match labels that were known beforehand.

const SCORES = [
  ["acc", "accuracy (ACC)", "rows that are right when each cluster stands for one class"],
  ["nmi", "mutual information (NMI)", "how much the cluster of a row tells about its class; 1 is everything"],
  ["purity", "purity", "rows that belong to the most common class of their cluster"],
  ["ari", "adjusted Rand index (ARI)", "pairs of rows treated alike, beyond chance; 0 is chance"],
];

function showTruth() {
  const truth = summary.truth;
  if (!truth) return;
  const scores = SCORES.map(([key, name, meaning]) =>
    el("div", { class: "score" }, el("dt", {}, name), el("dd", {}, truth.scores[key].toFixed(3)), el("dd", {}, meaning)),
  );
  const head = el("tr", {}, el("td", { class: "corner" }, "class \\ cluster"), truth.clusters.map((id) => el("th", { scope: "col" }, swatch(id), el("span", { class: "cell-name" }, id === OUTLIERS ? "out" : String(id)))));
  const body = truth.table.map((counts, i) => {
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    const cells = counts.map((count, j) => {
      const matched = truth.clusters[j] === truth.matched[i];
      const cell = el("td", { class: matched ? "matched" : null, title: `${count} of ${total} rows of ${truth.classes[i]} are in ${clusterName(truth.clusters[j]).toLowerCase()}` }, count ? whole.format(count) : el("span", { class: "zero" }, "0"));
      cell.style.setProperty("--share", `${Math.round((matched ? 42 : 60) * (count / total))}%`);
      return cell;
    });
    return el("tr", {}, el("th", { scope: "row" }, truth.classes[i]), cells);
  });
  const hidden = [];
  if (truth.classes.length < truth.classes_total) hidden.push(`${truth.classes.length} of ${truth.classes_total} classes`);
  if (truth.clusters.length < truth.clusters_total) hidden.push(`the ${truth.clusters.length} largest of ${truth.clusters_total} clusters`);
  section(
    "truth",
    "Known labels",
    "How well do they match the known labels?",
    "The labels were not used to find the clusters; here they are compared with them. Each cluster is matched with at most one class so that as many rows as possible agree; the matches are framed.",
    el("div", { class: truth.clusters.length <= 5 ? "agreement" : null },
    el("dl", { class: "scores" }, scores),
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Rows by class and cluster" }, el("table", { class: truth.clusters.length > 10 ? "confusion many" : "confusion" }, el("caption", {}, "rows of each class (table rows) in each cluster (columns)"), el("thead", {}, head), el("tbody", {}, body)))),
    hidden.length ? el("p", { class: "note" }, `The table shows ${listed(hidden)}.`) : null,
  );
}
