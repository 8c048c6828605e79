// Methods side by side.

const seconds = (value) => (value < 0.01 ? "<0.01" : number(value, two));
const METHOD_COLUMNS = [
  { key: "method", name: "method" },
  { key: "acc", name: "ACC", better: "high", hint: "Accuracy: rows that are right when each cluster stands for one class" },
  { key: "nmi", name: "NMI", better: "high", hint: "Mutual information: how much the cluster of a row tells about its class" },
  { key: "purity", name: "purity", better: "high", hint: "Rows that belong to the most common class of their cluster" },
  { key: "ari", name: "ARI", better: "high", hint: "Adjusted Rand index: pairs of rows treated alike, beyond chance" },
  { key: "silhouette", name: "silhouette", better: "high", hint: "From −1 to 1; favours round clusters of one size" },
  { key: "scales", name: "over scales", better: "high", hint: "Agreement of the labels at several numbers of neighbours; 1 is identical" },
  { key: "confident", name: "confident rows", better: "high", hint: "Share of rows with a confidence of at least 0.5", text: percent },
  { key: "stability", name: "stability", better: "high", hint: "How well the clusters are found again when a fifth of the rows is left out" },
  { key: "agreement", name: "with others", hint: "Mean adjusted Rand index with the other methods" },
  { key: "clusters", name: "clusters", text: (value, row) => (row.failed ? "failed" : whole.format(value)) },
  { key: "seconds", name: "seconds", better: "low", text: seconds },
];

function methodTable() {
  const known = METHOD_COLUMNS.filter((column) => summary.methods.some((row) => row[column.key] !== null && row[column.key] !== undefined));
  const explained = known.filter((column) => column.hint);
  const caption = summary.labelled ? "Scores against the known labels, and measures that need none" : "Measures that need no known labels, for each method";
  const terms = el("dl", { class: "terms-list" }, explained.map((column) => [el("dt", {}, column.name), el("dd", {}, `${column.hint}.`)]));
  return [sortableTable(caption, known, summary.methods), el("details", {}, el("summary", {}, "What the columns mean"), terms)];
}

function agreementTable() {
  const { names, agreement } = summary;
  const head = el("tr", {}, el("td", { class: "corner" }), names.map((name) => el("th", { scope: "col" }, name)));
  const body = agreement.map((line, i) => el("tr", {}, el("th", { scope: "row" }, names[i]), line.map((value, j) => {
    const cell = el("td", { title: `${names[i]} and ${names[j]}` }, value.toFixed(2));
    cell.style.setProperty("--share", `${Math.round(40 * Math.max(0, value))}%`);
    return cell;
  })));
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Agreement of each pair of methods" }, el("table", { class: "confusion agreeing" }, el("caption", {}, "adjusted Rand index of each pair of labellings"), el("thead", {}, head), el("tbody", {}, body)));
}

page.append(
  el(
    "div",
    { class: "headline" },
    el("p", { class: "eyebrow" }, "Methods side by side"),
    el("h1", {}, `${plural(summary.rows, "row")} of `, el("span", { class: "source" }, summary.source), ` in ${plural(summary.clusters, "cluster")} by ${plural(summary.methods.length, "method")}`),
    el("p", { class: "lede" }, summary.labelled ? "The known labels were used only for scoring, never for clustering." : "There are no known labels, so nothing here says which method is right. Results on which methods and scales agree are more credible."),
  ),
);
section("methods", "Methods", "How well does each method do?", "The best value of a column is marked. Click a name to sort.", methodTable());
if (summary.names.length > 1) section("agreement", "Agreement", "Which methods agree?", "1 means identical clusters, 0 is the level of chance. Stronger colours mean more agreement.", agreementTable());
if (summary.notes.length) section("notes", "Notes", "Warnings", "Warnings from the methods, and why some failed.", el("ul", { class: "steps" }, summary.notes.map((note) => el("li", {}, note))));
section("data", "Data", "What was done to the data?", summary.steps.length ? "These steps turned the table into the numbers that were clustered, in this order." : "The numbers were clustered as they are.", summary.steps.length ? el("ol", { class: "steps" }, summary.steps.map((step) => el("li", {}, step))) : null);
