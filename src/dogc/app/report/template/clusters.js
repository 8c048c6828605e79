// The headline, and how many rows are in each cluster, and how deep inside it.

const FEW = 12;

function verdictMark(good) {
  return el("span", { class: `verdict ${good ? "good" : "warn"}`, "aria-hidden": "true" }, good ? "✓" : "!");
}

function showHeadline() {
  const cuts = summary.deciding_cuts;
  const deciding = cuts ? [cuts.name] : summary.deciding || [];
  const { verdict, rows, clusters_found: found } = summary;
  page.append(
    el(
      "div",
      { class: "headline" },
      el("p", { class: "eyebrow" }, "Clustering report"),
      el("h1", {}, `${plural(rows, "row")} of `, el("span", { class: "source" }, summary.source), ` in ${plural(found, "cluster")} by ${summary.method}`),
      // A tick is for clear clusters alone, and not where one column makes them so, or categories may.
      el("p", { class: "lede answer" }, verdict.verdict === "clear" && !deciding.length && !verdict.caveats.length ? verdictMark(true) : null, verdict.lead),
      [verdict.words, ...verdict.caveats].filter(Boolean).map((words) => el("p", { class: "lede" }, withOptions(words))),
      deciding.length ? el("p", { class: "lede" }, verdictMark(false), cuts ? cutWords(cuts) : decidingWords(deciding)) : null,
      verdict.figures.length ? figureList(verdict.figures) : null,
      summary.sample ? el("p", { class: "lede" }, summary.sample.words) : null,
    ),
  );
}

const FIGURES = { stability: STABILITY, separation: SEPARATION };

function figureList(figures) {
  const beside = (value) => (value === null ? "" : `; ${hundredths(value)} in data without clusters`);
  return el("dl", { class: "scores figures" }, figures.map(({ name, value, reference }) => el("div", { class: "score" }, el("dt", {}, name), el("dd", {}, hundredths(value)), el("dd", {}, FIGURES[name] + beside(reference)))));
}

function decidingWords(names) {
  const it = names.length === 1 ? "it" : "them";
  return withOptions(`The clusters follow ${listed(names.map((name) => `“${name}”`))}: rows with different values are almost never in the same cluster. Use --drop to see the clusters without ${it}.`);
}

function cutWords(column) {
  const cuts = column.cuts.map((cut) => inUnits(column, cut, exact));
  return withOptions(`The clusters follow “${column.name}” alone: cut at ${listed(cuts)}, it gives nearly the same clusters. Use --drop to see the clusters without it.`);
}

function membershipSentence() {
  const share = summary.membership;
  if (!share) return "Each bar is a cluster. This method gives no membership.";
  const below = share.low ? `${plural(share.low, "row")} (${percent(share.low / share.known)}) ${share.low === 1 ? "is" : "are"} below 0.5` : "no row is below 0.5";
  return `Each bar is a cluster. Membership is the share of a row’s neighbours that are in its own cluster, weighted by how near they are: 1 deep inside, less at a border; it is not a probability. On average it is ${share.mean.toFixed(2)}; ${below}${share.low ? " (striped)" : ""}.`;
}

function membershipShape(share, id) {
  const top = Math.max(...share.histogram, 1);
  const bars = share.histogram.map((count, i) => {
    const height = count ? Math.max(1, (18 * count) / top) : 0;
    const bar = svg("rect", { x: i * 6, y: 18 - height, width: 5, height, class: i < 5 ? "low" : null });
    bar.style.fill = colour(id);
    return bar;
  });
  const label = `Membership from 0 to 1 in tenths: ${share.histogram.join(", ")} rows`;
  return svg("svg", { viewBox: "0 0 59 19", class: "spark", role: "img", "aria-label": label }, bars, svg("path", { d: "M0 18.5H59", class: "base" }));
}

function clusterRow(group, largest) {
  const inside = group.membership;
  const low = inside ? inside.low / group.size : 0;
  const bar = el("span", { class: "bar-fill", style: { width: `${(100 * group.size) / largest}%`, "--c": colour(group.cluster), "--low": `${100 * low}%` } }, el("i"));
  const share = percent(group.size / summary.rows);
  const row = el(
    "li",
    { class: "size-row" },
    el("span", { class: "size-name" }, clusterButton(group.cluster)),
    el("span", { class: "size-bar", role: "img", "aria-label": `${plural(group.size, "row")}, ${share}` }, bar),
    el("span", { class: "size-count" }, el("b", {}, whole.format(group.size)), el("small", {}, ` ${share}`)),
    inside && el("span", { class: "size-inside", "data-label": "mean membership" }, membershipShape(inside, group.cluster), el("b", {}, inside.mean.toFixed(2))),
    inside && el("span", { class: "size-low", "data-label": "below 0.5" }, percent(inside.low / inside.known)),
    el("span", { class: "size-out", "data-label": "outliers" }, group.cluster === OUTLIERS ? "–" : whole.format(group.outliers)),
  );
  follow((only) => row.classList.toggle("faded", only !== null && only !== group.cluster));
  return row;
}

function showSizes() {
  const largest = Math.max(...summary.clusters.map((group) => group.size));
  const share = summary.membership;
  const head = el(
    "li",
    { class: "size-row size-head", "aria-hidden": "true" },
    el("span", {}, "cluster"),
    el("span", {}),
    el("span", { class: "size-count" }, "rows"),
    share && el("span", {}, "mean membership"),
    share && el("span", {}, "below 0.5"),
    el("span", {}, "outliers"),
  );
  const rows = summary.clusters.map((group) => clusterRow(group, largest));
  const list = el("ul", { class: share ? "sizes" : "sizes no-membership" }, head, rows);
  const group = el("div", { role: "group", "aria-label": "Clusters; arrow keys move between them, Enter shows only that one" }, list);
  const outliers = summary.clusters.reduce((sum, group) => sum + group.outliers, 0);
  const note = outliers ? `Outliers are rows far from their neighbours, and rows of groups too small to be a cluster: ${whole.format(outliers)} here. ` : null;
  const hint = el("span", { class: "hint" }, "Click a cluster to show only that cluster on the whole page; press Escape to show all again.");
  section("sizes", "Clusters", "How large are the clusters, and how deep inside are their rows?", membershipSentence(), arrowKeys(group), fewFirst(rows, "clusters"), el("p", { class: "note" }, note, hint));
}

// Long lists start short.
function fewFirst(items, what) {
  if (items.length <= FEW + 2) return null;
  const set = (open) => {
    items.forEach((item, i) => item.toggleAttribute("hidden", !open && i >= FEW));
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? `Show the first ${FEW} ${what}` : `Show all ${items.length} ${what}`;
  };
  const button = el("button", { type: "button", class: "more", onclick: () => set(button.getAttribute("aria-expanded") !== "true") });
  set(false);
  return button;
}
