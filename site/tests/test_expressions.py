"""Expressions: results, drawings, loops, mistakes, the address."""


def test_elements_are_computed(pages):
    pages.open("expressions.html")
    assert pages.find(".elements").text.startswith("[[")
    pages.type("#text", "add(x, w, dims=[0])")
    pages.type("#input-0", "[[1, 2], [3, 4]]")
    pages.type("#input-1", "[10, 20]")
    assert pages.find(".elements").text == "[[11 12]\n [23 24]]"
    assert "result[i0, i1] = add(x[i0, i1], w[i0])" in pages.find(".loops").text
    assert pages.find(".costs").text.startswith("reads ")
    pages.wait(lambda: "w%3A%5B10%2C+20%5D" in pages.fields())


def test_types_are_explained(pages):
    pages.open("expressions.html#e=exp(u)*tanh(v)&i=u:f32[1000,1]&i=v:f32[2000]")
    assert pages.all(".elements") == []
    assert [cell.text for cell in pages.all(".picture tbody tr:first-child .cell")] == ["1000", "1 → 2000"]
    assert "outer product" in pages.find(".notice").text
    link = pages.find("#answer .code a").get_attribute("href")
    pages.driver.get("about:blank")
    pages.driver.get(link)
    pages.wait(lambda: pages.all("#answer h2"))
    assert pages.headline() == "The result is [1000, 2000]"


def test_inputs_follow_the_text(pages):
    pages.open("expressions.html#e=x&i=x:[1,2]")
    pages.type("#text", "x + alpha")
    assert [name.text for name in pages.all("#inputs output")] == ["x", "alpha"]
    pages.type("#input-1", "2.5")
    assert pages.find(".elements").text == "[3.5 4.5]"
    pages.type("#text", "alpha * 2")
    assert pages.find(".elements").text == "5.0"


def test_mistakes_are_marked(pages):
    pages.open("expressions.html#e=x+%2B+v&i=x:f32[2,3]&i=v:f32[2]")
    assert pages.answer()["code"] == "size-mismatch"
    assert "^" in pages.find(".lines").text
    assert pages.find(".cell.guilty").text == "2"
    pages.find(".offer").click()
    pages.wait(lambda: "index.html" in pages.driver.current_url and pages.all("#answer h2"))
    assert pages.answer()["label"] == "N2"
    pages.open("expressions.html#e=x&i=x:f32[2,")
    assert pages.find("#input-0").get_attribute("aria-invalid") == "true"


def test_several_results_and_the_rule(pages):
    pages.open("expressions.html#e=low,+high+%3D+min(x),+max(x)&i=x:[3,1,2]")
    assert [text.text for text in pages.all(".output .code")] == ["low : i64[]", "high : i64[]"]
    pages.open("expressions.html#e=x+%2B+v&rule=xla&i=x:f32[2,3]&i=v:f32[3]")
    assert pages.answer()["code"] == "rank-mismatch-without-dims"


def test_long_and_deep_texts_leave_the_page_alive(pages):
    """The stack of a module is smaller than that of a program."""
    pages.open("expressions.html#e=x&i=x:[1,2]")
    fill = "const text = document.getElementById('text'); text.value = arguments[0];"
    fill += "text.dispatchEvent(new Event('input'))"
    pages.script(fill, "+".join(["x"] * 450))
    assert pages.find(".elements").text == "[450 900]"
    pages.script(fill, "sin(" * 95 + "x" + ")" * 95)
    assert pages.answer()["ok"]
    pages.script(fill, "-(" * 5000 + "x" + ")" * 5000)
    assert pages.answer()["code"] == "too-deep"
    pages.script(fill, "x * 2")
    assert pages.find(".elements").text == "[2 4]"
