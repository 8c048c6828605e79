// What makes each cluster different: a card for each, its features ranked.

const TOP = window.matchMedia("(max-width: 44rem)").matches ? 3 : 5;
const CARDS = 6;

function clusterSentence(words) {
  if (!words.length) return "No single feature sets it apart from the rest.";
  const say = { higher: "higher", lower: "lower", later: "later", earlier: "earlier", between: "neither early nor late", far: "very early or very late", medium: "medium", extreme: "very high or very low", mostly: "mostly", rarely: "rarely" };
  const text = words.map((part) => `${say[part.kind]} ${listed(part.names)}`).join("; ");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

// A number in the units of the table: days since 1970-01-01 are a date.
function inUnits(column, value, style = rough) {
  if (!column.date || value === null) return number(value, style);
  const day = new Date(Math.round(value) * 86400000);
  return Number.isNaN(day.getTime()) ? number(value, style) : day.toISOString().slice(0, 10);
}

function contrastWords(feature, column) {
  const against = `against ${percent(feature.rest)} of the rest`;
  if (column.two_values) {
    const yes = feature.side === "above";
    return `${percent(yes ? feature.share : 1 - feature.share)} of its rows, against ${percent(yes ? feature.rest : 1 - feature.rest)} of the rest`;
  }
  const cuts = feature.cuts.map((cut) => inUnits(column, cut, exact));
  const where = { above: `${column.date ? "after" : "above"} ${cuts[0]}`, below: `${column.date ? "up to" : "at most"} ${cuts[0]}`, between: `from ${cuts[0]} to ${cuts[1]}`, outside: column.date ? `before ${cuts[0]} or after ${cuts[1]}` : `below ${cuts[0]} or above ${cuts[1]}` }[feature.side];
  return `${percent(feature.share)} of its rows are ${where}, ${against}`;
}

function columnName(column) {
  if (column.two_values && column.original) return `${column.name} = ${inUnits(column, column.values[1], exact)}`;
  return column.name;
}

function shareBars(feature, id) {
  const yes = feature.side === "above";
  const bar = (share, kind) => {
    const inner = el("i", { style: { width: `${100 * share}%` } });
    if (kind === "own") inner.style.setProperty("background", colour(id));
    return el("span", { class: `share ${kind}` }, inner);
  };
  return el("div", { class: "shares", "aria-hidden": "true" }, bar(yes ? feature.share : 1 - feature.share, "own"), bar(yes ? feature.rest : 1 - feature.rest, "rest"));
}

// The range that the words speak of, in parts of the scale.
function ranges(feature, column) {
  const [low, high] = column.edges;
  const scale = column.log ? Math.log : Number;
  const at = (value) => (value <= low ? 0 : Math.min(1, (scale(value) - scale(low)) / (scale(high) - scale(low))));
  const cuts = feature.cuts.map(at);
  return { above: [[cuts[0], 1]], below: [[0, cuts[0]]], between: [[cuts[0], cuts[1]]], outside: [[0, cuts[0]], [cuts[1], 1]] }[feature.side];
}

function histogram(feature, column, id) {
  const own = column.clusters[id];
  const rest = column.all.map((count, i) => count - own[i]);
  const shares = (counts) => { const sum = counts.reduce((a, b) => a + b, 0) || 1; return counts.map((count) => count / sum); };
  const [mine, others] = [shares(own), shares(rest)];
  const top = Math.max(...mine, ...others);
  const step = 240 / own.length;
  const height = (share) => (50 * share) / top;
  const bars = mine.map((share, i) => {
    const bar = svg("rect", { x: i * step + 0.5, y: 52 - height(share), width: Math.max(step - 1, 0.5), height: height(share), class: "own" });
    bar.style.fill = colour(id);
    return bar;
  });
  let outline = "M0 52";
  others.forEach((share, i) => { outline += `V${(52 - height(share)).toFixed(2)}H${((i + 1) * step).toFixed(2)}`; });
  const bands = ranges(feature, column).map(([from, to]) => svg("rect", { x: 240 * from, y: 0, width: 240 * (to - from), height: 52, class: "band" }));
  const [less, more] = column.beyond;
  return el(
    "div",
    { class: "histogram", "aria-hidden": "true" },
    svg("svg", { viewBox: "0 0 240 52", preserveAspectRatio: "none" }, bands, bars, svg("path", { d: `${outline}V52`, class: "rest" }), svg("path", { d: "M0 52H240", class: "base" })),
    el("div", { class: "scale" }, el("span", {}, (less ? "≤ " : "") + inUnits(column, less ? column.edges[0] : column.values[0])), el("span", {}, (more ? "≥ " : "") + inUnits(column, more ? column.edges[1] : column.values[1]))),
  );
}

function featureRow(feature, id) {
  const column = summary.features.columns[feature.column];
  const facts = [];
  if (!column.two_values) facts.push(`median ${inUnits(column, feature.median)}, all rows ${inUnits(column, column.median)}`);
  if (!column.two_values && !column.original) facts.push("in prepared units");
  if (!column.two_values && column.log) facts.push("logarithmic scale");
  if (column.missing) facts.push(`${whole.format(column.missing)} missing`);
  return el(
    "li",
    { class: "feature" },
    el("div", { class: "feature-words" }, el("b", {}, breakable(columnName(column))), el("p", {}, contrastWords(feature, column)), facts.length ? el("small", {}, facts.join(" · ")) : null),
    column.two_values ? shareBars(feature, id) : histogram(feature, column, id),
  );
}

function featureCard(group) {
  const size = summary.clusters.find((other) => other.cluster === group.cluster).size;
  const rows = group.features.map((feature) => featureRow(feature, group.cluster));
  const list = el("ol", { class: "features" }, rows);
  const more = rows.length > TOP + 1 ? el("button", { type: "button", class: "more" }) : null;
  const set = (open) => {
    if (!more) return;
    rows.forEach((row, i) => row.toggleAttribute("hidden", !open && i >= TOP));
    more.setAttribute("aria-expanded", String(open));
    more.textContent = open ? "Show fewer features" : `Show ${rows.length - TOP} more features`;
  };
  if (more) more.addEventListener("click", () => set(more.getAttribute("aria-expanded") !== "true"));
  set(false);
  const card = el(
    "article",
    { class: "portrait", "aria-label": clusterName(group.cluster), style: { "--c": colour(group.cluster) } },
    el("h3", {}, swatch(group.cluster), clusterName(group.cluster), el("small", {}, ` ${plural(size, "row")}`)),
    el("p", { class: "portrait-words" }, clusterSentence(group.words)),
    list,
    more,
  );
  return card;
}

function showFeatures() {
  const features = summary.features;
  if (!features) return;
  const cards = features.clusters.map(featureCard);
  const grid = el("div", { class: cards.length === 3 || cards.length > 4 ? "portraits three" : "portraits" }, cards);
  let open = cards.length <= CARDS;
  const more = el("button", { type: "button", class: "more", onclick: () => { open = !open; update(chosen.cluster); } });
  const update = (only) => {
    const known = features.clusters.some((group) => group.cluster === only);
    cards.forEach((card, i) => card.toggleAttribute("hidden", known ? features.clusters[i].cluster !== only : !open && i >= CARDS));
    grid.classList.toggle("alone", known);
    more.hidden = known || cards.length <= CARDS;
    more.textContent = open ? `Show the first ${CARDS} clusters` : `Show all ${cards.length} clusters`;
  };
  const sample = el("i", { class: "key-own" });
  follow((only) => sample.style.setProperty("background", colour(only === null ? 0 : only)));
  const notes = [];
  const total = summary.data.facts.features;
  if (summary.sample) notes.push(`Ranges and shares are of ${whole.format(summary.sample.rows)} of ${whole.format(summary.rows)} rows.`);
  if (features.looked_at < total) notes.push(`Of ${whole.format(total)} features, only the ${whole.format(features.looked_at)} whose means differ most were considered.`);
  if (features.clusters.length < summary.clusters_found) notes.push(`The ${features.clusters.length} largest of ${whole.format(summary.clusters_found)} clusters are shown.`);
  section(
    "features",
    "Differences",
    "What makes each cluster different?",
    ["Features are ranked by how well a range of their values separates the cluster from all other rows.", el("br"), el("span", { class: "key" }, sample, "the cluster"), " ", el("span", { class: "key" }, el("i", { class: "key-rest" }), "the rest"), " ", el("span", { class: "key" }, el("i", { class: "key-band" }), "that range")],
    grid,
    more,
    notes.length ? el("p", { class: "note" }, notes.join(" ")) : null,
  );
  follow(update);
}
