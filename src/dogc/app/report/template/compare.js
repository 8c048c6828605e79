// Methods side by side.

const seconds = (value) => (value < 0.01 ? "<0.01" : number(value, two));
const METHOD_COLUMNS = [
  { key: "method", name: "method" },
  VERDICT_COLUMN,
  { key: "acc", name: "ACC", better: "high", hint: "Accuracy: rows that are right when each cluster stands for one class" },
  { key: "nmi", name: "NMI", better: "high", hint: "Mutual information: how much the cluster of a row tells about its class" },
  { key: "purity", name: "purity", better: "high", hint: "Rows that belong to the most common class of their cluster" },
  { key: "ari", name: "ARI", better: "high", hint: "Adjusted Rand index: pairs of rows treated alike, beyond chance" },
  { key: "stability", name: "stability", better: "high", hint: STABILITY, text: hundredths },
  { key: "separation", name: "separation", better: "high", hint: SEPARATION, text: hundredths },
  { key: "agreement", name: "with others", hint: "Mean adjusted Rand index with the other labellings; identical ones count once" },
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
  const { groups, agreement } = summary;
  const all = groups.map((group) => group.join(", "));
  const head = el("tr", {}, el("td", { class: "corner" }), groups.map((group) => el("th", { scope: "col", title: group.join(", ") }, group[0], group.length > 1 ? ` +${group.length - 1}` : "")));
  const body = agreement.map((line, i) => el("tr", {}, el("th", { scope: "row" }, all[i]), line.map((value, j) => {
    const cell = el("td", { title: `${all[i]} and ${all[j]}` }, value < 1 && value >= 0.995 ? ">0.99" : hundredths(value));
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
    summary.lead.map((words) => el("p", { class: "lede" }, words)),
    summary.labelled ? el("p", { class: "lede" }, "The known labels were used only for scoring, never for clustering.") : null,
  ),
);
section("methods", "Methods", "How well does each method do?", "The verdict comes first: it needs no known labels. The best value of a column is marked. Click the name of a column to sort.", methodTable());
if (summary.groups.length > 1) section("agreement", "Agreement", "Which methods agree?", "1 means identical clusters, 0 is the level of chance. Methods with identical clusters share a line; +2 stands for two more.", agreementTable());
if (summary.notes.length) section("notes", "Notes", "Warnings", "Warnings from the methods, and why some failed.", el("ul", { class: "steps" }, summary.notes.map((note) => el("li", {}, note))));
section("data", "Data", "What was done to the data?", summary.steps.length ? "These steps turned the table into the numbers that were clustered, in this order." : "The numbers were clustered as they are.", summary.steps.length ? el("ol", { class: "steps" }, summary.steps.map((step) => el("li", {}, step))) : null);
