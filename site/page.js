// Elements of pages, made without markup in texts.

/** An element with properties and children; `class` and `aria-` names are attributes. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.includes("-")) made[name] = value;
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Text in which pieces between backticks are code. */
export function withCode(text) {
  const pieces = text.split("`");
  return pieces.map((piece, index) => (index % 2 ? element("code", {}, piece) : piece));
}

/** A button that copies a text, and says so. */
export function copyButton(label, text) {
  const button = element("button", { type: "button", className: "quiet" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not let pages copy here";
    }
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** A button that saves a text, which may be awaited, as a file. */
export function saveButton(label, name, type, text) {
  const button = element("button", { type: "button", className: "quiet" }, label);
  button.addEventListener("click", async () => {
    const address = URL.createObjectURL(new Blob([await text()], { type }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return button;
}

/** Fills a selection with rules, in groups: pairs of a title and names. */
export function fillRules(select, groups) {
  const option = (name) => element("option", { value: name }, name);
  const group = ([label, names]) => element("optgroup", { label }, ...names.map(option));
  select.replaceChildren(...groups.filter(([, names]) => names.length).map(group));
}

let speaking = 0;

/** Says a sentence to who does not see the drawing, once the typing pauses. */
export function say(sentence) {
  clearTimeout(speaking);
  speaking = setTimeout(() => (document.getElementById("spoken").textContent = sentence), 400);
}

/** Marks the one input of a form that is to blame, or none. */
export function markInput(form, input) {
  for (const marked of form.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
  input?.setAttribute("aria-invalid", "true");
}

/** Notes that a page is ready, and after how many milliseconds. */
export function ready() {
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** The folder of the site, from any of its pages. */
export const root = new URL(".", import.meta.url);
