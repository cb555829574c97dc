// Expressions: a text, a type or elements for each of its names; what it means, does and gives.

import { Module } from "./module.js";
import { copyButton, element, fillRules, markInput, ready, saveButton, say, withCode } from "./page.js";
import { explicit, failure, lines, others, picture, report } from "./drawing.js";
import { fieldsOf, onChange, pair, read, split, write } from "./state.js";

const FIRST = [
  ["e", "m = mean(x, axis=0)\nadd(x - m, w, dims=[0])"],
  ["i", "x:f32([[1, 2, 3], [4, 5, 7]])"],
  ["i", "w:f32([10, 20])"],
];

/** What a name stands for that nobody has said anything of. */
const UNKNOWN = "f32[2, 3]";

const form = document.getElementById("form");
const text = document.getElementById("text");
const select = document.getElementById("rule");
const list = document.getElementById("inputs");
const answer = document.getElementById("answer");

answer.replaceChildren(element("p", { className: "hint" }, "Loading the compiler …"));
const compiler = await Module.load("expressions.wasm");
const catalogue = compiler.call("catalogue");

/** The names in the order in which they come in the text, and what they stand for. */
let inputs = [];
/** Also of names that have left the text, and may come back. */
const values = new Map();

function fromAddress() {
  let fields = read();
  if (!fields.has("e")) fields = new URLSearchParams(FIRST);
  text.value = fields.get("e");
  text.rows = Math.min(8, Math.max(3, text.value.split("\n").length + 1));
  select.value = fields.get("rule") ?? "as-written";
  inputs = fields.getAll("i").map(split).map(([name, value]) => ({ name, value }));
  inputs.forEach(({ name, value }) => values.set(name, value));
}

function addressFields() {
  const fields = new URLSearchParams();
  fields.set("e", text.value);
  if (select.value !== "as-written") fields.set("rule", select.value);
  for (const { name, value } of inputs) fields.append("i", pair(name, value));
  return fields;
}

function request() {
  return { text: text.value, rule: select.value, inputs };
}

/** The answer, with exactly the inputs that the text names. */
function asked() {
  let found = compiler.call("expression", request());
  const names = found?.names;
  if (names && (names.length !== inputs.length || names.some((name, index) => inputs[index].name !== name))) {
    inputs = names.map((name) => ({ name, value: values.get(name) ?? UNKNOWN }));
    showInputs();
    found = compiler.call("expression", request());
  }
  return found;
}

function showInputs() {
  list.replaceChildren(...inputs.map((given, index) => {
    const input = element("input", { id: `input-${index}`, type: "text", value: given.value, spellcheck: false,
      autocapitalize: "off", "aria-label": `Type or elements of ${given.name}`, "aria-describedby": "value-hint" });
    input.addEventListener("input", () => {
      given.value = input.value;
      values.set(given.name, input.value);
      typed();
    });
    return element("li", {}, element("output", { htmlFor: input.id }, given.name), input);
  }));
}

function typed() {
  showAnswer();
  write(addressFields(), false);
}

function explore(names) {
  return (state) => (location.href = `index.html#${fieldsOf(state, names)}`);
}

function showAnswer() {
  document.getElementById("rule-summary").replaceChildren(
    ...withCode(catalogue.rules.find(({ name }) => name === select.value)?.summary ?? ""));
  const found = asked();
  if (!found) {
    answer.replaceChildren(failure());
    return;
  }
  markField(found.field);
  answer.dataset.answer = JSON.stringify({ ok: found.ok, code: found.code, outputs: found.outputs });
  if (!found.ok) {
    const names = found.picture?.rows.map(({ name }) => name) ?? [];
    // The text itself comes before the shapes, which are drawn as a table.
    const excerpt = found.picture ? lines(found.lines.slice(0, 1)) : null;
    answer.replaceChildren(element("div", { className: "card error" }, ...report(found, explore(names), excerpt)));
    say(`Not computed: ${found.headline.replaceAll("`", "")}.`);
    return;
  }
  answer.replaceChildren(results(found), ...found.broadcasts.map(broadcastCard), ...found.reductions.map(reductionCard), loops(found));
  say(`Computed: ${found.outputs.map((output) => output.type).join(" and ")}.`);
}

function results(found) {
  const several = found.outputs.length > 1;
  const one = (output) => element("div", { className: "output" },
    element("p", { className: "code" }, several ? `${output.name} : ${output.type}` : output.type),
    output.elements === undefined ? null : element("pre", { className: "elements", tabIndex: 0 }, output.elements));
  const svg = () => compiler.call("expression", request()).svg;
  return element("div", { className: "card" }, element("h2", {}, several ? "Results" : "Result"),
    ...found.outputs.map(one),
    found.note ? element("p", { className: "hint" }, found.note) : null,
    element("p", { className: "actions" },
      copyButton("Copy the link", () => `${location.href.split("#")[0]}#${addressFields()}`),
      saveButton("Save the drawing as SVG", "expression.svg", "image/svg+xml", svg)));
}

function broadcastCard(found) {
  const link = found.state ? element("a", { href: `index.html#${fieldsOf(found.state, found.names)}` }, "Explore it") : null;
  return element("div", { className: "card" }, element("h2", {}, element("code", {}, found.title)),
    element("p", { className: "code" }, "broadcast", link ? " · " : null, link), picture(found.picture, found.title),
    found.warning ? element("p", { className: "notice" }, ...withCode(found.warning)) : null, more(found));
}

function reductionCard(found) {
  return element("div", { className: "card" }, element("h2", {}, element("code", {}, found.title)),
    element("p", { className: "code" }, "reduction"), picture(found.picture, found.title), more(found));
}

function more(found) {
  const names = found.names ?? [found.picture.rows[0].name];
  const shape = found.picture.rows[0].shape;
  const press = (state) => explore(names)(state.shapes ? state : { shape, ...state });
  return element("details", {}, element("summary", {}, "Explicit form, and the same under other rules"),
    element("div", { className: "details" }, explicit(found), ...others(found, press)));
}

function loops(found) {
  return element("div", { className: "card" }, element("h2", {}, "What runs"),
    element("h3", {}, "Loop nests"), element("pre", { className: "loops", tabIndex: 0 }, found.loops.trimEnd()),
    element("h3", {}, "Bytes"), element("pre", { className: "costs", tabIndex: 0 }, found.costs.trimEnd()),
    element("details", {}, element("summary", {}, "The graph"), element("pre", { tabIndex: 0 }, found.graph.trimEnd())));
}

function markField(field) {
  markInput(form, field ? document.getElementById(field.replace(/^inputs\./, "input-")) : null);
}

function show() {
  fromAddress();
  showInputs();
  showAnswer();
}

fillRules(select, [["Rules", catalogue.rules.filter((rule) => !rule.is_target_rule).map(({ name }) => name)]]);
text.addEventListener("input", typed);
select.addEventListener("change", () => {
  showAnswer();
  write(addressFields(), true);
});
form.addEventListener("submit", (event) => event.preventDefault());
onChange(show);
show();
ready();
