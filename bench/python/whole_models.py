"""Times whole models in ONNX files in indim and ONNX Runtime.

    python whole_models.py [--threads N] [--processor-time] [--command INDIM] [--keep FOLDER]
                           [part of a name ...]

The models are ResNet-50 (convolutions and batch normalizations), MobileNetV2 (normalizations folded into the
convolutions), BERT-base (normalizations as chains of operators, open sizes), ViT-B/16, a detector of three
scales, and one step of GPT-2 with its cache. Their operators are those that exporters write, their weights
are random. Both engines have two threads, or N, and each runs in a process of its own.

The tables have milliseconds until the first result (load, compile, run once), milliseconds of a run (median),
the peak of resident memory in MiB without that of Python and the imported packages, and the quotients of
indim over ONNX Runtime. ``--processor-time`` measures the processor time of all threads instead of elapsed
time, for a machine with other work. ``--command`` also runs the command. ``--keep`` keeps the model files in
a folder. It needs the package, ``onnx`` and ``onnxruntime``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from networks import MODELS

SECONDS = 3
ENGINES = ("indim", "onnxruntime")
#: Numbers of a result may differ by this part of the largest one.
TOLERANCE = 1e-3


def arrays_for(shapes):
    """The arguments of a model by name: token numbers below 1000, a mask of ones and zeros, or pictures."""
    random = np.random.default_rng(1)
    arrays = {}
    for name, shape in shapes.items():
        if name == "attention_mask":
            arrays[name] = np.ones(shape, np.int64)
            arrays[name][:, -shape[1] // 8 :] = 0
        elif name.endswith("ids"):
            arrays[name] = random.integers(0, 2 if "type" in name else 1000, shape)
        else:
            arrays[name] = random.standard_normal(shape, np.float32)
    return arrays


def program(engine, path, threads):
    """A function that runs the model for arrays by name, and returns its results by name."""
    if engine == "indim":
        import indim

        indim.set_num_threads(threads)
        model = indim.load(path)
        names = model.outputs
        listed = lambda results: results if len(names) > 1 else [results]
        return lambda arrays: dict(zip(names, listed(model(*arrays.values()))))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(names, arrays)))


def resident(line):
    """Resident memory of the process in MiB: now (``VmRSS``) or the peak (``VmHWM``)."""
    with open("/proc/self/status") as file:
        return next(int(text.split()[1]) / 1024 for text in file if text.startswith(line))


def time_engine(engine, path, inputs, results, threads, clock):
    """Prints JSON: milliseconds until the first result and of a run, MiB; writes the results."""
    __import__(engine)
    now = getattr(time, clock)

    def milliseconds(call):
        start = now()
        result = call()
        return 1e3 * (now() - start), result

    arrays = dict(np.load(inputs))
    before = resident("VmRSS")
    load, run = milliseconds(lambda: program(engine, path, int(threads)))
    first, values = milliseconds(lambda: run(arrays))
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 5:
        times.append(milliseconds(lambda: run(arrays))[0])
    peak = resident("VmHWM") - before
    np.savez(results, **{name: np.asarray(value) for name, value in values.items()})
    measured = {"first": load + first, "run": sorted(times)[len(times) // 2], "peak": peak}
    print(json.dumps(measured))


def time_command(command, path, arrays, folder, threads):
    """Milliseconds and MiB of a run of the command."""
    sources = []
    for index, (name, array) in enumerate(arrays.items()):
        np.save(os.path.join(folder, f"input-{index}.npy"), array)
        sources.append(f"{name}={folder}/input-{index}.npy")
    output = os.path.join(folder, "command.npz")
    environment = {**os.environ, "INDIM_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    arguments = [command, "run", path, *sources, "-o", output]
    process = subprocess.Popen(arguments, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    taken = 1e3 * (time.perf_counter() - start)
    if status != 0:
        sys.exit(f"the command fails: {status}")
    return taken, usage.ru_maxrss / 1024, dict(np.load(output))


def check(job, expected, found):
    """Exits if results differ."""
    for name, value in expected.items():
        largest = np.abs(value).max()
        difference = np.abs(value - found[name].reshape(value.shape)).max()
        if not (np.isfinite(largest) and difference <= TOLERANCE * largest):
            sys.exit(f"{job}: {name} differs by {difference}, the largest number is {largest}")


def main():
    import onnx

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="the number of threads")
    parser.add_argument("--processor-time", action="store_true", help="measures processor time")
    parser.add_argument("--command", help="also times this command")
    parser.add_argument("--keep", help="keeps the model files in this folder, and uses those in it")
    parser.add_argument("names", nargs="*", help="parts of names of models")
    options = parser.parse_args()
    clock = "process_time" if options.processor_time else "perf_counter"
    rows, commands = [], []
    with tempfile.TemporaryDirectory() as folder:
        for index, (job, make) in enumerate(MODELS.items()):
            if options.names and not any(name in job for name in options.names):
                continue
            kept = options.keep or folder
            path, inputs = os.path.join(kept, f"{index}.onnx"), os.path.join(kept, f"{index}.npz")
            if not os.path.exists(path):
                model, shapes = make(onnx)
                onnx.save(model, path)
                np.savez(inputs, **arrays_for(shapes))
                del model
            measured, results = {}, {}
            for engine in ENGINES:
                output = os.path.join(folder, f"{engine}.npz")
                command = [sys.executable, __file__, "--engine", engine, path, inputs, output]
                command += [str(options.threads), clock]
                child = subprocess.run(command, stdout=subprocess.PIPE, text=True)
                if child.returncode != 0:
                    print(f"{job}: {engine} fails", file=sys.stderr)
                    break
                measured[engine] = json.loads(child.stdout)
                results[engine] = dict(np.load(output))
            if len(measured) < len(ENGINES):
                continue
            check(job, results["onnxruntime"], results["indim"])
            cells = []
            for column in ("first", "run", "peak"):
                own, peer = (measured[engine][column] for engine in ENGINES)
                text = lambda number: f"{number:.0f}" if number >= 100 else f"{number:.3g}"
                cells.append(f"{text(own)} / {text(peer)} = {own / peer:.2f}")
            rows.append(f"| {job} | " + " | ".join(cells) + " |")
            print(rows[-1], file=sys.stderr, flush=True)
            if options.command:
                arrays = dict(np.load(inputs))
                taken, peak, found = time_command(options.command, path, arrays, folder, options.threads)
                check(f"{job}, command", results["onnxruntime"], found)
                commands.append(f"| {job} | {taken:.0f} | {peak:.0f} |")
                print(commands[-1], file=sys.stderr, flush=True)
            if not options.keep:
                os.remove(path)
    print("| model | until the first result, ms | a run, ms | peak memory, MiB |")
    print("|---|---|---|---|")
    print("\n".join(rows))
    if commands:
        print("\n| model | `indim run`, ms | peak memory, MiB |\n|---|---|---|")
        print("\n".join(commands))


if __name__ == "__main__":
    time_engine(*sys.argv[2:]) if sys.argv[1:2] == ["--engine"] else main()
