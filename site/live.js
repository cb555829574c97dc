// Examples in documents: what a link to the page where one can be tried says, drawn where it stands.

import { element, ready } from "./page.js";
import { failure, picture, report } from "./drawing.js";
import { Module } from "./module.js";
import { fieldsOf, split } from "./state.js";

const modules = new Map();

/** A module, which is fetched when the first example asks for it. */
function module(name) {
  if (!modules.has(name)) modules.set(name, Module.load(name));
  return modules.get(name);
}

/** What a link asks for: the fields behind its `#`. */
function fieldsOfLink(link) {
  return new URLSearchParams(new URL(link.href).hash.slice(1));
}

async function answerTo(link) {
  const fields = fieldsOfLink(link);
  if (fields.has("e")) {
    const inputs = fields.getAll("i").map(split).map(([name, value]) => ({ name, value }));
    const request = { text: fields.get("e"), rule: fields.get("rule") ?? "as-written", inputs };
    return (await module("expressions.wasm")).call("expression", request);
  }
  const operands = fields.getAll("o").map(split).map(([name, shape]) => ({ name, shape }));
  const request = { rule: fields.get("rule") ?? fields.get("reduce"), operands };
  for (const name of ["dims", "axis", "target"]) if (fields.has(name)) request[name] = fields.get(name);
  if (fields.has("broadcast")) request.broadcast = fields.get("broadcast") === "1";
  return (await module("rules.wasm")).call("broadcast", request);
}

function drawn(answer, page) {
  if (!answer) return [failure()];
  if (!answer.ok) {
    const names = answer.picture?.rows.map(({ name }) => name) ?? [];
    return report(answer, (state) => (location.href = `${page}#${fieldsOf(state, names)}`));
  }
  if (answer.picture) return [picture(answer.picture, answer.title)];
  const output = ({ name, type, elements }) => element("pre", { tabIndex: 0 }, [answer.outputs.length > 1 ? `${name} : ` : "", type, elements ? `\n${elements}` : ""].join(""));
  return [...answer.outputs.map(output), ...answer.broadcasts.map((found) => picture(found.picture, found.title))];
}

function enliven(link) {
  const button = element("button", { type: "button", className: "run", "aria-expanded": "false" }, "Run");
  button.append(element("span", { className: "unseen" }, `: ${link.parentElement.querySelector("code").textContent}`));
  let output = null;
  button.addEventListener("click", async () => {
    if (output) {
      output.remove();
      output = null;
    } else {
      output = element("div", { className: "card live", role: "group", "aria-label": "What the example gives" });
      link.parentElement.append(output);
      try {
        output.replaceChildren(...drawn(await answerTo(link), new URL("index.html", import.meta.url)));
      } catch (error) {
        output.textContent = `The module could not be loaded: ${error.message}`;
      }
    }
    button.setAttribute("aria-expanded", String(Boolean(output)));
  });
  link.before(button);
}

document.querySelectorAll("a.try").forEach(enliven);
ready();
