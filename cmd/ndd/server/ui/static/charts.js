// Charts as SVG, as wide as the place that they are for. Each has a title for screen readers; what they show also stands beside them in words.

import { element } from "/ui/words.js";

const left = 46, right = 6, top = 8, bottom = 20;

function frame(title, width, height) {
  const svg = element("svg:svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(element("svg:title", {}, title));
  return svg;
}

// columns draws a row of numbers, with a line where all would be if they were even.
export function columns(title, width, values, most, even, labels, ticks) {
  const height = 170, svg = frame(title, width, height), each = (width - left - right) / values.length;
  const y = (v) => height - bottom - (Math.min(v, most) / most) * (height - top - bottom);
  for (const tick of ticks) {
    svg.append(element("svg:line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }));
    svg.append(element("svg:text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, String(tick)));
  }
  values.forEach((v, i) => {
    svg.append(element("svg:rect", { class: "column", x: (left + i * each).toFixed(2), y: y(v).toFixed(2), width: (each * 0.78).toFixed(2), height: (y(0) - y(v)).toFixed(2) }));
  });
  for (const [i, text] of labels) {
    const anchor = i === 0 ? "start" : i === values.length - 1 ? "end" : "middle";
    svg.append(element("svg:text", { x: left + (i === 0 ? 0 : i === values.length - 1 ? i + 1 : i + 0.4) * each, y: height - 5, "text-anchor": anchor }, text));
  }
  svg.append(element("svg:line", { class: "even", x1: left, x2: width - right, y1: y(even), y2: y(even) }));
  return svg;
}

// meter draws a share, with a mark.
export function meter(title, share, mark) {
  const svg = element("svg:svg", { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img" }, element("svg:title", {}, title));
  svg.append(element("svg:rect", { class: "full", width: Math.max(0, Math.min(100, 100 * share)), height: 8, rx: 2 }));
  if (mark !== undefined) svg.append(element("svg:line", { x1: 100 * mark, x2: 100 * mark, y1: 0, y2: 8, "vector-effect": "non-scaling-stroke" }));
  return svg;
}
