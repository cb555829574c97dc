"""Models: files of each format, dropped and chosen; findings, search, large files, damage, privacy."""

import base64
import pathlib
import time

import onnx_file
import pytest
from conftest import ROOT
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

MODELS = ROOT / "site/models"

#: Drops files, each a pair of a name and its bytes in base 64.
DROP = """
const transfer = new DataTransfer();
for (const [name, text] of arguments[0]) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  transfer.items.add(new File([bytes], name));
}
const fire = (kind) => document.getElementById("drop").dispatchEvent(
  new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
fire("dragover");
fire("drop");
"""


def drop(pages, *files):
    """Drops files on the page, and gives the answer."""
    pages.script("document.getElementById('answer').dataset.answer = ''")
    pages.script(DROP, [[name, base64.b64encode(content).decode()] for name, content in files])
    return answered(pages)


def answered(pages):
    """Waits for the answer about a model, with all of its nodes listed."""
    pages.wait(lambda: pages.find("#answer").get_attribute("data-answer"))
    answer = pages.answer()
    if answer["ok"]:
        pages.wait(lambda: pages.script("return document.querySelector('.nodes')?.dataset.filled"))
    return answer


@pytest.mark.parametrize(
    ("name", "nodes", "illegal"),
    [("bias.onnx", 3, 1), ("attention.mlir", 3, 1), ("normalise.xml", 2, 1), ("opaque.hlo", 8, 0)],
)
def test_each_format_is_dropped(pages, name, nodes, illegal):
    pages.open("models.html")
    answer = drop(pages, (name, (MODELS / name).read_bytes()))
    assert (answer["ok"], answer["nodes"]) == (True, len(pages.all(".node")))
    assert answer["counts"]["illegal"] == illegal == len(pages.all(".finding.error"))
    assert pages.headline() == name
    shown = {term.text: term.find_element("xpath", "../dd").text for term in pages.all(".count dt")}
    assert list(shown) == ["legal", "illegal", "legal if", "unknown"]
    assert shown["illegal"] == str(illegal)
    assert len(pages.all(".node")) == nodes


def test_a_protobuf_of_hlo_is_dropped(pages):
    pages.open("models.html")
    content = (ROOT / "crates/indim/tests/formats/hlo_proto/softmax.hlo.pb").read_bytes()
    assert drop(pages, ("softmax.hlo.pb", content))["ok"]
    assert pages.find("#answer .code").text.startswith("hlo · ")


def test_examples_are_opened_without_a_file(pages):
    pages.open("models.html")
    for button in pages.all("#examples button"):
        pages.script("document.getElementById('answer').dataset.answer = ''")
        button.click()
        assert answered(pages)["ok"]
    assert "example=" in pages.fields()
    pages.open("models.html#example=bias.onnx")
    answered(pages)
    assert pages.headline() == "bias.onnx"
    assert onnx_file.bias() == (MODELS / "bias.onnx").read_bytes(), "python3 site/tests/onnx_file.py"


def test_a_finding_leads_to_its_node(pages):
    pages.open("models.html#example=bias.onnx")
    answered(pages)
    assert "reshape conv1.bias to f32[16, 1, 1]" in pages.find(".finding").text
    pages.type("#search", "Relu")
    pages.wait(lambda: pages.find("#found").text == "1 of 3 nodes")
    assert [row.is_displayed() for row in pages.all(".node")] == [False, False, True]
    pages.find(".jump").click()
    pages.wait(lambda: pages.all("#node-1[open] .node-body"))
    assert "conv1.bias: f32[16]" in pages.find("#node-1").text
    assert "numpy: illegal" in pages.find("#node-1").text
    focused = "return document.activeElement === document.querySelector('#node-1 summary')"
    pages.wait(lambda: pages.script(focused))
    assert [row.is_displayed() for row in pages.all(".node")] == [True, True, True]


def test_broadcasts_are_drawn(pages):
    pages.open("models.html#example=attention.mlir")
    answered(pages)
    pages.find("#node-0 summary").click()
    pages.wait(lambda: pages.all("#node-0 .picture"))
    cells = [cell.text for cell in pages.all("#node-0 tbody tr:first-child .cell")]
    assert cells == ["× 8", "× 128", "128"]
    pages.open("models.html#example=opaque.hlo")
    answered(pages)
    opaque = pages.find(".node.opaque")
    assert "custom-call" in opaque.text and "opaque" in opaque.text


def test_without_a_mouse(pages):
    pages.open("models.html")

    def press(key):
        ActionChains(pages.driver).send_keys(key).perform()

    def focused():
        return pages.script("const { id, className } = document.activeElement; return id || className")

    seen = []
    while not seen or (seen[-1] != "offer" and len(seen) < 20):
        press(Keys.TAB)
        seen.append(focused())
    assert "file" in seen and seen[-1] == "offer"
    press(Keys.ENTER)
    answered(pages)
    while focused() != "offer jump" and len(seen) < 60:
        press(Keys.TAB)
        seen.append(focused())
    press(Keys.ENTER)
    pages.wait(lambda: pages.all("#node-1[open] .node-body"))
    spoken = "bias.onnx: 1 broadcast: 0 legal, 1 illegal, 0 legal if, 0 unknown; 1 finding."
    pages.wait(lambda: pages.find("#spoken").get_attribute("textContent") == spoken)


def test_the_external_file_is_taken_along(pages):
    network = (MODELS / "normalise.xml").read_bytes()
    pages.open("models.html")
    assert drop(pages, ("normalise.bin", bytes(64)), ("normalise.xml", network))["ok"]
    assert pages.headline() == "normalise.xml"


