// Where the rows lie: a canvas of points, a card about the row at hand.

function axisWords(axis) {
  if (!axis || !axis.length) return "";
  return axis.map((part) => `${(part.date ? ["earlier", "later"] : ["lower", "higher"])[Number(part.sign > 0)]} ${part.name}`).join(", ");
}

function sampleNote(points) {
  const notes = [];
  if (points.row.length < summary.rows) notes.push(`The plot shows ${whole.format(points.row.length)} of ${whole.format(summary.rows)} rows, drawn from every cluster${summary.sample ? "." : "; all other numbers on this page count every row."}`);
  if (points.outside.length) notes.push(`${plural(points.outside.length, "row")} far away ${points.outside.length === 1 ? "sits" : "sit"} at the edge.`);
  if (points.membership && points.membership.some((value) => value !== null && value < 0.5)) notes.push("Hollow points have a membership below 0.5.");
  return notes.join(" ");
}

function whereSentence(points) {
  if (points.share.length < 2) return "Each point is a row, placed from left to right by its only feature; up and down mean nothing here.";
  const space = points.learned ? `the learned subspace (${plural(points.dimensions, "dimension")})` : `all ${points.dimensions} features`;
  const shares = points.share.map(percent);
  return `Each point is a row, seen along the two directions in which ${space} ${points.learned ? "spreads" : "spread"} the rows most (${shares[0]} and ${shares[1]} of the variance).`;
}

// Two directions that show less of the variance than this are no map of the rows.
const MOSTLY = 2 / 3;
const ISLANDS = "Each point is a row, and each cluster an island. Within an island, rows are placed by the learned graph: connected rows are close together. Similar clusters are placed next to each other, but the distance between islands means little.";

function rowCard(i) {
  const points = summary.points;
  const facts = [];
  if (points.id) facts.push(["row", whole.format(points.row[i])]);
  if (points.truth) facts.push(["known label", points.truth[i] === null ? "–" : String(points.truth[i])]);
  points.columns.forEach((name, k) => {
    const value = points.values[k][i];
    facts.push([name, value === null ? "missing" : typeof value === "number" ? number(value, exact) : String(value)]);
  });
  const title = points.id ? `${points.id_name} ${points.id[i] === null ? "–" : points.id[i]}` : `Row ${whole.format(points.row[i])}`;
  const share = points.membership && points.membership[i] !== null ? `, membership ${points.membership[i].toFixed(2)}` : "";
  return [
    el("p", { class: "card-title" }, title),
    el("p", { class: "card-cluster" }, swatch(points.cluster[i]), clusterName(points.cluster[i]) + share),
    el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
  ];
}

// A lens over the unit square: how much it magnifies, and what is in its middle.
const CLOSEST = 200;
const WHOLE = { scale: 1, x: 0.5, y: 0.5 };

function middle(values) {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered[Math.floor(ordered.length / 2)];
}

function lensOver(points, rows, scale) {
  const [x, y] = [middle(rows.map((i) => points.x[i])), middle(rows.map((i) => points.y[i]))];
  return bounded({ scale, x, y });
}

// What the lens shows never leaves the picture.
function bounded({ scale, x, y }) {
  const size = Math.min(CLOSEST, Math.max(1, scale));
  const inside = (value) => Math.min(1 - 0.5 / size, Math.max(0.5 / size, value));
  return { scale: size, x: inside(x), y: inside(y) };
}

// A cluster that is only a spot in the picture is magnified when it is looked at alone.
function lensFor(points, id) {
  const rows = [...points.cluster.keys()].filter((i) => points.cluster[i] === id);
  const extent = (values) => {
    const ordered = [...values].sort((a, b) => a - b);
    const at = (part) => ordered[Math.round(part * (ordered.length - 1))];
    return at(0.98) - at(0.02);
  };
  const size = Math.max(extent(rows.map((i) => points.x[i])), extent(rows.map((i) => points.y[i])));
  if (rows.length < 2 || size > 0.2) return WHOLE;
  return lensOver(points, rows, 0.6 / Math.max(size, 0.002));
}

