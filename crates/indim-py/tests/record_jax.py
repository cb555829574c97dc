"""Records the results of `jax_programs.py` by JAX: `python record_jax.py`, with jax installed."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax_programs import PROGRAMS, leaves

RECORDED = Path(__file__).parent / "recorded_jax.json"


def main():
    jax.config.update("jax_enable_x64", True)
    programs = {}
    for program in PROGRAMS:
        arrays = [np.asarray(leaf) for leaf in leaves(program(jax, jnp, jax.lax))]
        programs[program.__name__] = [
            {"shape": array.shape, "values": [round(value, 12) for value in array.ravel().tolist()]}
            for array in arrays
        ]
    lines = [f"{json.dumps(name)}: {json.dumps(arrays)}" for name, arrays in programs.items()]
    RECORDED.write_text("{\n" + ",\n".join([f'"jax": "{jax.__version__}"', *lines]) + "\n}\n")


if __name__ == "__main__":
    main()
