// Put the report together.

showHeadline();
showSizes();
showTruth();
showScatter();
showExemplars();
showFeatures();
showCounts();
showGraph();
showHistory();
showData();

const pill = document.getElementById("isolated");
follow((only) => {
  pill.hidden = only === null;
  if (only === null) return pill.replaceChildren();
  pill.replaceChildren(swatch(only), el("span", {}, `${clusterName(only)} only`), el("button", { type: "button", class: "quiet", onclick: () => isolate(null) }, "Show all", el("kbd", {}, "Esc")));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") isolate(null);
});
