"""`indim.profile()`: time and bytes by loop nests."""

import re
import threading

import numpy as np
import pytest

import indim

X = np.arange(600_000.0).reshape(600, 1000)


def test_programs_and_nests():
    @indim.jit
    def standardised(x):
        return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)

    with indim.profile(bandwidth=1e10) as profile:
        for _ in range(3):
            standardised(X)
        indim.evaluate("a + 2 * b", a=X, b=X)
        indim.add(X[:10], 1)
    by_name = {program.name.rpartition(".")[2]: program for program in profile.programs}
    assert set(by_name) == {"standardised", "a + 2 * b", "add"}
    program = by_name["standardised"]
    assert program.runs == 3 and program.inputs == ["x: f64[600, 1000]"]
    assert 0 < sum(nest.seconds for nest in program.nests) <= program.seconds < profile.seconds
    assert "reduce_add" in "".join(nest.text for nest in program.nests)
    (nest,) = by_name["a + 2 * b"].nests
    # The number is an input of 8 bytes.
    assert nest.bytes == 3 * X.nbytes + 8
    assert profile.programs == sorted(profile.programs, key=lambda program: -program.seconds)
    # After its end a profile counts nothing.
    standardised(X)
    assert program.runs == 3
    assert profile.json["programs"][0]["nests"][0].keys() == {"text", "bytes", "seconds"}


def test_text_and_table():
    f = indim.jit(lambda x: indim.fori_loop(0, 3, lambda i, s: s * 0.5 + x, np.sqrt(x)))
    with indim.profile(bandwidth=2e10) as profile:
        assert "no end" in str(profile)
        f(X)
    text, table = str(profile), profile._repr_html_()
    assert "memory bandwidth 20 GB/s" in text and "<lambda>(x: f64[600, 1000])" in text and "1 run" in text
    assert "&lt;lambda&gt;" in table and "<lambda>" not in table
    # Only a run counts the steps of a loop, so its bytes are unknown.
    assert None in [nest.bytes for nest in profile.programs[0].nests]
    assert " - " in text and "for i0, i1 in ndindex(600, 1000)" in text


def test_explanations_show_the_times_of_the_last_profile():
    f = indim.jit(lambda x, k: np.sqrt(x) * k)
    assert "times" not in f.explain(X, 2.0)
    with indim.profile(bandwidth=2e10):
        f(X, 2.0)
        f(X, 3.0)
        indim.evaluate("a + 1", a=X)
    explanation = f.explain(X, 2.0)
    assert "times\n   " in explanation and "2 runs" in explanation
    assert explanation.count("sqrt(x[i0, i1])") == 2
    assert explanation.json["times"]["runs"] == 2 and explanation.json["graph"]
    assert "a + 1(a: f64[600, 1000])" in indim.explain("a + 1", a=X)
    # Other sizes and other programs did not run.
    assert "times" not in f.explain(X[:10], 2.0) and "times" not in indim.explain("a + 2", a=X)
    with indim.profile(bandwidth=2e10):
        pass
    assert "times" not in f.explain(X, 2.0)


def test_the_bandwidth_is_measured():
    with indim.profile() as profile:
        indim.add(X, 1)
    assert 1e7 < profile.bandwidth < 1e13
    assert profile.bandwidth == profile.bandwidth
    assert "GB/s" in str(profile) or "MB/s" in str(profile)


def test_one_profile_at_a_time_also_after_an_error():
    with pytest.raises(ZeroDivisionError), indim.profile():
        with pytest.raises(RuntimeError, match="active already"), indim.profile():
            pass
        raise ZeroDivisionError
    with indim.profile() as profile:
        pass
    assert profile.programs == []


def test_threads_and_chunks_are_counted():
    f = indim.jit(lambda x: x * 2 + 1)
    with indim.profile() as profile:
        threads = [threading.Thread(target=f, args=(X,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(program.runs for program in profile.programs) == 4
    da = pytest.importorskip("dask.array")
    with indim.profile() as profile:
        f(da.from_array(X, chunks=(300, 1000))).compute(scheduler="threads")
    # Two threads may compile the program at the same time.
    assert {program.name for program in profile.programs} == {"a stage over chunks"}
    assert sum(program.runs for program in profile.programs) == 2


@pytest.mark.parametrize("bandwidth", [0, -1.0, float("nan")])
def test_a_bandwidth_is_above_zero(bandwidth):
    with pytest.raises(ValueError, match="above 0"):
        indim.profile(bandwidth=bandwidth)


def test_the_drawing_of_a_program_has_its_times():
    from xml.etree import ElementTree

    f = indim.jit(lambda x: np.sqrt(x + 0.125).sum())
    x = np.ones((40, 50))
    f(x)
    without = f.explain(x).svg
    with indim.profile(bandwidth=1e9):
        f(x)
    explained = f.explain(x)
    root = ElementTree.fromstring(explained.svg)
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    _, times = str(explained).split("\ntimes\n")
    assert "times" in texts and times.splitlines()[0] in texts
    heights = [int(re.search(r'height="(\d+)"', svg)[1]) for svg in (without, explained.svg)]
    assert heights[1] > heights[0] and f._repr_svg_() == explained.svg
