"""Scripts that measure a page in a browser: contrast of texts, and what sticks out."""

from __future__ import annotations

CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const part = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const found = rgba(getComputedStyle(one).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || one.closest("script, style, noscript, title, desc")) continue;
    if (one.closest(".unseen, .skip") || !one.getClientRects().length) continue;
    const style = getComputedStyle(one);
    const ink = rgba(one.closest("svg") ? style.fill : style.color), paper = behind(one);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700) ? 3 : 4.5;
    seen += 1;
    if (ratio < needed) poor.push(`${ratio.toFixed(2)} ${one.tagName}.${one.className}: ${one.textContent}`);
  }
  return { poor, seen };
})()"""


SPREAD = """[...document.querySelectorAll("body *")].filter((one) => !one.closest(".scroll, .skip, .unseen")
  && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.tagName + "." + one.className)"""
OVERLAPS = """(() => {
  const found = [];
  for (const chart of document.querySelectorAll("svg.chart")) {
    const whole = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
    texts.forEach(([text, box], place) => {
      if (box.left < whole.left - 1 || box.right > whole.right + 1) found.push(`${text} is cut off`);
      for (const [other, its] of texts.slice(0, place)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 0.5 && down > 3) found.push(`${text} on ${other}`); // boxes are taller than letters
      }
    });
  }
  return { found, charts: document.querySelectorAll("svg.chart").length };
})()"""
