// Several numbers of clusters side by side.

const numbers = summary.rows_by_count.rows.map((row) => row.clusters);
page.append(
  el(
    "div",
    { class: "headline" },
    el("p", { class: "eyebrow" }, "How many clusters?"),
    el("h1", {}, `${plural(summary.rows, "row")} of `, el("span", { class: "source" }, summary.source), ` in ${numbers[0]} to ${numbers[numbers.length - 1]} clusters by ${summary.method}`),
    el("p", { class: "lede" }, summary.rows_by_count.words || "This method proposes no number: only the verdicts are shown."),
    summary.caveats.map((words) => el("p", { class: "lede" }, words)),
  ),
);
section("splits", "Splits", "What splits, and what merges?", "Each column shows the clusters for one number; their height is the number of rows. A band shows the rows that two clusters share.", flowPicture(summary.rows_by_count), changeList(summary.rows_by_count));
section("figures", "Figures", "What is the evidence for each number?", "One score ranks the numbers, where the method has one. The verdict is on the clusters of each number. Click the name of a column to sort.", countTable(summary.rows_by_count));
if (summary.notes.length) section("notes", "Notes", "Warnings", "Warnings from the individual fits.", el("ul", { class: "steps" }, summary.notes.map((note) => el("li", {}, note))));
section("data", "Data", "What was done to the data?", summary.steps.length ? "These steps turned the table into the numbers that were clustered, in this order." : "The numbers were clustered as they are.", summary.steps.length ? el("ol", { class: "steps" }, summary.steps.map((step) => el("li", {}, step))) : null);
