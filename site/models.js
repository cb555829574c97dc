// Models: a file that the reader opens; its nodes with types and broadcasts, its findings, a search.

import { element, ready, saveButton, say, withCode } from "./page.js";
import { picture } from "./drawing.js";
import { onChange, read, write } from "./state.js";

/** Small models of the site. */
const EXAMPLES = {
  "bias.onnx": "ONNX: a bias along the wrong axis",
  "attention.mlir": "StableHLO: a bias without its broadcast",
  "normalise.xml": "OpenVINO IR: statistics of channels",
  "opaque.hlo": "HLO: a call that indim does not compute",
};

/** Endings of models; other files that are opened with one are its external files. */
const ENDINGS = /\.(onnx|xml|mlir|stablehlo|hlo|txt|pb)$/i;

/** Nodes of one request. */
const NODES_AT_ONCE = 500;

/** Rows of one group. The browser skips the layout of groups outside the window. */
const ROWS_OF_GROUP = 50;

/** Nodes that the page lists: a browser takes seconds to lay out more. */
const MAX_NODES = 20_000;

/** Milliseconds without typing after which a search begins. */
const SEARCH_DELAY = 120;

const input = document.getElementById("file");
const drop = document.getElementById("drop");
const answer = document.getElementById("answer");

/** The worker of the open model. Each model has its own, so that its memory goes with it. */
class Reader {
  #worker = new Worker(new URL("models-worker.js", import.meta.url), { type: "module" });
  #number = 0;
  #waiting = new Map();

  constructor() {
    this.#worker.addEventListener("message", ({ data }) => {
      const { resolve, reject } = this.#waiting.get(data.number);
      this.#waiting.delete(data.number);
      if (data.problem) reject(new Error(data.problem));
      else resolve(data.answer);
    });
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#waiting.forEach(({ reject }) => reject(new Error("The worker of this page could not be started.")));
    });
  }

  /** The answer to a request; `null` where the module failed. */
  ask(name, request) {
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, name, request });
    });
  }

  close() {
    this.#worker.terminate();
  }
}

let reader = null;

/** Opens a model with the files next to it. */
async function open(files) {
  const model = files.find(({ name }) => ENDINGS.test(name)) ?? files[0];
  if (!model) return;
  reader?.close();
  const opened = new Reader();
  reader = opened;
  answer.dataset.answer = "";
  answer.replaceChildren(element("p", { className: "hint" }, `Reading ${model.name} …`));
  try {
    const found = await opened.ask("open", [model, ...files.filter((file) => file !== model)]);
    if (reader === opened) show(found, opened);
  } catch (error) {
    if (reader === opened) answer.replaceChildren(notice(error.message));
  }
}

function notice(text) {
  return element("p", { className: "notice" }, ...withCode(text));
}

