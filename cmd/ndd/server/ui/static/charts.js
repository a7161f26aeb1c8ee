// Charts as SVG, as wide as the place that they are for. Each has a title for screen readers; what they show also stands beside them in words.

import { element } from "/ui/words.js";

const left = 46, right = 6, top = 8, bottom = 20;

function frame(title, width, height) {
  const svg = element("svg:svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(element("svg:title", {}, title));
  return svg;
}

// nice returns the least of 1, 2, 5 times a power of ten that is not below x.
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x || 1));
  return [1, 2, 5, 10].map((m) => m * power).find((v) => v >= x * 0.999) || 1;
}

// lines draws two rows of numbers over the last minutes, the newest on the right.
export function lines(title, width, one, other, step, label) {
  const height = 150, svg = frame(title, width, height), highest = Math.max(...one, ...other), most = highest > 0 ? nice(highest) : 1;
  const x = (i) => left + (i / (one.length - 1)) * (width - left - right);
  const y = (v) => height - bottom - (v / most) * (height - top - bottom);
  for (const part of [0, 0.5, 1]) {
    svg.append(element("svg:line", { class: "grid", x1: left, x2: width - right, y1: y(part * most), y2: y(part * most) }));
    svg.append(element("svg:text", { x: left - 6, y: y(part * most) + 4, "text-anchor": "end" }, label(part * most)));
  }
  const minutes = Math.round((one.length * step) / 60);
  for (let m = minutes; m >= 0; m--) {
    if (m === minutes - 1 && width < 420) continue; // the words before need its room
    const anchor = m === minutes ? "start" : m === 0 ? "end" : "middle";
    svg.append(element("svg:text", { x: x((1 - m / minutes) * (one.length - 1)), y: height - 5, "text-anchor": anchor }, m === 0 ? "now" : m === minutes ? `${m} min ago` : `${m}`));
  }
  const path = (values) => values.map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  svg.append(element("svg:path", { class: "area", d: `${path(one)}L${x(one.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` }));
  svg.append(element("svg:path", { class: "other", d: path(other) }));
  svg.append(element("svg:path", { class: "one", d: path(one) }));
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