def test_a_file_is_chosen(pages, tmp_path):
    path = tmp_path / "chosen.onnx"
    path.write_bytes(onnx_file.bias())
    pages.open("models.html")
    pages.find("#file").send_keys(str(path))
    assert answered(pages)["ok"]
    assert pages.headline() == "chosen.onnx"


def test_what_is_no_model_is_reported(pages):
    pages.open("models.html")
    assert drop(pages, ("a.npy", b"\x93NUMPY\x01\x00v\x00"))["code"] == "unknown-format"
    assert "StableHLO, HLO, OpenVINO IR or ONNX" in pages.find(".error").text
    assert drop(pages, ("cut.onnx", onnx_file.bias()[:700]))["code"] == "damaged"
    assert drop(pages, ("empty.onnx", b""))["code"] == "unknown-format"
    wrong = drop(pages, ("wrong.mlir", b"func.func @main(%x: tensor<4xf32>) {\n  return %x :\n}"))
    assert not wrong["ok"]
    assert "wrong.mlir" in pages.find(".error").text
    # Deeper than the stack of a module: refused, and the page stays alive.
    for text, name in [(b'"a.b"() ({' * 3000, "deep.mlir"), (b"<a>" * 3000, "deep.xml")]:
        assert drop(pages, (name, text))["code"] != "failed"
    assert drop(pages, ("bias.onnx", onnx_file.bias()))["ok"]


def test_deep_files_within_the_limits_are_read(pages):
    """The stack of a module is smaller than that of a program."""
    head = "func.func @main(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {\n"
    result = '\n"stablehlo.return"(%x) : (tensor<f32>) -> ()'
    end = result + "\n}) : (tensor<i32>) -> tensor<f32>"
    text = head + '"stablehlo.case"(%i) ({\n' * 60 + end * 60 + "\nreturn %x : tensor<f32>\n}"
    pages.open("models.html")
    answer = drop(pages, ("deep.mlir", text.encode()))
    assert answer["ok"], answer
    inner = onnx_file.field(2, "inner")
    for depth in range(59):
        branch = onnx_file.field(1, "then_branch") + onnx_file.field(6, inner) + onnx_file.field(20, 5)
        node = onnx_file.node("If", ["c"], [f"y{depth}"]) + onnx_file.field(5, branch)
        inner = onnx_file.field(1, node) + onnx_file.field(2, "inner")
    inputs = onnx_file.field(11, onnx_file.value("c", [], 9))
    opset = onnx_file.field(8, onnx_file.field(2, 17))
    model = onnx_file.field(1, 8) + onnx_file.field(7, inner + inputs) + opset
    assert drop(pages, ("deep.onnx", model))["ok"]


def test_ten_thousand_nodes_scroll(pages):
    pages.open("models.html")
    begin = time.monotonic()
    assert drop(pages, ("chain.onnx", onnx_file.chain(10_000)))["nodes"] == 10_000
    print(f"\n10,000 nodes are listed after {time.monotonic() - begin:.2f} s")
    assert len(pages.all(".node")) == 10_000
    frames = pages.driver.execute_async_script(
        """const done = arguments[0];
        const times = [];
        let last = performance.now();
        const step = () => {
          const now = performance.now();
          times.push(now - last);
          last = now;
          scrollBy(0, 1500);
          if (times.length < 100) requestAnimationFrame(step);
          else done(times.slice(1).sort((a, b) => a - b));
        };
        requestAnimationFrame(step);"""
    )
    print(f"scrolling: a frame takes {frames[49]:.0f} ms in the median, {frames[-1]:.0f} ms at most")
    assert pages.script("return scrollY") > 50_000
    begin = time.monotonic()
    pages.type("#search", "step_7777:")
    pages.wait(lambda: pages.find("#found").text == "2 of 10000 nodes")
    print(f"a search takes {time.monotonic() - begin:.2f} s")
    pages.find(".jump").click()
    pages.wait(lambda: pages.all("#node-9999[open] .node-body"))
    place = "const { top, bottom } = document.querySelector('#node-9999 summary').getBoundingClientRect();"
    pages.wait(lambda: pages.script(place + "return top > 0 && bottom < innerHeight"))


def renderer_bytes():
    """The peak of the resident memory of the browser's largest process that shows pages."""
    peaks = [0]
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes()
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        if b"--type=renderer" in command:
            peaks.append(int(lines["VmHWM"].split()[0]) * 1024)
    return max(peaks)


def test_a_hundred_megabytes_are_measured(pages, tmp_path):
    """Printed, not demanded: how fast a machine is says nothing of the site."""
    path = tmp_path / "large.onnx"
    path.write_bytes(onnx_file.layers(25, 1024))
    pages.open("models.html")
    before = renderer_bytes()
    begin = time.monotonic()
    pages.find("#file").send_keys(str(path))
    answer = answered(pages)
    seconds = time.monotonic() - begin
    after = renderer_bytes()
    print(f"\n{path.stat().st_size} bytes of ONNX in {seconds:.2f} s")
    print(f"the renderer takes at most {after / 1e6:.0f} MB, before {before / 1e6:.0f} MB")
    assert (answer["nodes"], answer["skipped"]) == (25, {"count": 25, "bytes": 104_857_600})
    assert "25 large constants" in pages.find(".card").text


def test_nothing_leaves_the_browser(pages):
    pages.open("models.html")
    drop(pages, ("secret.onnx", onnx_file.bias()))
    pages.find(".jump").click()
    policy = pages.find("meta[http-equiv]").get_attribute("content")
    assert "worker-src 'self'" in policy and "connect-src 'self'" in policy
    entries = pages.script("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert all(entry.startswith(pages.address) and "secret" not in entry for entry in entries)
    assert "secret" not in pages.driver.current_url
