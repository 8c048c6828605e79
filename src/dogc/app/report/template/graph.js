// How the learned graph looks: rows in order of their clusters, and the weight between clusters.

// Clusters whose table fits beside the picture, and clusters that have a table at all.
const BESIDE = 5;
const TABLE = 16;

// What the graph joins.
const nodes = (graph) => (graph.representatives ? "representatives" : "rows");

function insideSentence(graph) {
  const { inside, representatives } = graph;
  const start = representatives
    ? `The graph joins ${plural(representatives, "representative")}, which stand for ${plural(summary.rows, "row")}.`
    : "The graph joins rows that are alike.";
  if (inside > 0.999999) return `${start} Here all of its weight joins ${nodes(graph)} in the same cluster.`;
  return `${start} ${percent(inside)} of its weight joins ${nodes(graph)} in the same cluster, and ${percent(1 - inside)} joins different clusters.`;
}

// Runs of bins of one cluster: [cluster, first, last + 1].
function runs(owner) {
  const found = [];
  owner.forEach((id, i) => {
    if (found.length && found[found.length - 1][0] === id) found[found.length - 1][2] = i + 1;
    else found.push([id, i, i + 1]);
  });
  return found;
}

function heatMap(graph) {
  const { bins, owner } = graph;
  const count = owner.length;
  const edge = count * 0.045;
  const cells = [];
  // One cluster that fits into a single slice must not make all others pale.
  const weights = bins.flat().filter((share) => share > 0).sort((a, b) => a - b);
  const peak = weights[Math.floor(0.95 * (weights.length - 1))];
  bins.forEach((row, i) => row.forEach((share, j) => {
    if (!share) return;
    const cell = svg("rect", { x: j, y: i, width: 1.02, height: 1.02, "fill-opacity": Math.min(1, 0.14 + 0.86 * Math.sqrt(share / peak)).toFixed(3), class: owner[i] === owner[j] ? null : "crossing" });
    if (owner[i] === owner[j]) cell.style.fill = colour(owner[i]);
    cells.push([cell, owner[i], owner[j]]);
  }));
  const borders = runs(owner).flatMap(([id, from, to]) => {
    const [left, top] = [svg("rect", { x: -edge, y: from, width: edge * 0.6, height: to - from }), svg("rect", { x: from, y: -edge, width: to - from, height: edge * 0.6 })];
    left.style.fill = top.style.fill = colour(id);
    const size = Math.min(count * 0.032, 0.85 * (to - from));
    const room = size >= count * 0.012 && id !== OUTLIERS;
    return [left, top,
      from ? svg("path", { d: `M0 ${from}H${count}M${from} 0V${count}`, class: "border" }) : null,
      room ? svg("text", { x: -edge * 1.3, y: (from + to) / 2 + size * 0.35, "font-size": size, "text-anchor": "end" }, String(id)) : null,
      room ? svg("text", { x: (from + to) / 2, y: -edge * 1.3, "font-size": size, "text-anchor": "middle" }, String(id)) : null];
  });
  const margin = edge * 1.3 + count * 0.04;
  const picture = svg("svg", { viewBox: `${-margin} ${-margin} ${count + margin + 0.3} ${count + margin + 0.3}`, class: "heat", role: "img", "aria-label": insideSentence(graph) },
    svg("rect", { x: 0, y: 0, width: count, height: count, class: "field" }), cells.map(([cell]) => cell), borders);
  const readout = el("p", { class: "readout note", role: "status" }, "Hover over a cell to see its value.");
  picture.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    const [j, i] = [Math.floor(at.x), Math.floor(at.y)];
    if (i < 0 || j < 0 || i >= count || j >= count) return;
    const share = bins[i][j] / 1000;
    const [mine, theirs] = [clusterName(owner[i]).toLowerCase(), clusterName(owner[j]).toLowerCase()];
    readout.textContent = share ? `A slice of ${mine} gives ${share <= 0.001 ? "at most 0.1%" : percent(share)} of its weight to a slice of ${theirs}.` : `No weight between these slices of ${mine} and ${theirs}.`;
  });
  follow((only) => { for (const [cell, a, b] of cells) cell.classList.toggle("faded", only !== null && a !== only && b !== only); });
  return el("figure", { class: "heat-figure" }, picture, readout);
}

function blockTable(graph) {
  const head = el("tr", {}, el("td", { class: "corner" }, "from \\ to"), graph.clusters.map((id) => el("th", { scope: "col" }, swatch(id), el("span", { class: "cell-name" }, id === OUTLIERS ? "out" : String(id)))));
  const body = graph.blocks.map((shares, i) => el("tr", {}, el("th", { scope: "row", "aria-label": clusterName(graph.clusters[i]) }, swatch(graph.clusters[i]), graph.clusters[i] === OUTLIERS ? "out" : String(graph.clusters[i])), shares.map((share, j) => {
    const cell = el("td", { class: i === j ? "matched" : null }, share ? percent(share) : el("span", { class: "zero" }, "0"));
    cell.style.setProperty("--share", `${Math.round((i === j ? 42 : 60) * share)}%`);
    return cell;
  })));
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Weight between clusters" }, el("table", { class: graph.clusters.length > 10 ? "confusion many" : "confusion" }, el("caption", {}, "share of the weight of each cluster (rows) that goes to each cluster (columns)"), el("thead", {}, head), el("tbody", {}, body)));
}

function looseList(graph) {
  const stays = graph.clusters.map((id, i) => [id, graph.blocks[i][i]]).sort((a, b) => a[1] - b[1]).slice(0, 8);
  return el("div", { class: "facts-list" }, el("h3", {}, "Clusters that keep the smallest share of their weight"), el("ul", {}, stays.map(([id, share]) => el("li", {}, swatch(id), `${clusterName(id)} keeps ${percent(share)}`))));
}

function tieList(graph) {
  if (!graph.ties.length || graph.clusters.length < 3) return null;
  const tie = ({ between: [a, b], share }) =>
    el("li", {}, swatch(a), swatch(b), `${clusterName(a)} and ${clusterName(b).toLowerCase()}: ${percent(share)} of all weight`);
  return el("div", { class: "facts-list" }, el("h3", {}, "Strongest ties between clusters"), el("ul", {}, graph.ties.map(tie)));
}

function showGraph() {
  const graph = summary.graph;
  if (!graph) return;
  const aside = el(
    "div",
    { class: "graph-facts" },
    el("p", { class: "big" }, el("b", {}, percent(graph.inside)), ` of the weight of ${plural(graph.edges, "edge")} stays inside clusters`),
    graph.clusters.length <= BESIDE ? blockTable(graph) : null,
    graph.clusters.length > TABLE ? looseList(graph) : null,
    tieList(graph),
  );
  const below = graph.inside < 0.999999 && graph.clusters.length > BESIDE && graph.clusters.length <= TABLE ? blockTable(graph) : null;
  const how = graph.bins ? ` ${graph.representatives ? "Representatives" : "Rows"} are sorted by cluster and grouped into slices, along both axes. Darker cells mean more weight; separate clusters appear as separate blocks.` : "";
  section("graph", "Graph", "What does the learned graph look like?", insideSentence(graph) + how, el("div", { class: "graph" }, graph.bins ? heatMap(graph) : null, aside), below);
}
