// The box: a text, a page or a fingerprint in, its near-duplicates and the bits in which they differ out.

import { ask } from "/ui/api.js";
import { count, element, integer } from "/ui/words.js";

const idsShown = 200;

// kindOf says what a pasted text is.
export function kindOf(text) {
  if (/^\s*[0-9a-fA-F]{16}\s*$/.test(text)) return "fingerprint";
  return /^\s*</.test(text) && /<\/?(html|head|body|p|div|article|section|span|h[1-6]|table|ul|a)\b/i.test(text) ? "html" : "text";
}

// differing returns the bits in which a stored fingerprint differs from the query's, the leading one first: from the nearer one
// of a query that has two with a comma.
export function differing(a, b) {
  const all = b.split(",").map((one) => bitsOf(a, one));
  return all.reduce((least, list) => (list.length < least.length ? list : least));
}

function bitsOf(a, b) {
  const diff = BigInt("0x" + a) ^ BigInt("0x" + b), list = [];
  for (let bit = 63; bit >= 0; bit--) if ((diff >> BigInt(bit)) & 1n) list.push(bit);
  return list;
}

// strip shows the 64 bits of a fingerprint in eight groups; those that differ are boxed and underlined.
function strip(fingerprint, bits) {
  const digits = BigInt("0x" + fingerprint).toString(2).padStart(64, "0");
  const words = bits.length ? `64 bits; ${count(bits.length, "bit")} ${bits.length === 1 ? "differs" : "differ"}: ${bits.join(", ")}` : "64 bits";
  const node = element("div", { class: "bits", role: "img", "aria-label": words });
  for (let group = 0; group < 8; group++) {
    const span = element("span");
    for (let i = 8 * group; i < 8 * group + 8; i++) span.append(bits.includes(63 - i) ? element("b", { title: `bit ${63 - i}` }, digits[i]) : digits[i]);
    node.append(span);
  }
  return node;
}

function idList(hit) {
  const list = element("ul", { class: "ids" });
  for (const id of hit.ids.slice(0, idsShown)) {
    const link = /^https?:\/\//i.test(id) ? element("a", { href: id, rel: "noopener noreferrer nofollow", target: "_blank" }, id) : id;
    const item = element("li", {}, link);
    list.append(item);
  }
  const more = hit.documents - Math.min(hit.ids.length, idsShown);
  if (more > 0) list.append(element("li", { class: "quiet" }, `and ${count(more, "more document")}`));
  return list;
}

function hitOf(hit, asked) {
  const bits = differing(hit.fingerprint, asked);
  const badge = hit.distance === 0 ? "same fingerprint" : `${count(hit.distance, "bit")} differ${hit.distance === 1 ? "s" : ""}`;
  const node = element("li", { class: "hit" },
    element("header", {}, element("h3", { class: "mono" }, hit.fingerprint),
      element("span", { class: "quiet" }, count(hit.documents, "document")),
      element("span", { class: hit.distance === 0 ? "badge same" : "badge" }, badge)),
    strip(hit.fingerprint, bits));
  if (bits.length) node.append(element("p", { class: "quiet" }, `Differs in ${bits.length === 1 ? "bit" : "bits"} ${bits.join(", ")}; 63 is the leading one.`));
  node.append(idList(hit));
  return node;
}

function show(answer) {
  const list = element("ol", { class: "hits" },
    element("li", { class: "hit asked" },
      element("header", {}, element("h3", { class: "mono" }, answer.fingerprint), element("span", { class: "quiet" }, "the fingerprint of what you asked for")),
      strip(answer.fingerprint, [])));
  for (const hit of answer.hits) list.append(hitOf(hit, answer.fingerprint));
  document.getElementById("answer").replaceChildren(list);
}

// setup makes the form work.
export function setup() {
  const form = document.getElementById("query"), subject = document.getElementById("subject");
  const summary = document.getElementById("answer-summary"), button = form.querySelector("button");
  subject.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = subject.value;
    summary.classList.remove("error");
    if (!text.trim()) {
      summary.textContent = "Paste something first.";
      subject.focus();
      return;
    }
    let kind = form.elements.kind.value;
    if (kind === "auto") kind = kindOf(text);
    button.disabled = true;
    summary.textContent = "Searching";
    try {
      const k = Number(document.getElementById("k").value);
      const answer = await ask("/v1/query", { ...subjectOf(text, kind), k, limit: 1000 });
      const what = { text: "As text", html: "As an HTML page", fingerprint: "As a fingerprint" }[kind];
      summary.textContent = answer.documents
        ? `${what}: ${count(answer.documents, "document")} with ${count(answer.hits.length, "fingerprint")} within ${count(k, "bit")}${answer.truncated ? ", of which the first are shown" : ""}.`
        : `${what}: nothing within ${count(k, "bit")}.`;
      show(answer);
    } catch (error) {
      summary.classList.add("error");
      summary.textContent = error.message + (error.retryAfter ? `; try again in ${count(error.retryAfter, "second")}` : "");
      document.getElementById("answer").replaceChildren();
    }
    button.disabled = false;
  });
}

// subjectOf returns what a request is about, from a pasted text.
function subjectOf(text, kind) {
  return { [kind]: kind === "fingerprint" ? text.trim() : text };
}

// setK offers the distances that the index can answer.
export function setK(most) {
  const select = document.getElementById("k");
  if (select.options.length === most + 1) return;
  select.replaceChildren();
  for (let k = most; k >= 0; k--) select.append(element("option", { value: k }, k === 0 ? "the same" : `${integer(k)} bit${k === 1 ? "" : "s"}`));
}
