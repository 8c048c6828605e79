// Several numbers of clusters side by side.

const numbers = summary.rows_by_count.rows.map((row) => row.clusters);
page.append(
  el(
    "div",
    { class: "headline" },
    el("p", { class: "eyebrow" }, "How many clusters?"),
    el("h1", {}, `${plural(summary.rows, "row")} of `, el("span", { class: "source" }, summary.source), ` in ${numbers[0]} to ${numbers[numbers.length - 1]} clusters by ${summary.method}`),
    el("p", { class: "lede" }, proposalWords(summary.rows_by_count), summary.words),
  ),
);
section("splits", "Splits", "What splits, and what merges?", "Each column holds the clusters of one number, as high as they have rows. A band is rows that two clusters share.", flowPicture(summary.rows_by_count), changeList(summary.rows_by_count));
section("figures", "Figures", "What speaks for each number?", "A number is easier to believe if its clusters are the same at all scales, and if a larger number only splits them. The best value of a column is marked. Click a name to sort.", countTable(summary.rows_by_count));
if (summary.notes.length) section("notes", "Notes", "What did the fits say?", "These are warnings of single fits.", el("ul", { class: "steps" }, summary.notes.map((note) => el("li", {}, note))));
section("data", "Data", "What was done to the data?", summary.steps.length ? "These steps turned the table into the numbers that were clustered, in this order." : "The numbers were clustered as they are.", summary.steps.length ? el("ol", { class: "steps" }, summary.steps.map((step) => el("li", {}, step))) : null);
