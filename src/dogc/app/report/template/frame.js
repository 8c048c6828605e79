// What frames every page: the bar of sections, light and dark, paper.

// The section at hand, in the bar.
const links = new Map([...document.querySelectorAll("#contents a")].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) links.get(entry.target.id).toggleAttribute("data-here", entry.isIntersecting);
}, { rootMargin: "-20% 0px -75% 0px" });
for (const part of page.querySelectorAll("section")) watcher.observe(part);

// Light or dark: what the system says, until the reader says otherwise.
const root = document.documentElement;
const themeButton = document.getElementById("theme");
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);

function themed() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  paintAgain();
}

function remember(theme) {
  try {
    if (theme) localStorage.setItem("dogc-theme", theme);
    else return localStorage.getItem("dogc-theme");
  } catch { /* a page from a file may have no storage */ }
  return null;
}

const before = remember();
if (before === "light" || before === "dark") root.dataset.theme = before;
themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  remember(root.dataset.theme);
  themed();
});
systemDark.addEventListener("change", themed);
themed();

// Paper is white.
let onScreen;
window.addEventListener("beforeprint", () => {
  onScreen = root.dataset.theme;
  root.dataset.theme = "light";
  paintAgain();
});
window.addEventListener("afterprint", () => {
  if (onScreen) root.dataset.theme = onScreen;
  else delete root.dataset.theme;
  paintAgain();
});
