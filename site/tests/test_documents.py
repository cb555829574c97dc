"""The documents: every link leads somewhere, every example gives what stands behind its arrow."""

import html.parser
import re
import urllib.parse

import pytest
from conftest import SITE

PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


class Reader(html.parser.HTMLParser):
    """The links and the places of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.policy, self.inline = [], set(), None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.add(given.get("id"))
        self.links += [given[name] for name in ("href", "src") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        if tag == "script" and "src" not in given or tag == "style":
            self.inline.append(tag)


READ = {page: Reader((SITE / page).read_text()) for page in PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for link in READ[page].links:
        assert "://" not in link, "the site is whole in itself"
        path, _, place = link.partition("#")
        target = urllib.parse.urljoin(page, path) if path else page
        assert (SITE / target).is_file(), link
        if place and target in ("docs/rules.html",) or target.startswith("docs/") and place:
            assert place in READ[target].places, link


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_scripts_or_styles_within(page):
    assert READ[page].policy.startswith("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'")
    assert READ[page].inline == []


def test_the_rules_have_their_labels():
    labels = [f"x{number}" for number in range(1, 10)] + ["n2", "p5", "e4", "o1", "xt", "t1", "r6", "l"]
    assert [label for label in labels if f"label-{label}" not in READ["docs/rules.html"].places] == []


def live_examples(pages, page):
    """The text and the result of each example of a page."""
    pages.open(page)
    pages.script("document.querySelectorAll('.run').forEach((button) => button.click())")
    count = len(pages.all(".run"))
    answered = "return [...document.querySelectorAll('.live')].filter((live) => live.children.length).length"
    pages.wait(lambda: pages.script(answered) == count)
    return pages.script(
        """const read = (item) => ({
          text: item.querySelector("code").textContent,
          code: item.querySelector(".live .code code")?.textContent ?? null,
          shape: item.querySelector(".live .result-row .shape")?.textContent ?? null,
          scalar: Boolean(item.querySelector(".live .scalars")),
          output: item.querySelector(".live > pre")?.textContent ?? null,
        });
        return [...document.querySelectorAll(".examples li:has(.run)")].map(read);"""
    )


@pytest.mark.parametrize("page", ["docs/rules.html", "docs/expressions.html", "gallery.html"])
def test_examples_give_what_they_say(pages, page):
    examples = live_examples(pages, page)
    assert len(examples) > 50
    for example in examples:
        _, arrow, expected = example["text"].partition(" -> ")
        if not arrow:
            assert example["text"].startswith("$ indim ") and example["code"] is None, example
            continue
        refusal = re.search(r"error\[(.*)\]|^[A-Z]+\d? (\S+)$", expected)
        # Memory is addressed with 32 bits here, so that other arrays are too large.
        if "4294967296" in example["text"] or expected == "error[several-results]":
            continue
        if refusal:
            assert example["code"] == (refusal[1] or refusal[2]), example
        elif example["output"] is not None:
            assert example["output"].split("\n")[0] == expected, example
        else:
            shape = "[]" if example["scalar"] else example["shape"].replace(" ", "")
            assert shape == expected.split(" maps")[0].replace(" ", ""), example


def test_commands_can_be_tried(pages):
    examples = live_examples(pages, "docs/literals.html")
    division = next(example for example in examples if "x / 3" in example["text"])
    assert division["output"] == "f32[2]\n[0.33333334 0.6666667 ]"
