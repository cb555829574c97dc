"""Programs in processes of their own that Ctrl-C interrupts; not a test."""

import signal
import subprocess
import sys
import textwrap
import time


def output_after_ctrl_c(program):
    """The output of an indented program that prints ``start``, and gets the signal a second later."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "start\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    return output
