// What every part of the page uses: elements, words for numbers, colours, the chosen cluster.

const summary = JSON.parse(document.getElementById("summary").textContent);
const page = document.getElementById("page");
const OUTLIERS = -1;
const COLOURS = 20;
const EACH_SHAPE = 10;

// Elements. Text only ever becomes a text node, so nothing in the data can be markup.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, set] of Object.entries(value)) node.style.setProperty(key, set);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Numbers as people write them.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
const two = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const rough = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

function number(value, style = rough) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-6)) {
    const [front, power] = value.toExponential(2).split("e");
    const raised = [...String(Number(power))].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");
    return `${front.replace("-", "−")} × 10${raised}`;
  }
  return style.format(value).replace("-", "−");
}

function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share > 0 && share < 0.001) return "<0.1%";
  if (share < 1 && share > 0.999) return ">99.9%";
  const value = 100 * share;
  const tidy = value < 10 || (value > 99 && value < 100) ? Math.round(value * 10) / 10 : Math.round(value);
  return `${tidy}%`;
}

// The two figures of a verdict, in words.
const STABILITY = "Agreement with the clusters found when rows are left out and moved, from 0 to 1";
const SEPARATION = "Log ratio of the cut that halves a cluster to the cut around it";

const hundredths = (value) => value.toFixed(2).replace("-", "−");
const VERDICTS = ["clear", "plausible", "doubtful", "none"];
const VERDICT_COLUMN = { key: "rank", name: "verdict", better: "low", hint: "Whether there is evidence of these clusters: clear, plausible, doubtful or none", text: (value) => VERDICTS[value] };

const plural = (count, one, many = `${one}s`) => `${whole.format(count)} ${count === 1 ? one : many}`;

// A long name may break after what joins its words.
function breakable(name) {
  return name.split(/(?<=[_.\-/])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

// An option of the command line does not break after its hyphens.
function withOptions(words) {
  return words.split(/(--[a-z-]+)/).map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

function listed(words, last = "and") {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words[words.length - 1]}`;
}

// Clusters: a name, a colour and, for every ten of them, another shape.
const clusterName = (id) => (id === OUTLIERS ? "Outliers" : `Cluster ${id}`);
const colourName = (id) => (id === OUTLIERS ? "--outlier" : `--c${id % COLOURS}`);
const colour = (id) => `var(${colourName(id)})`;
const shapeOf = (id) => (id === OUTLIERS ? 0 : Math.floor(id / EACH_SHAPE) % 4);

// A shape around the origin, of the same area for all, as a path in a square of side two.
const SHAPES = [
  null,
  [[-0.88, -0.88], [0.88, -0.88], [0.88, 0.88], [-0.88, 0.88]],
  [[0, -1.2], [1.12, 0.8], [-1.12, 0.8]],
  [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
];

function swatch(id) {
  const corners = SHAPES[shapeOf(id)];
  const form = corners
    ? svg("polygon", { points: corners.map((at) => at.join(",")).join(" ") })
    : svg("circle", { r: 1 });
  form.style.fill = colour(id);
  return svg("svg", { viewBox: "-1.3 -1.3 2.6 2.6", class: "swatch", "aria-hidden": "true" }, form);
}

// The one cluster that the reader looks at, or none: the whole page follows.
const chosen = { cluster: null, followers: [] };

function follow(react) {
  chosen.followers.push(react);
  react(chosen.cluster);
}

function isolate(id) {
  chosen.cluster = id;
  for (const react of chosen.followers) react(id);
}

const toggle = (id) => isolate(chosen.cluster === id ? null : id);

function clusterButton(id, ...inside) {
  const button = el(
    "button",
    { type: "button", class: "cluster", "data-cluster": id, onclick: () => toggle(id) },
    swatch(id),
    el("span", {}, inside.length ? inside : clusterName(id)),
  );
  follow((only) => {
    button.setAttribute("aria-pressed", String(only === id));
    button.classList.toggle("faded", only !== null && only !== id);
  });
  return button;
}

// One stop for the Tab key; arrows go on from there, and take an isolated cluster with them.
function arrowKeys(container) {
  const buttons = () => [...container.querySelectorAll("button[data-cluster]")].filter((b) => b.offsetParent);
  const stopAt = (button) => {
    for (const other of container.querySelectorAll("button[data-cluster]")) other.tabIndex = other === button ? 0 : -1;
  };
  container.addEventListener("focusin", (event) => {
    if (event.target.matches("button[data-cluster]")) stopAt(event.target);
  });
  container.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const all = buttons();
    const here = all.indexOf(document.activeElement);
    if (here < 0) return;
    let next = null;
    if (event.key in steps) next = all[(here + steps[event.key] + all.length) % all.length];
    if (event.key === "Home") next = all[0];
    if (event.key === "End") next = all[all.length - 1];
    if (!next) return;
    event.preventDefault();
    next.focus();
    if (chosen.cluster !== null) isolate(Number(next.dataset.cluster));
  });
  stopAt(container.querySelector("button[data-cluster]"));
  return container;
}

// A section: a question, one sentence that says what is seen, and the picture.
function section(id, short, question, sentence, ...children) {
  const node = el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, question),
    el("p", { class: "explain" }, sentence),
    children,
  );
  page.append(node);
  document.getElementById("contents").append(el("a", { href: `#${id}` }, short));
  return node;
}

// Pictures on canvas are painted again when the colours change.
const painters = [];
const paintAgain = () => painters.forEach((paint) => paint());

function paletteColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
