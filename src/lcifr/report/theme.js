// The switch between light and dark, and what is folded opened on paper.
"use strict";
(() => {
  const theme = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const now = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  const label = () => { theme.textContent = now() === "dark" ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  label();

  const opened = [];
  window.addEventListener("beforeprint", () => document.querySelectorAll("details:not([open])").forEach((one) => {
    one.open = true;
    opened.push(one);
  }));
  window.addEventListener("afterprint", () => { while (opened.length) opened.pop().open = false; });
})();
