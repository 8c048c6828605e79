// How many clusters: rows that flow from the clusters of one number to those of the next.

const COUNT_COLUMNS = [
  { key: "clusters", name: "clusters", text: (value, row) => `${value}${row.proposed ? " (proposed)" : ""}` },
  { key: "score", name: "score", better: "high", hint: "Evidence for the number of clusters; above 0 there is more than in data without clusters", text: hundredths },
  VERDICT_COLUMN,
  { key: "stability", name: "stability", hint: STABILITY, text: hundredths },
  { key: "ari", name: "ARI", better: "high", hint: "Adjusted Rand index with the known labels; 1 is the same, 0 is chance", text: hundredths },
  { key: "smallest", name: "smallest cluster", text: (value) => plural(value, "row") },
];

function flowPicture(found) {
  const { blocks, ribbons } = found.flow;
  const numbers = found.rows.map((row) => row.clusters);
  const [step, thick, high, top] = [150, 26, 340, 8];
  const x = (count) => 44 + numbers.indexOf(count) * step;
  const y = (part) => top + part * high;
  const width = 88 + (numbers.length - 1) * step;
  const readout = el("p", { class: "readout note", role: "status" }, "Hover over a band or a block to see its rows.");
  const bands = ribbons.map((band) => {
    const [left, right] = [x(band.fewer) + thick / 2, x(band.more) - thick / 2];
    const middle = (left + right) / 2;
    const [a, b, c, d] = [...band.left, ...band.right].map((part) => y(part).toFixed(2));
    const path = svg("path", { class: "band-flow", d: `M${left} ${a}C${middle} ${a} ${middle} ${c} ${right} ${c}V${d}C${middle} ${d} ${middle} ${b} ${left} ${b}Z` });
    path.style.fill = colour(band.target);
    path.addEventListener("pointerenter", () => (readout.textContent = `${plural(band.rows, "row")}: cluster ${band.source} of ${band.fewer}, cluster ${band.target} of ${band.more}.`));
    return path;
  });
  const columns = blocks.map((block) => {
    const height = y(block.bottom) - y(block.top);
    const box = svg("rect", { x: x(block.n_clusters) - thick / 2, y: y(block.top), width: thick, height: Math.max(height, 1), rx: 2 });
    box.style.fill = colour(block.cluster);
    box.addEventListener("pointerenter", () => (readout.textContent = `Cluster ${block.cluster} of ${block.n_clusters}: ${plural(block.rows, "row")}.`));
    const name = height > 13 ? svg("text", { x: x(block.n_clusters), y: (y(block.top) + y(block.bottom)) / 2 + 4, class: "on-colour" }, String(block.cluster)) : null;
    return [box, name];
  });
  const feet = found.rows.map((row) => [
    svg("text", { x: x(row.clusters), y: top + high + 24, class: row.clusters === found.chosen ? "count chosen" : "count" }, String(row.clusters)),
    row.verdict ? svg("text", { x: x(row.clusters), y: top + high + 42, class: "under" }, row.verdict) : null,
  ]);
  const label = `Clusters at ${listed(numbers.map(String))}. ${found.steps.map((one) => `From ${one.fewer} to ${one.more}: ${one.changes.join(" ")}`).join(" ")}`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${top + high + 50}`, class: "flow", role: "img", "aria-label": label }, bands, columns, feet);
  picture.style.setProperty("min-width", `${Math.min(width, 88 + 6 * step) * 0.62}px`);
  picture.style.setProperty("max-width", `${width * 1.15}px`);
  const words = "Below each column: the number of clusters and the verdict on them. ";
  return el("figure", { class: "flow-figure" }, el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Clusters at several numbers" }, picture), readout, el("figcaption", { class: "note" }, words, "A cluster keeps its name and its colour where most of its rows stay together."));
}

function changeList(found) {
  const step = ({ fewer, more, nested, changes }) => el("li", {}, el("b", {}, `${fewer} to ${more}`), ` ${changes.join(" ")} `, el("small", {}, `${percent(nested)} of the rows stay inside one parent cluster.`));
  return el("ul", { class: "changes" }, found.steps.map(step));
}

function countTable(found) {
  const rows = found.rows.map((row) => ({ ...row, marked: row.clusters === found.chosen, proposed: row.clusters === found.proposed }));
  const known = COUNT_COLUMNS.filter((column) => rows.some((row) => row[column.key] !== null && row[column.key] !== undefined));
  const scored = known.some((column) => column.key === "ari");
  return sortableTable(`${scored ? "Agreement with the known labels, and measures that need none" : "Measures that need no known labels"}, for each number of clusters`, known, rows);
}

// The section of the report: the number at hand beside one fewer and one more.
function showCounts() {
  const found = summary.counts;
  if (!found) return;
  section(
    "counts",
    "How many",
    "How many clusters?",
    `${found.words ? `${found.words} ` : ""}This is what splits and what merges with one cluster fewer and one more.`,
    flowPicture(found),
    changeList(found),
    countTable(found),
  );
}
