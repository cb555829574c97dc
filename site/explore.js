// Explore: a rule, operands, attributes; the drawing while they are typed.

import { Module } from "./module.js";
import { copyButton, element, fillRules, markInput, ready, saveButton, say, withCode } from "./page.js";
import { elements, explicit, failure, others, picture, report } from "./drawing.js";
import { fieldsOf, onChange, pair, read, split, write } from "./state.js";

const FIRST = "rule=numpy&o=x:2,1,4&o=v:3,1";
const NAMES = ["x", "v", "w", "y", "z"];

/** The attributes of rules: how a form shows them. */
const ATTRIBUTES = {
  dims: { label: "dims", hint: "For each axis of the operand, the axis on which it lands: 0, 2" },
  axis: { label: "axis", hint: "The first axis on which the operand lands; empty for the last ones" },
  broadcast: { label: "broadcast", isFlag: true, initial: true, hint: "Whether shapes may differ" },
  target: { label: "target", hint: "The shape to broadcast to", initial: "2, 3" },
  axes: { label: "axes", hint: "The axes that go: 0, -1; empty where the rule takes all without them" },
  axes_input: { label: "axes as an input", hint: "Where ONNX has them since opset 18, of ReduceSum since 13" },
  keepdims: { label: "keepdims", isFlag: true, hint: "The axes stay, with size 1" },
  noop_with_empty_axes: { label: "noop_with_empty_axes", isFlag: true, hint: "Without axes none goes" },
  opset: { label: "opset", hint: "The version of the operators", initial: "18" },
  sum: { label: "ReduceSum", isFlag: true, hint: "Whose axes became an input earlier" },
};

const form = document.getElementById("form");
const select = document.getElementById("rule");
const list = document.getElementById("operands");
const attributes = document.getElementById("attributes");
const answer = document.getElementById("answer");

const rules = await Module.load("rules.wasm");
const catalogue = rules.call("catalogue");

/** What the form says. An attribute that is not given is not there. */
let state = {};

function isReduction() {
  return state.kind === "reduction";
}

function ruleRow() {
  const rows = isReduction() ? catalogue.reductions : catalogue.rules;
  return rows.find(({ name }) => name === state.rule) ?? rows[0];
}

function fromAddress() {
  let fields = read();
  if (!fields.has("rule") && !fields.has("reduce")) fields = new URLSearchParams(FIRST);
  const kind = fields.has("reduce") ? "reduction" : "broadcast";
  const given = {};
  for (const name of Object.keys(ATTRIBUTES)) {
    if (fields.has(name)) given[name] = ATTRIBUTES[name].isFlag ? fields.get(name) === "1" : fields.get(name);
  }
  const operands = fields.getAll("o").map(split).map(([name, shape]) => ({ name, shape }));
  state = { kind, rule: fields.get(kind === "reduction" ? "reduce" : "rule"), operands, given };
}

function addressFields() {
  const fields = new URLSearchParams();
  fields.set(isReduction() ? "reduce" : "rule", state.rule);
  for (const { name, shape } of state.operands) fields.append("o", pair(name, shape));
  for (const [name, value] of Object.entries(state.given)) {
    fields.set(name, typeof value === "boolean" ? Number(value) : value);
  }
  return fields;
}

/** Builds the form anew for the state; what has the focus keeps it if it is still there. */
function showForm() {
  const focused = document.activeElement?.id;
  form.elements.kind.value = state.kind;
  document.querySelector("h1").textContent = isReduction() ? "What does this reduce?" : "What does this broadcast?";
  const of = (isTarget) => catalogue.rules.filter((rule) => rule.is_target_rule === isTarget).map(({ name }) => name);
  fillRules(select, isReduction()
    ? [["Reductions", catalogue.reductions.map(({ name }) => name)]]
    : [["Operations on several operands", of(false)], ["One operand onto a target shape", of(true)]]);
  // The answer to an unknown rule lists the known ones.
  if (![...select.options].some(({ value }) => value === state.rule)) {
    select.append(element("option", { value: state.rule }, state.rule));
  }
  select.value = state.rule;
  document.getElementById("rule-summary").replaceChildren(...withCode(ruleRow().summary));
  const isOne = isReduction() || ruleRow().is_target_rule;
  document.getElementById("operands-title").textContent = isOne ? "Operand" : "Operands";
  list.replaceChildren(...state.operands.map(operandItem));
  document.getElementById("add").hidden = isOne;
  const shown = new Set([...ruleRow().attributes, ...Object.keys(state.given)]);
  attributes.replaceChildren(...[...shown].map(attributeField));
  document.getElementById(focused)?.focus();
}

function operandItem(operand, index) {
  const field = (id, label, key, properties) => {
    const input = element("input", { id: `${id}-${index}`, type: "text", value: operand[key], spellcheck: false,
      autocapitalize: "off", "aria-label": label, ...properties });
    input.addEventListener("input", () => {
      operand[key] = input.value;
      typed();
    });
    return input;
  };
  const remove = element("button", { type: "button", className: "remove", "aria-label": `Remove operand ${operand.name || index}` }, "×");
  remove.hidden = state.operands.length === 1;
  remove.addEventListener("click", () => {
    state.operands.splice(index, 1);
    step();
    document.getElementById(`shape-${Math.max(0, index - 1)}`)?.focus();
  });
  return element("li", {},
    field("name", `Name of operand ${index}`, "name", { className: "name-field", maxLength: 64, placeholder: "name" }),
    field("shape", `Shape of operand ${index}`, "shape", { className: "shape-field", inputMode: "text", placeholder: "[]", "aria-describedby": "shape-hint" }),
    remove);
}

