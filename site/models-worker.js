// The worker of a model: reads the ranges of files that the module wants, and answers requests about the model.

import { Module } from "./module.js";

const loading = Module.load("models.wasm");
// An error is reported when a file is opened.
loading.catch(() => {});

/** The file that a range belongs to, and its bytes. */
async function bytesOf(files, { file, start, end }) {
  const found = files.find(({ name }) => name === file);
  return new Uint8Array(await found.slice(start, end).arrayBuffer());
}

/** Reads a model; `files` are the model and the files next to it. */
async function open(files) {
  const module = await loading;
  const [model, ...others] = files;
  const described = ({ name, size }) => ({ name, bytes: size });
  let answer = module.call("open_model", { ...described(model), others: others.map(described) });
  while (answer?.wanted) answer = module.give("give_range", await bytesOf(files, answer.wanted));
  return answer;
}

addEventListener("message", async ({ data: { number, name, request } }) => {
  try {
    const answer = name === "open" ? await open(request) : (await loading).call(name, request);
    postMessage({ number, answer });
  } catch (error) {
    postMessage({ number, problem: error.message });
  }
});
