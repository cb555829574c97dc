// Answers drawn: tables of axes, elements, reports of mistakes, and what can be chosen instead.

import { element, root, withCode } from "./page.js";

const LEGEND = {
  kept: "kept",
  expanded: "expanded from 1",
  repeated: "repeated",
  result: "result",
  reduced: "reduced",
  guilty: "does not fit",
  clashing: "clashes with it",
};

/** A table with a column for each axis and a row for each operand. */
export function picture(drawn, caption) {
  if (drawn.columns === 0) {
    return element("p", { className: "scalars" }, "Every operand and the result are scalars: there is no axis.");
  }
  // If the rule aligns nothing, a column is not an axis of the result.
  const axes = Array.from({ length: drawn.columns }, (_, axis) =>
    (drawn.is_aligned ? element("th", { scope: "col" }, `axis ${axis}`) : element("td")));
  const head = element("thead", {}, element("tr", {}, element("td"), ...axes));
  const body = element("tbody", {}, ...drawn.rows.map(row));
  const table = element("table", { className: "picture" }, element("caption", { className: "unseen" }, caption), head, body);
  const scroller = element("div", { className: "scroller", tabIndex: 0, role: "region", "aria-label": caption }, table);
  return element("figure", {}, scroller, legend(drawn));
}

function row({ name, shape, cells, is_result }) {
  const label = element("th", { scope: "row" }, element("span", { className: "name" }, name), " ",
    element("span", { className: "shape" }, shape));
  return element("tr", { className: is_result ? "result-row" : "" }, label, ...cells.map(cell));
}

function cell({ role, text, says }) {
  const shown = element("span", { className: `cell ${role}`, "aria-hidden": "true" }, text || "\u00a0");
  return element("td", {}, shown, element("span", { className: "unseen" }, says));
}

function legend(drawn) {
  const roles = new Set(drawn.rows.flatMap(({ cells }) => cells.map(({ role }) => role)));
  const entries = Object.entries(LEGEND).filter(([role]) => roles.has(role));
  const entry = ([role, text]) => element("li", {}, element("span", { className: `cell ${role}` }), text);
  return element("ul", { className: "legend", "aria-hidden": "true" }, ...entries.map(entry));
}

const MAX_ELEMENTS = 96;

/** Which element of each operand stands where in the result, if that is small enough to be seen. */
export function elements(answer) {
  const { shape, maps, picture: { rows } } = answer;
  const count = shape.reduce((product, size) => product * size, 1);
  if (!maps || shape.length < 1 || shape.length > 3 || count < 1 || count > MAX_ELEMENTS) return null;
  const operand = (map, index) => {
    const own = sizesOf(rows[index].shape);
    return element("figure", { className: "grid" }, grid(shape, elementAt(own, map, shape)),
      element("figcaption", {}, rows[index].name));
  };
  return element("div", { className: "elements-drawn", "aria-hidden": "true" },
    element("h3", {}, "Elements"), element("div", { className: "grids" }, ...maps.map(operand)),
    element("p", { className: "hint" }, "Which element of each operand meets at each place of the result; copies are pale."));
}

/** The sizes of `f32[2, 3]`. */
function sizesOf(text) {
  const inside = text.slice(text.indexOf("[") + 1, -1);
  return inside === "" ? [] : inside.split(",").map(Number);
}

/** For a place in the result: the position of the operand's element there, and whether it is a copy. */
function elementAt(own, map, result) {
  return (place) => {
    let position = 0;
    let isCopy = result.some((size, axis) => place[axis] > 0 && !map.includes(axis));
    own.forEach((size, axis) => {
      const at = place[map[axis]];
      isCopy ||= size === 1 && at > 0;
      position = position * size + (size === 1 ? 0 : at);
    });
    return { position, isCopy };
  };
}