function attributeField(name) {
  const { label, hint, isFlag } = ATTRIBUTES[name];
  const input = element("input", { id: `attribute-${name}`, type: isFlag ? "checkbox" : "text", spellcheck: false, "aria-describedby": `hint-${name}` });
  if (isFlag) input.checked = state.given[name] ?? defaultOf(name);
  else input.value = state.given[name] ?? "";
  input.addEventListener("input", () => {
    if (isFlag) state.given[name] = input.checked;
    else if (input.value.trim() === "" && name !== "target") delete state.given[name];
    else state.given[name] = input.value;
    typed();
  });
  const text = element("label", { htmlFor: input.id }, label);
  const parts = isFlag ? [element("span", { className: "flag" }, input, text)] : [text, input];
  return element("div", { className: "field" }, ...parts, element("p", { className: "hint", id: `hint-${name}` }, hint));
}

function defaultOf(name) {
  return name === "keepdims" ? Boolean(ruleRow().keeps_axes) : ATTRIBUTES[name].initial ?? false;
}

/** After a choice of another rule: attributes that it does not take are left out, a target is needed. */
function fit() {
  const taken = ruleRow().attributes;
  state.given = Object.fromEntries(Object.entries(state.given).filter(([name]) => taken.includes(name)));
  if (taken.includes("target")) state.given.target ??= state.lastTarget ?? ATTRIBUTES.target.initial;
  // The fields of some rules come back with these.
  if (isReduction() || ruleRow().is_target_rule) state.others = [...state.operands.splice(1), ...(state.others ?? [])];
  else if (state.operands.length === 1 && state.others) state.operands.push(...state.others.splice(0));
}

function request() {
  const given = { rule: state.rule, ...state.given };
  return isReduction() ? { ...given, operand: state.operands[0] } : { ...given, operands: state.operands };
}

function typed() {
  write(addressFields(), false);
  showAnswer();
}

function step() {
  write(addressFields(), true);
  showForm();
  showAnswer();
}

/** Puts what a button offers into the form. */
function press(offered) {
  const names = state.operands.map(({ name }) => name);
  const shape = state.operands[0]?.shape;
  const fields = fieldsOf(offered.shapes ? offered : { shape, ...offered }, names);
  write(fields, true);
  show();
  document.getElementById("answer").querySelector("h2")?.focus();
}

function showAnswer() {
  const found = rules.call(isReduction() ? "reduction" : "broadcast", request());
  if (!found) {
    answer.replaceChildren(failure());
    return;
  }
  markField(found);
  answer.dataset.answer = JSON.stringify({ ok: found.ok, code: found.code, label: found.label, shape: found.shape, maps: found.maps, axes: found.axes });
  // Half a shape is not a mistake yet: the last drawing stays, pale, until the shape is complete.
  const isUnread = !found.ok && found.code.startsWith("bad-") && Boolean(answer.firstChild);
  answer.classList.toggle("stale", isUnread);
  if (isUnread) {
    say(found.headline.replaceAll("`", ""));
    return;
  }
  if (!found.ok) {
    answer.replaceChildren(element("div", { className: "card error" }, ...report(found, press)));
    focusable();
    say(`Not legal: ${found.headline.replaceAll("`", "")}. ${found.repairs.length || "No"} repairs.`);
    return;
  }
  const result = `[${found.shape.join(", ")}]`;
  const head = element("h2", {}, "The result is ", element("code", {}, result));
  const card = element("div", { className: "card" }, head, element("p", { className: "code" }, found.title),
    picture(found.picture, found.title),
    found.warning ? element("p", { className: "notice" }, ...withCode(found.warning)) : null,
    elements(found), actions());
  answer.replaceChildren(card, element("div", { className: "columns" },
    element("div", {}, explicit(found), ...others(found, press))));
  focusable();
  say(`Legal: the result is ${result}.`);
}

/** After a button the headline has the focus, so that the answer is read. */
function focusable() {
  answer.querySelector("h2")?.setAttribute("tabindex", "-1");
}

function actions() {
  const link = copyButton("Copy the link", () => `${location.href.split("#")[0]}#${addressFields()}`);
  if (isReduction()) return element("p", { className: "actions" }, link);
  const svg = () => rules.call("broadcast", { ...request(), svg: true }).svg;
  return element("p", { className: "actions" }, link, saveButton("Save as SVG", "broadcast.svg", "image/svg+xml", svg));
}

/** Marks the field that is to blame, and says below it what is wrong. */
function markField({ field, headline }) {
  const operand = /^operands\.(\d+)$/.exec(field);
  const id = operand ? `shape-${operand[1]}` : field === "rule" ? "rule" : `attribute-${field}`;
  const input = field ? document.getElementById(id) : null;
  markInput(form, input);
  form.querySelector(".wrong")?.remove();
  input?.closest("li, .field").append(element("p", { className: "wrong" }, ...withCode(headline)));
}

function show() {
  fromAddress();
  showForm();
  showAnswer();
}

select.addEventListener("change", () => {
  state.lastTarget = state.given.target ?? state.lastTarget;
  state.rule = select.value;
  fit();
  step();
});
for (const radio of form.elements.kind) {
  radio.addEventListener("change", () => {
    state.kind = radio.value;
    state.rule = "numpy";
    fit();
    step();
  });
}
document.getElementById("add").addEventListener("click", () => {
  const name = NAMES.find((name) => !state.operands.some((operand) => operand.name === name)) ?? "";
  state.operands.push({ name, shape: "[]" });
  step();
  document.getElementById(`shape-${state.operands.length - 1}`).focus();
});
form.addEventListener("submit", (event) => event.preventDefault());
onChange(show);
show();
ready();
