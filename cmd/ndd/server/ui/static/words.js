// Numbers as people read them, and elements.

const whole = new Intl.NumberFormat("en");

export const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;
export const integer = (n) => whole.format(n);

// short writes a large number with three digits and a word.
export function short(n) {
  for (const [unit, word] of [[1e9, " billion"], [1e6, " million"]]) {
    if (n >= unit) return (n / unit).toFixed(n >= 100 * unit ? 0 : n >= 10 * unit ? 1 : 2) + word;
  }
  return whole.format(n);
}

export function bytes(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) [n, i] = [n / 1024, i + 1];
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

export function duration(seconds) {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  for (const [word, size] of units) {
    if (seconds >= size) return count(Math.floor(seconds / size), word);
  }
  return count(Math.floor(seconds), "second");
}

// element makes one, with attributes and children; text is never read as markup.
export function element(name, attributes = {}, ...children) {
  const node = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
