// Charts as SVG. Each has a title for screen readers; what they show also stands beside them in words.

import { element } from "/ui/words.js";

// meter draws a share, with a mark.
export function meter(title, share, mark) {
  const svg = element("svg:svg", { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img" }, element("svg:title", {}, title));
  svg.append(element("svg:rect", { class: "full", width: Math.max(0, Math.min(100, 100 * share)), height: 8, rx: 2 }));
  if (mark !== undefined) svg.append(element("svg:line", { x1: 100 * mark, x2: 100 * mark, y1: 0, y2: 8, "vector-effect": "non-scaling-stroke" }));
  return svg;
}