function showScatter() {
  const points = summary.points;
  const n = points.row.length;
  const map = mapFigure(points);
  const { canvas, stage, ring, card } = map;
  const view = { lens: WHOLE };
  let outside = new Set(points.outside);
  const place = (i) => [
    view.left + (0.5 + (points.x[i] - view.lens.x) * view.lens.scale) * view.across,
    view.top + (0.5 - (points.y[i] - view.lens.y) * view.lens.scale) * view.down,
  ];
  const visible = (i) => chosen.cluster === null || points.cluster[i] === chosen.cluster;
  const all = [...points.x.keys()];

  function measure() {
    const width = stage.clientWidth;
    const pad = 16;
    view.radius = (n <= 300 ? 4.8 : n <= 1500 ? 3.7 : 2.7) * (width < 500 ? 0.78 : 1);
    const inner = width - 2 * pad;
    const most = Math.max(280, Math.min(620, window.innerHeight * 0.78));
    // Both directions keep one scale, as distances do, unless the cloud is very long and thin.
    const same = points.aspect >= 0.35 && points.aspect <= 2;
    view.down = Math.min(inner * Math.min(Math.max(points.aspect, 0.35), 1.1), most - 2 * pad);
    view.across = same ? Math.min(inner, view.down / points.aspect) : inner;
    view.down = same ? view.across * points.aspect : view.down;
    Object.assign(view, { width, height: view.down + 2 * pad, left: (width - view.across) / 2, top: pad });
  }

  function outline(context, i, radius) {
    const [x, y] = place(i);
    const corners = SHAPES[shapeOf(points.cluster[i])];
    context.beginPath();
    if (!corners) return context.arc(x, y, radius, 0, 2 * Math.PI);
    corners.forEach(([dx, dy], k) => (k ? context.lineTo(x + dx * radius, y + dy * radius) : context.moveTo(x + dx * radius, y + dy * radius)));
    context.closePath();
  }

  function paint() {
    measure();
    const ratio = Math.max(window.devicePixelRatio || 1, 1);
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.setProperty("height", `${view.height}px`);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const inks = new Map(summary.clusters.map((group) => [group.cluster, paletteColour(colourName(group.cluster))]));
    const [faint, paper] = [paletteColour("--faint"), paletteColour("--paper")];
    for (const front of [false, true]) {
      for (let i = 0; i < n; i++) {
        if (visible(i) !== front) continue;
        outline(context, i, front ? view.radius : view.radius * 0.8);
        const hollow = outside.has(i) || (points.membership && points.membership[i] !== null && points.membership[i] < 0.5);
        context.globalAlpha = front ? (n > 1500 ? 0.75 : 0.88) : 1;
        context.fillStyle = !front ? faint : hollow ? paper : inks.get(points.cluster[i]);
        context.fill();
        if (!front) continue;
        context.lineWidth = hollow ? 1.5 : n > 1500 ? 0.4 : 0.8;
        context.strokeStyle = hollow ? inks.get(points.cluster[i]) : paper;
        context.globalAlpha = 1;
        context.stroke();
      }
    }
  }

  let current = null;
  function show(i) {
    current = i;
    ring.hidden = card.hidden = i === null;
    if (i === null) return;
    const [x, y] = place(i);
    ring.style.setProperty("left", `${x}px`);
    ring.style.setProperty("top", `${y}px`);
    ring.style.setProperty("color", colour(points.cluster[i]));
    card.replaceChildren(...rowCard(i));
    const left = x + 18 + card.offsetWidth <= view.width ? x + 18 : x - 18 - card.offsetWidth;
    card.style.setProperty("left", `${Math.max(0, left)}px`);
    card.style.setProperty("top", `${Math.max(0, Math.min(y - 30, view.height - card.offsetHeight))}px`);
  }

  function look(lens) {
    view.lens = lens;
    canvas.classList.toggle("magnified", lens.scale > 1);
    map.factor.textContent = lens.scale > 1 ? `×${two.format(lens.scale)}` : "";
    map.nearer.disabled = lens.scale >= CLOSEST;
    map.farther.disabled = map.whole.disabled = lens.scale <= 1;
    show(null);
    paint();
  }

  // Around the row at hand, or around the middle of the rows in sight.
  function magnify(factor) {
    const { scale, x, y } = view.lens;
    const inSight = (i) => visible(i) && Math.abs(points.x[i] - x) * scale <= 0.5 && Math.abs(points.y[i] - y) * scale <= 0.5;
    const rows = current === null ? all.filter(inSight) : [current];
    look(rows.length ? lensOver(points, rows, scale * factor) : bounded({ scale: scale * factor, x, y }));
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let reach = (event.pointerType === "touch" ? 30 : 16) ** 2;
    for (let i = 0; i < n; i++) {
      if (!visible(i)) continue;
      const [px, py] = place(i);
      const away = (px - x) ** 2 + (py - y) ** 2;
      if (away < reach) [best, reach] = [i, away];
    }
    return best;
  }

  let grip = null; // where a drag began
  canvas.addEventListener("pointerdown", (event) => {
    if (view.lens.scale > 1) grip = { x: event.clientX, y: event.clientY, lens: view.lens };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (grip && event.buttons) {
      const [x, y] = [(event.clientX - grip.x) / view.across, (event.clientY - grip.y) / view.down];
      const { scale } = grip.lens;
      look(bounded({ scale, x: grip.lens.x - x / scale, y: grip.lens.y + y / scale }));
    } else if (event.pointerType !== "touch") show(nearest(event));
  });
  window.addEventListener("pointerup", () => (grip = null));
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && show(null));
  canvas.addEventListener("click", (event) => show(nearest(event)));
  canvas.addEventListener("dblclick", () => magnify(3));
  canvas.addEventListener("blur", () => show(null));
  map.nearer.addEventListener("click", () => magnify(2));
  map.farther.addEventListener("click", () => magnify(0.5));
  map.whole.addEventListener("click", () => look(WHOLE));
  let inOrder = [...all].sort((a, b) => points.x[a] - points.x[b]);
  // Two maps of the same rows: along directions, or by the learned graph.
  const plane = { x: points.x, y: points.y, aspect: points.aspect, outside: points.outside };
  function lay(name) {
    Object.assign(points, name === "graph" ? { ...points.islands, outside: [] } : plane);
    outside = new Set(points.outside);
    inOrder = [...all].sort((a, b) => points.x[a] - points.x[b]);
    map.layouts.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.layout === name)));
    map.axes.forEach((axis) => (axis.style.visibility = name === "graph" ? "hidden" : "visible"));
    map.say(name);
    look(chosen.cluster === null ? WHOLE : lensFor(points, chosen.cluster));
  }
  lay(points.islands && points.share.reduce((sum, part) => sum + part, 0) < MOSTLY ? "graph" : "plane");
  for (const button of map.layouts) button.addEventListener("click", () => lay(button.dataset.layout));
  const keys = { "+": () => magnify(2), "=": () => magnify(2), "-": () => magnify(0.5), 0: () => look(WHOLE) };
  canvas.addEventListener("keydown", (event) => {
    if (event.key in keys) return keys[event.key]();
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = inOrder.filter(visible);
    const here = rows.indexOf(current);
    show(rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : (here + step + rows.length) % rows.length]);
  });
  painters.push(paint);
  follow((only) => look(only === null ? WHOLE : lensFor(points, only)));
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    paint();
    show(null);
  }).observe(stage);
}

