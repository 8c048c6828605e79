// What was done to the data, with which settings.

function valueText(value) {
  if (value === null) return "none";
  if (typeof value === "number") return number(value, exact);
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function factTable(title, facts) {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  if (!entries.length) return null;
  return el("div", { class: "fact-table" }, el("h3", {}, title), el("dl", {}, entries.map(([name, value]) => el("div", { class: valueText(value).length > 34 ? "long" : null }, el("dt", {}, name), el("dd", {}, valueText(value))))));
}

function showData() {
  const { steps, settings, seconds, phases, facts } = summary.data;
  const { parameters = {}, versions = {}, notes = [], counts: proposed = [], ...others } = settings;
  const counts = { rows: summary.rows, columns: facts.columns, "features after preparation": facts.features };
  if (facts.n_representatives) counts.representatives = facts.n_representatives;
  if (facts.geometry) counts["scaling of the columns"] = facts.geometry;
  if (facts.n_neighbors !== null) counts[facts.n_representatives ? "representatives linked to each row" : "neighbours of each row"] = facts.n_neighbors;
  if (typeof facts.label_agreement === "number") counts["labels reproduced by predict"] = percent(facts.label_agreement);
  const proposals = {};
  for (const row of Array.isArray(proposed) ? proposed : []) proposals[plural(row.n_clusters, "cluster")] = `${number(row.score)}${row.n_clusters > 1 ? `; ${row.votes} of ${plural(row.n_scales, "scale")}` : ""}`;
  const times = {};
  if (seconds !== null) times.fit = `${number(seconds)} s`;
  for (const [name, value] of Object.entries(phases)) times[`of that: ${name}`] = `${number(value)} s`;
  section(
    "data",
    "Data",
    "What was done to the data?",
    steps.length ? "These steps turned the table into the numbers that were clustered, in this order; the model keeps them for new rows." : "The numbers were clustered as they are.",
    steps.length ? el("ol", { class: "steps" }, steps.map((step) => el("li", {}, withOptions(step)))) : null,
    Array.isArray(notes) && notes.length ? el("div", { class: "notes" }, el("h3", {}, "Notes from the run"), el("ul", {}, notes.map((note) => el("li", {}, withOptions(valueText(note)))))) : null,
    el("div", { class: "fact-tables" }, factTable("Table", counts), factTable("How many clusters: score; scales that agree", proposals), factTable("Run", { ...others, ...times }), factTable("Versions", versions)),
    Object.keys(parameters).length ? el("details", {}, el("summary", {}, `All ${plural(Object.keys(parameters).length, "parameter")}`), factTable("Parameters", parameters)) : null,
  );
}
