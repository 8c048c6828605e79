// Where the rows lie: a canvas of points, a card about the row at hand.

function axisWords(axis) {
  if (!axis || !axis.length) return "";
  return axis.map((part) => `${part.sign > 0 ? "more" : "less"} ${part.name}`).join(", ");
}

function sampleNote(points) {
  const notes = [];
  if (points.row.length < points.total) notes.push(`The picture shows ${whole.format(points.row.length)} of ${whole.format(points.total)} rows, drawn from every cluster; all other numbers on this page count every row.`);
  if (points.outside.length) notes.push(`${plural(points.outside.length, "row")} far away ${points.outside.length === 1 ? "sits" : "sit"} at the edge.`);
  if (points.confidence && points.confidence.some((value) => value !== null && value < 0.5)) notes.push("Hollow points have a confidence below 0.5.");
  return notes.join(" ");
}

function whereSentence(points) {
  if (points.share.length < 2) return "Each point is a row, placed from left to right by its only feature; up and down mean nothing here.";
  const space = points.learned ? `the ${points.dimensions}-dimensional subspace that was learned` : `all ${points.dimensions} features`;
  const shares = points.share.map(percent);
  return `Each point is a row, seen along the two directions in which ${space} ${points.learned ? "spreads" : "spread"} the rows most (${shares[0]} and ${shares[1]} of the variance).`;
}

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
  const sure = points.confidence && points.confidence[i] !== null ? `, confidence ${points.confidence[i].toFixed(2)}` : "";
  return [
    el("p", { class: "card-title" }, title),
    el("p", { class: "card-cluster" }, swatch(points.cluster[i]), clusterName(points.cluster[i]) + sure),
    el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
  ];
}

function showScatter() {
  const points = summary.points;
  const n = points.row.length;
  const canvas = el("canvas", { tabindex: 0, role: "img", class: "scatter", "aria-label": `Scatter plot of ${plural(n, "row")} in ${plural(summary.clusters.length, "group")}. Left and right arrow keys go through the rows.` });
  const ring = el("span", { class: "ring", hidden: true });
  const card = el("div", { class: "card", hidden: true, role: "status" });
  const stage = el("div", { class: "stage" }, canvas, ring, card);
  const legend = el("div", { class: "legend", role: "toolbar", "aria-label": "Show one cluster alone" }, summary.clusters.map((group) => clusterButton(group.cluster, clusterName(group.cluster), el("small", {}, ` ${whole.format(group.size)}`))));
  const across = axisWords(points.axes[0]);
  const up = axisWords(points.axes[1]);
  section(
    "where",
    "Map",
    "Where do they lie?",
    whereSentence(points),
    arrowKeys(legend),
    el("figure", { class: "map" },
      up ? el("p", { class: "axis axis-up" }, el("span", { "aria-hidden": "true" }, "↑ "), up) : null,
      stage,
      across ? el("p", { class: "axis axis-across" }, across, el("span", { "aria-hidden": "true" }, " →")) : null,
      el("figcaption", { class: "note" }, el("span", { class: "hint" }, "Point at a row, or tap it, to see its values. "), sampleNote(points))),
  );
  const view = {};
  const outside = new Set(points.outside);
  const place = (i) => [view.left + points.x[i] * view.across, view.top + (1 - points.y[i]) * view.down];
  const visible = (i) => chosen.cluster === null || points.cluster[i] === chosen.cluster;

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

  function mark(context, i, radius) {
    const [x, y] = place(i);
    const corners = SHAPES[shapeOf(points.cluster[i])];
    context.beginPath();
    if (!corners) context.arc(x, y, radius, 0, 2 * Math.PI);
    else corners.forEach(([dx, dy], k) => (k ? context.lineTo(x + dx * radius, y + dy * radius) : context.moveTo(x + dx * radius, y + dy * radius)));
    if (corners) context.closePath();
  }

  function paint() {
    measure();
    const ratio = Math.max(window.devicePixelRatio || 1, 1);
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.setProperty("height", `${view.height}px`);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const inks = new Map(summary.clusters.map((group) => [group.cluster, paletteColour(colourName(group.cluster))]));
    const faint = paletteColour("--faint");
    const paper = paletteColour("--paper");
    for (const front of [false, true]) {
      for (let i = 0; i < n; i++) {
        if (visible(i) !== front) continue;
        mark(context, i, front ? view.radius : view.radius * 0.8);
        const unsure = points.confidence && points.confidence[i] !== null && points.confidence[i] < 0.5;
        context.globalAlpha = front ? (n > 1500 ? 0.75 : 0.88) : 1;
        context.fillStyle = !front ? faint : unsure || outside.has(i) ? paper : inks.get(points.cluster[i]);
        context.fill();
        if (!front) continue;
        context.lineWidth = unsure ? 1.5 : n > 1500 ? 0.4 : 0.8;
        context.strokeStyle = unsure || outside.has(i) ? inks.get(points.cluster[i]) : paper;
        context.globalAlpha = 1;
        context.stroke();
      }
    }
    context.globalAlpha = 1;
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
    card.replaceChildren(...rowCard(i).flat());
    const left = x + 18 + card.offsetWidth <= view.width ? x + 18 : x - 18 - card.offsetWidth;
    card.style.setProperty("left", `${Math.max(0, left)}px`);
    card.style.setProperty("top", `${Math.max(0, Math.min(y - 30, view.height - card.offsetHeight))}px`);
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

  canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && show(nearest(event)));
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && show(null));
  canvas.addEventListener("click", (event) => show(nearest(event)));
  canvas.addEventListener("blur", () => show(null));
  const inOrder = [...points.x.keys()].sort((a, b) => points.x[a] - points.x[b]);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = inOrder.filter(visible);
    const here = rows.indexOf(current);
    show(rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : (here + step + rows.length) % rows.length]);
  });
  painters.push(() => { paint(); if (current !== null) show(visible(current) ? current : null); });
  follow(() => { show(null); paint(); });
  let width = 0;
  new ResizeObserver(() => { if (stage.clientWidth !== width) { width = stage.clientWidth; paint(); show(null); } }).observe(stage);
}
