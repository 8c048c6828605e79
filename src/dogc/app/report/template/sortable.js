// A table that is sorted by a click on the name of a column; the best value of a column is marked.

// Columns: { key, name, hint, better: "high", "low" or nothing, text: (value, row) => words }.
function bestOf(rows, column) {
  if (!column.better) return null;
  const known = rows.map((row) => row[column.key]).filter((value) => typeof value === "number");
  if (known.length < 2 || Math.max(...known) === Math.min(...known)) return null;
  return column.better === "high" ? Math.max(...known) : Math.min(...known);
}

function cellText(column, row) {
  const value = row[column.key];
  if (value === null || value === undefined) return "–";
  if (column.text) return column.text(value, row);
  return typeof value === "number" ? value.toFixed(3).replace("-", "−") : String(value);
}

function sortableTable(caption, columns, rows) {
  const best = columns.map((column) => bestOf(rows, column));
  const lines = rows.map((row) => {
    const cells = columns.map((column, j) => {
      const text = cellText(column, row);
      if (!j) return el("th", { scope: "row" }, text);
      // What reads the same is as good.
      const first = best[j] !== null && typeof row[column.key] === "number" && cellText(column, { ...row, [column.key]: best[j] }) === text;
      return el("td", { class: [first ? "best" : "", column.words ? "words" : ""].join(" ").trim() || null }, first ? [el("span", { class: "hidden-words" }, "best: "), text] : text);
    });
    return { row, node: el("tr", { class: row.marked ? "marked" : null }, cells) };
  });
  const body = el("tbody", {}, lines.map((line) => line.node));
  const heads = columns.map((column) => {
    const head = el("th", { scope: "col", title: column.hint || null, class: column.words ? "words" : null });
    head.append(column.words ? column.name : el("button", { type: "button", class: "sort", onclick: () => sortBy(column, head) }, column.name));
    return head;
  });
  function sortBy(column, head) {
    const now = head.getAttribute("aria-sort");
    const down = now ? now === "ascending" : column.better === "high";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (line) => line.row[column.key];
    const missing = (line) => value(line) === null || value(line) === undefined;
    const order = [...lines].sort((a, b) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const apart = typeof value(a) === "number" ? value(a) - value(b) : String(value(a)).localeCompare(String(value(b)));
      return down ? -apart : apart;
    });
    body.append(...order.map((line) => line.node));
  }
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, el("table", { class: "sortable" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body));
}
