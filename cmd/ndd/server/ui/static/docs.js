// The reference of the interface, from /openapi.json.

import { element } from "/ui/words.js";

const spec = await (await fetch("/openapi.json", { cache: "no-store" })).json();

const resolve = (part) => (part && part.$ref ? part.$ref.split("/").slice(1).reduce((at, step) => at[step], spec) : part) || {};
const name = (schema) => (schema && schema.$ref ? schema.$ref.split("/").pop() : "");

// typeOf says in words what a value is.
function typeOf(schema) {
  const s = resolve(schema);
  if (s.oneOf) return s.oneOf.map((o) => name(o) || "object").join(" or ");
  if (s.type === "array") return `list of ${name(s.items) || typeOf(s.items)}`;
  const limits = [];
  if (s.enum) return s.enum.join(", ");
  if (s.minimum !== undefined || s.maximum !== undefined) limits.push(s.maximum === undefined ? `from ${s.minimum}` : `${s.minimum ?? 0} to ${s.maximum}`);
  if (s.maxLength && s.maxLength !== s.minLength) limits.push(`at most ${s.maxLength} characters`);
  if (s.minItems || s.maxItems) limits.push(`${s.minItems ?? 0} to ${s.maxItems}`);
  return [s.type === "object" && name(schema) ? name(schema) : s.type || "any", ...limits].join(", ");
}

function table(heads, rows) {
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col" }, h)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell)))))));
}

const code = (text) => element("code", {}, text);

function fields(schema) {
  const rows = [];
  for (const [field, s] of Object.entries(schema.properties || {})) {
    rows.push([code(field), typeOf(s), (s.description || resolve(s).description || "") + ((schema.required || []).includes(field) ? "" : schema.optional ? "" : " (optional)")]);
  }
  return rows.length ? table(["Field", "Type", "What it is"], rows) : element("p", { class: "quiet" }, "No fields.");
}

// variants merges a choice of objects into one table, and says which go together.
function body(schema) {
  const s = resolve(schema), parts = [];
  if (!s.oneOf) return [fields(s)];
  const options = s.oneOf.map(resolve);
  const merged = { properties: Object.assign({}, ...options.map((o) => o.properties)), optional: true };
  const line = element("p", {}, "Exactly one of: ");
  options.forEach((o, i) => line.append(i ? "; " : "", ...(o.required || []).flatMap((r, j) => [j ? " and " : "", code(r)])));
  parts.push(line, fields(merged));
  return parts;
}

function answer(schema) {
  const s = resolve(schema);
  if (!s.oneOf) return s.properties ? [fields({ ...s, optional: true })] : [];
  return s.oneOf.flatMap((o) => [element("p", { class: "quiet" }, o === s.oneOf[0] ? "For one document:" : "For several:"), fields({ ...resolve(o), optional: true })]);
}

function quoted(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

// commands are the curl lines of an operation, one for each media type of its body.
function commands(path, method, o) {
  const secret = o.security ? ` \\\n  -H "Authorization: Bearer $TOKEN"` : "";
  const content = Object.entries((o.requestBody || {}).content || {});
  if (!content.length) return [`curl -s ${method === "get" ? "" : "-X " + method.toUpperCase() + " "}${location.origin}${path}${secret}`];
  return content.map(([media, c]) => {
    const query = c["x-query"] || "";
    const data = c.example === undefined ? "--data-binary @FILE" : `--data-binary ${quoted(typeof c.example === "string" ? c.example : JSON.stringify(c.example))}`;
    const pipe = c["x-bytes"] ? `printf ${quoted(c["x-bytes"])} | ` : "";
    return `${pipe}curl -s ${quoted(location.origin + path + query)}${secret} \\\n  -H ${quoted("Content-Type: " + media)} \\\n  ${pipe ? "--data-binary @-" : data}`;
  });
}

function attempt(text) {
  const button = element("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousSibling);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return element("div", { class: "try" }, element("pre", {}, text), button);
}

function operation(path, method, o) {
  const node = element("section", { class: "card", id: o.operationId, "aria-labelledby": o.operationId + "-title" },
    element("h2", { id: o.operationId + "-title" }, element("span", { class: "method" }, method.toUpperCase()), path),
    element("p", {}, element("strong", {}, (o.summary || "") + ". "), o.description || ""));
  if (o["x-role"]) node.append(element("p", { class: "quiet" }, `Needs a token of the role ${o["x-role"]}${o["x-role"] === "admin" ? "" : ", or of one that may do more"}.`));
  if (o.parameters) {
    node.append(element("h3", {}, "Parameters"), table(["Name", "Type", "What it is"], o.parameters.map((p) => [code(p.in === "query" ? "?" + p.name + "=" : `${p.name} (${p.in})`), typeOf(p.schema), p.description || ""])));
  }
  const content = (o.requestBody || {}).content || {};
  if (Object.keys(content).length) {
    node.append(element("h3", {}, "Body: " + Object.keys(content).join(", ")));
    if (content["application/json"]) node.append(...body(content["application/json"].schema));
  }
  node.append(element("h3", {}, "Try it"), ...commands(path, method, o).map(attempt));
  const ok = o.responses["200"];
  node.append(element("h3", {}, "Answer: " + Object.keys(ok.content || {}).join(", ")), ...answer((Object.values(ok.content || {})[0] || {}).schema));
  const rest = Object.entries(o.responses).map(([status, answer]) => [status, resolve(answer)]).filter(([status]) => status !== "200");
  node.append(element("details", {}, element("summary", {}, "Other statuses: " + rest.map(([s]) => s).join(", ")), table(["Status", "Why"], rest.map(([s, r]) => [code(s), r.description]))));
  return node;
}

const toc = document.getElementById("toc"), list = document.getElementById("operations");
document.getElementById("about").textContent = spec.info.description;
const rank = (path) => { const i = ["/v1/check-and-insert", "/v1/query", "/v1/insert", "/v1/delete", "/v1/documents", "/v1/documents/{id}", "/v1/batch", "/v1/stats", "/v1/backup"].indexOf(path); return i < 0 ? 99 : i; };
const paths = Object.entries(spec.paths).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
toc.append(element("strong", {}, "Endpoints"));
for (const [path, methods] of paths) {
  for (const [method, o] of Object.entries(methods)) {
    toc.append(element("a", { href: "#" + o.operationId }, method.toUpperCase() + " " + path));
    list.append(operation(path, method, o));
  }
}
const shared = Object.entries(spec.components.schemas).filter(([n]) => ["Hit", "Document", "SegmentSizes", "NodeSizes", "Limits", "ErrorModel", "ErrorDetail"].includes(n));
toc.append(element("strong", {}, "Objects"));
for (const [n, schema] of shared) {
  toc.append(element("a", { href: "#" + n }, n));
  list.append(element("section", { class: "card", id: n }, element("h2", {}, n), element("p", {}, schema.description || ""), ...body(schema)));
}
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