// The section with its legend, canvas, card and buttons.
function mapFigure(points) {
  const label = `Scatter plot of ${plural(points.row.length, "row")} in ${plural(summary.clusters.length, "group")}. Left and right arrow keys go through the rows, plus and minus zoom.`;
  const canvas = el("canvas", { tabindex: 0, role: "img", class: "scatter", "aria-label": label });
  const ring = el("span", { class: "ring", hidden: true });
  const card = el("div", { class: "card", hidden: true, role: "status" });
  const control = (text, name) => el("button", { type: "button", "aria-label": name, title: name }, text);
  const nearer = control("+", "Zoom in");
  const farther = control("−", "Zoom out");
  const whole = control("⤢", "Show the whole plot");
  const factor = el("output", {});
  const stage = el("div", { class: "stage" }, canvas, ring, card);
  const legend = el("div", { class: "legend", role: "toolbar", "aria-label": "Show only one cluster" }, summary.clusters.map((group) => clusterButton(group.cluster, clusterName(group.cluster), el("small", {}, ` ${number(group.size, exact)}`))));
  const choice = (name, text) => el("button", { type: "button", class: "quiet", "data-layout": name, "aria-pressed": "false" }, text);
  const layouts = points.islands ? [choice("graph", "Graph"), choice("plane", "Directions")] : [];
  const axisUp = el("p", { class: "axis" });
  const axisAcross = el("p", { class: "axis axis-across" });
  const [across, up] = [axisWords(points.axes[0]), axisWords(points.axes[1])];
  section(
    "where",
    "Map",
    "Where are the rows?",
    whereSentence(points),
    arrowKeys(legend),
    el(
      "figure",
      { class: "map" },
      el(
        "div",
        { class: "map-head" },
        fill(axisUp, {}, [up ? [el("span", { "aria-hidden": "true" }, "↑ "), up] : null]),
        layouts.length ? el("div", { class: "layouts", role: "group", "aria-label": "Layout" }, layouts) : null,
        el("div", { class: "lens" }, factor, nearer, farther, whole),
      ),
      stage,
      across ? fill(axisAcross, {}, [across, el("span", { "aria-hidden": "true" }, " →")]) : null,
      el("figcaption", { class: "note" }, el("span", { class: "hint" }, "Hover over a row, or tap it, to see its values. "), sampleNote(points)),
    ),
  );
  const explain = document.querySelector("#where .explain");
  const say = (name) => (explain.textContent = name === "graph" ? ISLANDS : whereSentence(points));
  return { canvas, ring, card, stage, nearer, farther, whole, factor, layouts, axes: [axisUp, axisAcross], say };
}
