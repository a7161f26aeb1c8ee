// The page of the index: what it holds, and the box.

import { ask } from "/ui/api.js";
import { meter } from "/ui/charts.js";
import { setK, setup } from "/ui/search.js";
import { bytes, count, duration, element, integer, short } from "/ui/words.js";

const statsEvery = 4000; // milliseconds

const at = (id) => document.getElementById(id);

function tile(title, value, ...notes) {
  return element("div", {}, element("dt", {}, title), element("dd", { class: "big" }, value), ...notes.filter(Boolean).map((n) => element("dd", { class: "quiet" }, n)));
}

function showTiles(s) {
  const away = [];
  if (s.deleted) away.push(`${integer(s.deleted)} deleted`);
  if (s.expired) away.push(`${integer(s.expired)} expired`);
  const each = s.bytes_each
    ? [s.bytes_each.toFixed(2), meter(`${s.bytes_each.toFixed(2)} bytes; the entropy bound is ${s.bound_bytes_each.toFixed(2)}`, 1, s.bound_bytes_each / s.bytes_each),
      `Entropy bound of one table: ${s.bound_bytes_each.toFixed(2)} (the mark); ${count(s.tables, "table")}`]
    : ["–", "No segment yet: fresh documents are searched in memory"];
  at("tiles").replaceChildren(
    tile("Documents", short(s.documents), s.buffered ? `${integer(s.buffered)} not in a segment yet` : "all in segments", away.length && away.join(", ") + ", room not given back yet"),
    tile("Fingerprints", short(s.fingerprints), "distinct within each segment"),
    tile("Bytes a fingerprint", ...each),
    tile("Tables", bytes(s.table_bytes), s.layout ? `${s.layout} layout` : "none yet"),
    tile("Design", s.design, `${count(s.tables, "table")}, distances up to k = ${s.k}`),
    tile("Inserts", s.durable ? "Durable" : "In memory", s.durable ? `${integer(s.unflushed)} in the log only` : "lost when the server stops", s.ids ? "" : "documents are known by numbers only"));
  at("footer").textContent = `ndd ${s.version}, up for ${duration(s.uptime_seconds)}. ` +
    `One request: at most ${bytes(s.limits.body_bytes)}, ${count(s.limits.documents, "document")} or ${count(s.limits.fingerprints, "fingerprint")}.`;
}

function showSegments(s) {
  const list = s.segment_list;
  at("merging").textContent = (s.merging ? "Segments are being merged. " : "No merge is under way. ") +
    (list.length ? "" : "There is no segment yet: a full buffer of inserted documents becomes one.");
  const most = Math.max(...list.map((g) => g.documents), 1);
  const rows = list.map((g, i) => element("tr", {}, element("td", {}, String(i + 1)), element("td", {}, integer(g.documents)), element("td", {}, integer(g.fingerprints)),
    element("td", {}, bytes(g.table_bytes)), element("td", {}, g.file_bytes ? bytes(g.file_bytes) : "in memory"),
    element("td", { class: "share" }, meter(`${Math.round((100 * g.documents) / most)} % of the largest`, g.documents / most))));
  at("segments").replaceChildren(...(list.length ? [table(["Segment", "Documents", "Fingerprints", "Tables", "File", "Size"], rows)] : []));
}

function table(heads, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col", class: h === "Size" ? "share" : "" }, h)))), element("tbody", {}, ...rows));
}

function state(text, kind) {
  at("state").textContent = text;
  at("state").className = "state " + kind;
}

async function refresh() {
  try {
    const s = await ask("/v1/stats");
    state("Ready", "ready");
    setK(s.k);
    showTiles(s);
    showSegments(s);
  } catch (error) {
    state(error.status === 503 ? error.message : error.status ? `Error ${error.status}` : "No connection", error.status === 503 && error.message.startsWith("loading") ? "" : "bad");
  }
}

async function keepFresh() {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((resolve) => setTimeout(resolve, statsEvery));
  }
}

setup();
setK(3);
document.addEventListener("visibilitychange", () => document.hidden || refresh());
keepFresh();
