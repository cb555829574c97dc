// The request, in the address after `#`, where no server sees it.

/** The fields of the address; a name may come several times. */
export function read() {
  return new URLSearchParams(location.hash.slice(1));
}

let waiting = 0;

/** Puts fields into the address: of what is typed after a moment, as one entry; of a button at once, as its own. */
export function write(fields, isStep) {
  clearTimeout(waiting);
  const hash = `#${fields}`;
  if (isStep) {
    if (hash !== location.hash) history.pushState(null, "", hash);
  } else {
    waiting = setTimeout(() => history.replaceState(null, "", hash), 150);
  }
}

/** Calls when the address is changed by somebody else: a link, or the way back. */
export function onChange(listener) {
  addEventListener("popstate", () => {
    clearTimeout(waiting);
    listener();
  });
}

/** A name and what it stands for, as one field. */
export function pair(name, value) {
  return `${name}:${value}`;
}

/** The name and the value of a field. */
export function split(text) {
  const at = text.indexOf(":");
  return at < 0 ? ["", text] : [text.slice(0, at), text.slice(at + 1)];
}

/** The fields of a form of Explore: from a state that a button offers, with the operands' names. */
export function fieldsOf(state, names) {
  const fields = new URLSearchParams();
  fields.set(state.shapes ? "rule" : "reduce", state.rule);
  const shapes = state.shapes ?? [state.shape];
  shapes.forEach((shape, index) => fields.append("o", pair(names[index] ?? "", shape)));
  for (const [name, value] of Object.entries(state)) {
    if (["rule", "shape", "shapes"].includes(name) || value === undefined || value === null) continue;
    fields.set(name, typeof value === "boolean" ? Number(value) : value);
  }
  return fields;
}
