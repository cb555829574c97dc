// The WebAssembly modules: a function takes a request and gives an answer, both JSON.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A module whose functions answer requests. */
export class Module {
  #compiled;
  #exports;

  /** Fetches a module next to this file from any server, with any declared content type. */
  static async load(name) {
    const response = await fetch(new URL(name, import.meta.url));
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    const module = new Module();
    module.#compiled = await WebAssembly.compile(await response.arrayBuffer());
    await module.#start();
    return module;
  }

  async #start() {
    this.#exports = (await WebAssembly.instantiate(this.#compiled, {})).exports;
  }

  /** The answer to a request; `null` where the module failed, which is then started anew. */
  call(name, request = {}) {
    return this.#answer(name, "request_buffer", encoder.encode(JSON.stringify(request)));
  }

  /** The answer to a range of a file. */
  give(name, bytes) {
    return this.#answer(name, "range_buffer", bytes);
  }

  #answer(name, buffer, bytes) {
    try {
      const at = this.#exports[buffer](bytes.length);
      if (at === 0) return tooLong();
      new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
      const length = this.#exports[name]();
      const start = this.#exports.answer_buffer();
      return JSON.parse(decoder.decode(new Uint8Array(this.#exports.memory.buffer, start, length)));
    } catch (error) {
      console.error(error);
      this.#start();
      return null;
    }
  }
}

function tooLong() {
  const headline = "this is more text than a page takes; the command `indim` has room for it";
  return { ok: false, code: "text-too-long", headline, lines: [], remarks: [], repairs: [], text: headline };
}
