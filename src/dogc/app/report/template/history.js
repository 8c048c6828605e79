// Convergence: small line charts, one reading for all.

const MEANINGS = {
  graph: "distances along edges",
  spread: "unevenness of the weights",
  deviation_l2: "distance from the given graph",
  deviation_l1: "distance from the given graph",
  smoothness: "change of labels along edges",
  link: "discrete against continuous labels",
  regression: "loss of the regression of labels on features",
};

function lineChart(title, meaning, values, { log = false, target = null, whole: counts = false, unit = 0 } = {}) {
  const known = values.filter((value) => value !== null);
  const scale = (value) => (log ? Math.log(value) : value);
  const all = (target === null ? known : [...known, target]).map(scale);
  const largest = Math.max(unit, ...known.map(Math.abs));
  // Rounding errors read as what they are: nothing.
  const text = (value) => (counts ? whole.format(value) : number(Math.abs(value) < 1e-9 * largest ? 0 : value));
  const [lowest, highest] = [Math.min(...known), Math.max(...known)].map(text);
  let [low, high] = [counts ? 0 : Math.min(...all), Math.max(...all)];
  if (!counts && lowest === highest && target === null) [low, high] = [low - largest - 1, high + largest + 1];
  if (!(high > low)) [low, high] = [0, 1];
  const [width, height, pad] = [240, 84, 8];
  const x = (i) => (values.length < 2 ? width / 2 : pad + ((width - 2 * pad) * i) / (values.length - 1));
  const y = (value) => height - pad - ((height - 2 * pad) * (scale(value) - low)) / (high - low);
  const path = values.map((value, i) => (value === null ? "" : `${i && values[i - 1] !== null ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`)).join("");
  const dot = svg("circle", { r: 3.5, class: "dot" });
  const hair = svg("path", { class: "hair" });
  const reading = el("b", {});
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: from ${text(known[0])} to ${text(known[known.length - 1])}` },
    target === null ? null : [svg("path", { d: `M0 ${y(target)}H${width}`, class: "target" })],
    hair, svg("path", { d: path, class: "line" }), dot);
  const node = el("figure", { class: "chart" }, el("figcaption", {}, el("span", {}, title), reading), el("small", {}, meaning), picture, el("div", { class: "scale" }, lowest === highest ? `always ${lowest}` : `between ${lowest} and ${highest}`));
  const read = (i) => {
    const value = values[i];
    reading.textContent = value === null ? "–" : text(value);
    dot.setAttribute("visibility", value === null ? "hidden" : "visible");
    if (value === null) return;
    dot.setAttribute("cx", x(i));
    dot.setAttribute("cy", y(value));
    hair.setAttribute("d", `M${x(i)} 0V${height}`);
  };
  const indexAt = (event) => {
    const box = picture.getBoundingClientRect();
    const part = ((event.clientX - box.left) / box.width) * width;
    return Math.round(Math.min(1, Math.max(0, (part - pad) / (width - 2 * pad))) * (values.length - 1));
  };
  return { node, read, picture, indexAt };
}

function showHistory() {
  const history = summary.history;
  if (!history) return;
  const c = summary.clusters_found;
  const length = history.iteration.length;
  const positive = history.lam.filter((value) => value > 0);
  const wide = positive.length === length && Math.max(...positive) / Math.min(...positive) > 50;
  const charts = [
    lineChart("Connected components", `the dashed line is the goal, ${c}`, history.components, { target: c, whole: true }),
    lineChart("Lambda", `pull towards ${plural(c, "component")}${wide ? "; logarithmic scale" : ""}`, history.lam, { log: wide }),
    lineChart(summary.data.facts.n_representatives ? "Representatives moved" : "Rows moved", "to another cluster", history.changed, { whole: true }),
    lineChart("Objective", "sum of the terms below", history.objective),
  ];
  const unit = Math.max(...history.objective.map(Math.abs));
  const terms = Object.entries(history.terms).map(([name, values]) => lineChart(name.replace("_", " "), MEANINGS[name] || "", values, { unit }));
  const label = el("output", { class: "iteration" });
  const slider = el("input", { type: "range", min: 0, max: length - 1, step: 1, value: length - 1, "aria-label": "Iteration" });
  const read = (i) => {
    slider.value = i;
    label.textContent = `iteration ${history.iteration[i]} of ${history.iteration[length - 1]}`;
    slider.setAttribute("aria-valuetext", label.textContent);
    for (const chart of [...charts, ...terms]) chart.read(i);
  };
  slider.addEventListener("input", () => read(Number(slider.value)));
  for (const chart of [...charts, ...terms]) {
    chart.picture.addEventListener("pointermove", (event) => read(chart.indexAt(event)));
    chart.picture.addEventListener("pointerdown", (event) => read(chart.indexAt(event)));
  }
  section(
    "history",
    "Convergence",
    "Did it converge?",
    `${summary.ending.words} Lambda is changed until the graph has as many components as clusters. At a fixed lambda the objective never increases; values at different lambdas cannot be compared.`,
    el("div", { class: "reader" }, slider, label),
    el("div", { class: "charts" }, charts.map((chart) => chart.node)),
    terms.length ? [el("h3", { class: "terms-title" }, "The terms of the objective"), el("div", { class: "charts terms" }, terms.map((chart) => chart.node))] : null,
  );
  read(length - 1);
}