function show(found, opened) {
  if (!found) {
    answer.dataset.answer = JSON.stringify({ ok: false, code: "failed" });
    answer.replaceChildren(notice("The program behind this page stopped at this file: it ran out of memory or stack, or it has a fault. `indim lint` has more of both."));
    return;
  }
  const { ok, code, nodes, counts, skipped } = found;
  answer.dataset.answer = JSON.stringify({ ok, code, nodes, counts, skipped });
  if (!ok) {
    const [, ...rest] = found.text.trimEnd().split("\n");
    answer.replaceChildren(element("div", { className: "card error" },
      element("h2", { className: "mistake" }, ...withCode(found.headline)),
      element("p", { className: "code" }, element("code", {}, code)), rest.length ? pre(rest.join("\n")) : null));
    say(`Not read: ${found.headline.replaceAll("`", "")}.`);
    return;
  }
  const list = new NodeList(found, opened);
  answer.replaceChildren(summary(found, opened), findings(found, list), list.card);
  list.fill();
  say(`${found.file}: ${found.summary}; ${count(found.findings.length, "finding")}.`);
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function summary(found, opened) {
  const { file, format, nodes, opaque, counts, skipped } = found;
  const number = (name, value, kind) => element("div", { className: value ? `count ${kind}` : "count" },
    element("dt", {}, name), element("dd", {}, String(value)));
  const megabytes = (skipped.bytes / 1e6).toFixed(1);
  const text = (form) => async () => (await opened.ask("model_text", { form })).text;
  return element("div", { className: "card" }, element("h2", {}, element("code", {}, file)),
    element("p", { className: "code" }, `${format} · ${count(nodes, "node")}, ${opaque} opaque`),
    element("dl", { className: "counts" }, number("legal", counts.legal, "good"), number("illegal", counts.illegal, "bad"),
      number("legal if", counts.legal_if, "maybe"), number("unknown", counts.unknown, "maybe")),
    element("p", { className: "hint" }, found.summary),
    skipped.count ? element("p", { className: "hint" }, ...withCode(`${count(skipped.count, "large constant")} of ${megabytes} MB were not read, so \`repeated-constant\` is not checked for them.`)) : null,
    values("Inputs", found.inputs), values("Outputs", found.outputs),
    element("p", { className: "actions" },
      saveButton("Save as HTML page", `${file}.html`, "text/html", text("html")),
      saveButton("Save the drawing as SVG", `${file}.svg`, "image/svg+xml", text("svg")),
      saveButton("Save the report as text", `${file}.txt`, "text/plain", text("text"))));
}

function values(title, list) {
  if (!list.length) return null;
  return element("details", {}, element("summary", {}, `${title} (${list.length})`), pre(list.join("\n")));
}

function pre(text) {
  return element("pre", { tabIndex: 0 }, text);
}

function findings(found, nodes) {
  const list = found.findings.map((finding) => element("li", { className: `finding ${finding.level}` },
    element("p", {}, label(finding, nodes), " ", element("code", {}, `${finding.level}[${finding.code}]`),
      ` ${finding.verdict}: `, ...withCode(finding.message)),
    element("p", { className: "hint" }, finding.place),
    finding.drawing ? pre(finding.drawing) : null,
    finding.repair ? element("p", { className: "remark" }, element("span", { className: "title" }, "help"), " ", ...withCode(finding.repair)) : null));
  return element("div", { className: "card" }, element("h2", {}, `Findings (${found.findings.length})`),
    list.length ? element("ol", { className: "findings" }, ...list) : element("p", { className: "hint" }, "None: every broadcast is legal."));
}

/** The node of a finding, as a button that goes there. */
function label({ label: text, node }, nodes) {
  if (node === undefined || node >= MAX_NODES) return element("b", {}, text);
  const button = element("button", { type: "button", className: "offer jump" }, text);
  button.addEventListener("click", () => nodes.jump(node));
  return button;
}

/** The nodes of a model. Their contents are fetched when they are opened. */
class NodeList {
  #opened;
  #total;
  #rows = [];
  #search = element("input", { id: "search", type: "search", spellcheck: false, autocapitalize: "off", "aria-describedby": "found" });
  #found = element("p", { id: "found", className: "hint" });
  #list = element("div", { className: "nodes" });
  #filling = Promise.resolve();
  #pause = 0;

  constructor(found, opened) {
    this.#opened = opened;
    this.#total = found.nodes;
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => this.#seek(), SEARCH_DELAY);
    });
    // The event does not bubble.
    this.#list.addEventListener("toggle", ({ target }) => target.open && this.#describe(target), true);
    const shown = Math.min(this.#total, MAX_NODES);
    this.#found.textContent = count(this.#total, "node");
    this.card = element("div", { className: "card" }, element("h2", {}, "Nodes"),
      element("div", { className: "field" }, element("label", { htmlFor: "search" }, "Search nodes and types"), this.#search, this.#found),
      this.#list,
      shown < this.#total ? notice(`The other ${this.#total - shown} nodes are not listed; \`indim explain FILE --html\` lists them.`) : null);
  }

  /** Lists the nodes, part by part, so that the page stays responsive. */
  fill() {
    this.#filling = this.#fill();
    this.#filling.catch((error) => this.card.append(notice(error.message)));
  }

  async #fill() {
    const total = Math.min(this.#total, MAX_NODES);
    while (this.#rows.length < total) {
      const request = { first: this.#rows.length, count: Math.min(NODES_AT_ONCE, total - this.#rows.length) };
      const { nodes } = await this.#opened.ask("model_nodes", request);
      const rows = nodes.map((node, index) => this.#row(node, request.first + index));
      this.#rows.push(...rows);
      for (let first = 0; first < rows.length; first += ROWS_OF_GROUP) {
        this.#list.append(element("div", { className: "group" }, ...rows.slice(first, first + ROWS_OF_GROUP)));
      }
    }
    this.#list.dataset.filled = String(total);
  }

  #row(node, index) {
    const mark = (isMarked, text) => (isMarked ? element("span", { className: `mark-of-node ${text}` }, text) : null);
    const kinds = ["node", node.is_opaque ? "opaque" : "", node.is_inner ? "inner" : ""];
    return element("details", { className: kinds.filter(Boolean).join(" "), id: `node-${index}` },
      element("summary", {}, element("b", {}, node.label), " ", element("span", { className: "operator" }, node.operator), " ",
        element("code", {}, node.result), mark(node.is_opaque, "opaque"), mark(node.is_illegal, "illegal")));
  }

  /** Fills an open node, once. */
  async #describe(row) {
    if (row.dataset.described) return;
    row.dataset.described = "yes";
    const found = await this.#opened.ask("model_node", { node: Number(row.id.slice("node-".length)) });
    const section = (title, lines) => (lines.length ? [element("h3", {}, title), pre(lines.join("\n"))] : []);
    row.append(element("div", { className: "node-body" },
      element("p", { className: "hint" }, [found.place, found.region ? `in ${found.region}` : ""].filter(Boolean).join(", ")),
      ...section("Operands", found.operands), ...section("Results", found.results), ...section("Attributes", found.attributes),
      ...found.broadcasts.flatMap((drawn) => [element("h3", {}, drawn.title), picture(drawn.picture, drawn.title)]),
      found.verdicts ? pre(found.verdicts.trimEnd()) : null));
  }

  /** Opens a node and goes there. */
  async jump(index) {
    await this.#filling;
    const row = this.#rows[index];
    if (row.hidden) {
      this.#search.value = "";
      await this.#seek();
    }
    row.open = true;
    await this.#describe(row);
    row.scrollIntoView({ block: "center" });
    row.querySelector("summary").focus({ preventScroll: true });
  }

  async #seek() {
    const text = this.#search.value.trim();
    await this.#filling;
    const { ok, found, headline } = text ? await this.#opened.ask("search_model", { text }) : { ok: true, found: null };
    const shown = found && new Set(found);
    this.#rows.forEach((row, index) => (row.hidden = Boolean(shown) && !shown.has(index)));
    for (const group of this.#list.children) group.hidden = [...group.children].every((row) => row.hidden);
    const number = shown ? `${shown.size} of ${count(this.#total, "node")}` : count(this.#total, "node");
    this.#found.textContent = ok ? number : headline;
    say(this.#found.textContent);
  }
}

/** Opens the example in the address, if there is one. */
async function openFromAddress() {
  const name = read().get("example");
  if (!Object.hasOwn(EXAMPLES, name)) {
    reader?.close();
    reader = null;
    answer.replaceChildren(element("p", { className: "hint" }, "No model is open."));
    return;
  }
  const response = await fetch(new URL(`models/${name}`, import.meta.url));
  await open([new File([await response.blob()], name)]);
}

function openGiven(files) {
  if (!files.length) return;
  write(new URLSearchParams(), true);
  open([...files]);
}

const example = ([name, text]) => {
  const button = element("button", { type: "button", className: "offer" }, text);
  button.addEventListener("click", () => {
    write(new URLSearchParams({ example: name }), true);
    openFromAddress();
  });
  return element("li", {}, button);
};
document.getElementById("examples").replaceChildren(...Object.entries(EXAMPLES).map(example));
document.getElementById("form").addEventListener("submit", (event) => event.preventDefault());
input.addEventListener("change", () => openGiven(input.files));
addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  drop.classList.add("dragging");
});
addEventListener("dragleave", ({ relatedTarget }) => relatedTarget ?? drop.classList.remove("dragging"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("dragging");
  openGiven(event.dataTransfer.files);
});
onChange(openFromAddress);
openFromAddress();
ready();