function grid(shape, at) {
  const [planes, rows, columns] = [1, 1, 1, ...shape].slice(-3);
  const place = (...full) => full.slice(3 - shape.length);
  const range = (length) => Array.from({ length }, (_, index) => index);
  const square = (plane, line, column) => {
    const { position, isCopy } = at(place(plane, line, column));
    return element("span", { className: isCopy ? "copy" : "own" }, String(position));
  };
  return element("div", { className: "planes" }, ...range(planes).map((plane) =>
    element("div", { className: "plane" }, ...range(rows).map((line) =>
      element("div", { className: "line" }, ...range(columns).map((column) => square(plane, line, column)))))));
}

/** A mistake: what is wrong, where in a text, the shapes as the rule aligns them, the rule, repairs as buttons. */
export function report(answer, press, excerpt = null) {
  const page = (label) => new URL(`docs/rules.html#label-${label.toLowerCase()}`, root).href;
  const titled = (title) => (answer.label && title === `rule ${answer.label}` ? element("a", { href: page(answer.label) }, title) : title);
  const head = element("h2", { className: "mistake" }, ...withCode(answer.headline));
  const code = element("p", { className: "code" }, element("code", {}, answer.code));
  const drawn = answer.picture
    ? [picture(answer.picture, "The shapes that do not fit"), ...marks(answer.lines).map((text) => element("p", { className: "why" }, ...withCode(text)))]
    : [lines(answer.lines)];
  const remarks = answer.remarks.filter(({ title }) => !(title === "help" && answer.repairs.length));
  const remark = ({ title, text }) => element("p", { className: "remark" }, element("span", { className: "title" }, titled(title)), " ", ...withCode(text));
  const repairs = answer.repairs.length
    ? element("section", { className: "offers" }, element("h3", {}, "What would work"), offers(answer.repairs, press))
    : null;
  return [head, code, excerpt, ...drawn, ...remarks.map(remark), repairs].filter(Boolean);
}

/** The remarks next to the marks. */
function marks(lines) {
  return lines.map(({ mark }) => mark?.message).filter(Boolean);
}

/** The lines of a text with what is marked in them. */
export function lines(given) {
  if (given.length === 0) return null;
  const line = ({ text, mark }) => {
    if (!mark) return `${text}\n`;
    const marked = `${" ".repeat(mark.indent)}${"^".repeat(mark.width)} ${mark.message}`.trimEnd();
    return [`${text}\n`, element("span", { className: "caret" }, marked), "\n"];
  };
  return element("pre", { className: "lines", tabIndex: 0 }, ...given.flatMap(line));
}

/** A list of buttons; each puts a state into the form. */
export function offers(list, press) {
  const item = (offer) => {
    const button = element("button", { type: "button", className: "offer" }, offer.text);
    button.addEventListener("click", () => press(offer.state));
    return element("li", {}, button, offer.reason ? element("span", { className: "reason" }, offer.reason) : null);
  };
  return element("ul", { className: "offer-list" }, ...list.map(item));
}

/** How the other rules say the same, and why some cannot. */
export function others(answer, press) {
  const same = answer.same.filter(({ state }) => state.rule !== answer.rule);
  const reasons = answer.not.map(({ rules, reason }) =>
    element("li", {}, element("span", { className: "rules" }, rules.join(", ")), " ", reason));
  return [
    element("section", { className: "offers" }, element("h3", {}, "The same under"),
      same.length ? offers(same, press) : element("p", { className: "hint" }, "no other rule")),
    reasons.length ? element("section", { className: "not" }, element("h3", {}, "Not under"), element("ul", {}, ...reasons)) : null,
  ].filter(Boolean);
}

/** The explicit form, a line for each operand. */
export function explicit(answer) {
  return element("section", {}, element("h3", {}, "Explicit form"),
    element("pre", { tabIndex: 0 }, answer.explicit.join("\n")));
}

/** Where the module itself failed. */
export function failure() {
  return element("p", { className: "notice" }, "The program behind this page failed on that, which is a mistake of ours. It was started anew; please tell us what you typed.");
}
