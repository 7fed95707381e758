"""The page in a real browser: what people do with it, quiet, readable, and without a mouse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.report.measures import CONTRAST, SPREAD
from tests.story import lcifr
from tests.workbench.bench import SLOWLY_CHILDREN, write_folder
from tests.workbench.served import Served

READY = {
    "formula": "document.querySelector('#neighbours figure') && document.querySelector('#around table')",
    "model": "document.querySelector('#person-form button')",
    "audit": "document.querySelector('.what-if .verdict')",
}


@pytest.fixture
def look(browser, served):
    """``look("audit", width=390)`` opens a page of the workbench and waits until all of it is there."""

    def opened(name="formula", address=served.address, **options):
        page = browser.open(f"{address}#{name}", **options)
        page.until(READY[name])
        return page

    return opened


def focus(page, element):
    page.run(f"document.getElementById({json.dumps(element)}).focus()")


def write(page, text):
    """Replace the formula by typing."""
    focus(page, "phi")
    page.run("document.getElementById('phi').select()")
    page.type(text)


def choose(page, element, value):
    """As with the keyboard: the value, and the event that says so."""
    page.run(
        f"(() => {{ const one = document.getElementById({json.dumps(element)}); one.value = {json.dumps(value)};"
        " one.dispatchEvent(new Event('change', { bubbles: true })); })()"
    )


def is_quiet(page):
    """Nothing on the console, nothing kept, and nobody else was asked."""
    own = page.address.partition("#")[0]
    assert page.complaints() == []
    assert [one for one in page.requests() if not one.startswith(own)] == []
    assert page.run("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1280, False),
        pytest.param(1280, True, marks=pytest.mark.long),
        (390, True),
        pytest.param(390, False, marks=pytest.mark.long),
    ],
)
def test_every_page_is_quiet_and_readable(look, width, dark):
    page = look(width=width, dark=dark)
    for name, ready in READY.items():
        page.run(f"location.hash = {json.dumps(name)}")
        page.until(ready)
        page.run('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
        poor = page.run(CONTRAST)["poor"]  # the editor's mirror is seen by nobody: its ink is transparent
        assert [one for one in poor if not one.startswith("1.") or "PRE." not in one] == []
        assert page.run(SPREAD) == []
        assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run("[...document.querySelectorAll('[id]')].length") == page.run(
            "new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size"
        )
    is_quiet(page)


def test_a_formula_with_three_mistakes_is_corrected_by_its_messages(look, served):
    page = look()
    text = 'same(jb, region) and\nage within 1 and\nnumeric except age within 0.1 std and\nsex\' = "femal"'
    corrections = 0
    write(page, text)
    page.until("document.querySelectorAll('#mistakes li').length > 0")
    while "No mistakes" not in page.text("#mistakes"):
        said = page.text("#mistakes li")
        for wrong, right in (("std", "sd"), ("jb", "job"), ("femal", "female")):
            if f"“{wrong}”" in said or f'"{wrong}"' in said or f"{wrong}" in said:
                assert right in said, said  # the message itself says how to put it right
                assert page.run("document.querySelectorAll('#mirror mark.mistake').length") >= 1
                page.run("document.querySelector('#mistakes button').click()")
                marked = page.run("(({ value, selectionStart: a, selectionEnd: b }) => value.slice(a, b))(phi)")
                assert wrong in marked or marked == ""
                text = text.replace(wrong, right, 1) if wrong != "femal" else text.replace('"femal"', '"female"')
                break
        else:
            raise AssertionError(said)
        corrections += 1
        assert corrections <= 3
        write(page, text)
        page.until(f"!document.querySelector('#mistakes').innerText.includes({json.dumps(said[:40])})")
    assert corrections == 3
    assert 'sex is "female"' in page.text("#english").replace("“", '"').replace("”", '"') or "female" in page.text(
        "#english"
    )
    choose(page, "formula-file", "")
    write(page, text)
    page.until("document.querySelector('#mistakes').innerText.includes('No mistakes')")
    page.press("s", control=True)
    page.run("document.getElementById('new-file').value = 'corrected.phi'")
    page.run("document.querySelector('#new-name button').click()")
    page.until("document.getElementById('saved').textContent === 'saved in corrected.phi'")
    saved = next(Path(served.folder).glob("corrected.phi"))
    assert saved.read_text(encoding="utf-8") == text
    saved.unlink()
    is_quiet(page)


def test_what_is_about_an_earlier_formula_or_other_people_says_so(look):
    page = look()
    write(page, "same(jb)")
    page.until("!document.getElementById('old-english').hidden && !document.getElementById('old-people').hidden")
    assert page.run(CONTRAST)["seen"] > 50
    choose(page, "formula-table", "train.csv")
    page.until("document.getElementById('table-words').innerText.includes('train.csv')")
    assert page.text("#neighbours") == page.text("#around") == ""
    write(page, "same(all)")
    page.until("document.getElementById('neighbours').innerText.includes('all 200 people')")
    assert page.run("document.getElementById('old-people').hidden && document.getElementById('old-english').hidden")


def test_completion_without_a_mouse(look):
    page = look()
    write(page, "same(jo")
    page.press(" ", control=True)
    page.until("!document.getElementById('offers').hidden")
    assert page.text("#offers li[aria-selected=true] span") == "job"
    page.press("Enter")
    assert page.run("document.getElementById('phi').value") == "same(job"
    page.type(") and job' = ")
    page.press(" ", control=True)
    page.until("!document.getElementById('offers').hidden")
    page.press("ArrowDown")
    page.press("Tab")
    assert page.run("document.getElementById('phi').value") == 'same(job) and job\' = "cook"'
    page.type(" and ag")
    page.until("!document.getElementById('offers').hidden")
    page.press("Escape")
    assert page.run("document.getElementById('offers').hidden")
    page.press("Tab")  # leaves the editor: nobody is held in it
    assert page.run("document.activeElement.id") != "phi"


def test_a_person_is_explored(look):
    page = look("audit")
    choose(page, "kind", "counterexample")
    page.until("[...document.querySelectorAll('#people .badge')].every((one) => one.innerText === 'Counterexample')")
    focus(page, "people")
    page.press("End")
    page.until("document.querySelector('#people li:last-child').getAttribute('aria-selected') === 'true'")
    last = page.text("#people li:last-child .name")
    page.until(f"document.querySelector('#person h3')?.innerText === {json.dumps(f'Person {last}')}")
    page.until("document.querySelector('.what-if .within')")
    assert "Within φ, but there is no proof" in page.text(".what-if")
    page.run("[...document.querySelectorAll('.beside button')].at(-1).click()")
    page.until("document.querySelector('.what-if').innerText.includes('this is a counterexample')")
    choose(page, "kind", "certified")
    page.until("document.querySelector('.what-if .covered')")
    assert "covered by the proof" in page.text(".what-if")
    page.run(
        "(() => { const one = document.querySelector('[aria-label=\"What if age were\"]'); one.value = 99;"
        " one.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )
    page.until("document.querySelector('.what-if .beyond')")
    assert "Beyond φ" in page.text(".what-if")
    assert "age within 1" in page.text(".what-if")
    is_quiet(page)


def test_a_model_decides_about_somebody(look):
    page = look("model")
    assert "A model of scikit-learn" in page.text("#model-words")
    choose(page, "decide-formula", "people.phi")
    focus(page, "model-row")
    page.run("document.querySelector('#person-form button').focus()")
    page.press("Enter", "\r")
    page.until("document.querySelector('#decided .badge')")
    assert "Decision: " in page.text("#decided")
    assert "lcifr audit person.csv" in page.text("#decide-command")
    is_quiet(page)


def test_everything_is_reached_with_the_keyboard(look):
    page = look("audit")
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    focus(page, "main")
    page.run(
        "window.reachable = [...document.querySelectorAll('#page-audit :is(input, select, button, summary, ul)')]"
        ".filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.disabled)"
    )
    wanted, seen = page.run("reachable.length"), set()
    for _ in range(wanted + 5):
        page.press("Tab")
        seen.add(page.run("reachable.indexOf(document.activeElement)"))
    assert len(seen - {-1}) == wanted


NASTY = '<img src=x onerror="document.title=1">'


def test_markup_in_names_and_values_is_text(look, served):
    kinds = [f"<script>document.title={k}</script>" for k in range(2)]
    people = pd.DataFrame({NASTY: [1, 2, 3, 4] * 5, "kind": kinds * 10, "y": ["<b>yes</b>", "<b>no</b>"] * 10})
    people.to_csv(served.folder / "zz<i>.csv", index=False)
    (served.folder / "zz<i>.phi").write_text(f"# {NASTY}\nsame(kind) and `{NASTY}` within 1", encoding="utf-8")
    page = look()
    choose(page, "formula-file", "zz<i>.phi")
    choose(page, "formula-table", "zz<i>.csv")
    page.until(f"document.getElementById('around').innerText.includes({json.dumps(NASTY)})")
    assert NASTY in page.text("#attributes")
    assert kinds[0] in page.text("#around")
    assert "zz<i>.csv" in page.text("#table-words")
    assert NASTY in page.text("#english")
    assert page.run("document.querySelectorAll('main img, main script, main i, main b').length") == 0
    page.run("location.hash = 'audit'")
    page.until(READY["audit"])
    choose(page, "audit-table", "zz<i>.csv")
    page.until("document.getElementById('audit-command').innerText.includes('zz<i>.csv')")
    assert page.run("document.title") == "Audit – lcifr workbench"
    is_quiet(page)


@pytest.mark.long
def test_the_example_is_written_learned_and_audited(browser, tmp_path):
    made = Served(tmp_path)
    try:
        made.wait()
        page = browser.open(made.address)
        page.until("!document.getElementById('welcome').hidden")
        assert "built-in example" in page.text("#welcome")
        assert page.run("document.querySelector('.tabs').getClientRects().length") == 0
        page.run("document.getElementById('start-example').click()")
        page.until("document.querySelector('.note')?.innerText.includes('its model is trained')")
        assert "No warnings" in page.text("#findings")
        page.run("location.hash = 'audit'")
        page.until("document.querySelector('#audit-command code')?.innerText.includes('german-model')")
        page.run("document.querySelector('#audit-form button').click()")
        page.until("document.querySelector('.what-if .verdict')")
        assert "What each attribute adds" in page.text("#person")
        is_quiet(page)
    finally:
        made.stop()
    assert lcifr("check", "audit/bundle", cwd=tmp_path, expect=None).code in (0, 1)


@pytest.mark.long
def test_an_audit_is_started_stopped_and_resumed_and_is_the_commands(browser, tmp_path):
    write_folder(tmp_path, people=400)
    words = ("people.csv", "--model=model.skops", "--phi=people.phi", "--schema=people.toml")
    lcifr("audit", *words, "--out=command", cwd=tmp_path, expect=1)
    made = Served(tmp_path, first=SLOWLY_CHILDREN)
    try:
        made.wait()
        page = browser.open(f"{made.address}#audit")
        page.until("document.querySelector('#audit-command code')?.innerText.includes('model.skops')")
        shown = page.text("#audit-command code")
        page.run("document.querySelector('#audit-form button').click()")
        page.until("document.querySelector('#run .shares rect')")
        page.run("document.getElementById('stop').click()")
        page.until("document.querySelector('#run .what')?.innerText.includes('was stopped')")
        assert not (tmp_path / "audit").exists()
        page.until("document.querySelector('#stopped button')")
        page.run("document.querySelector('#stopped button').click()")
        page.until("document.querySelector('#run .what')?.innerText.includes('has finished')")
        assert "of them already done" in page.text("#run .steps")
        page.until("document.querySelector('.what-if .verdict')")
        is_quiet(page)
    finally:
        made.stop()
    assert shown == f"lcifr audit {' '.join(words[:3])} {words[3]} --out=audit"
    ours, theirs = (pd.read_parquet(tmp_path / name / "audited" / "audit.parquet") for name in ("audit", "command"))
    pd.testing.assert_frame_equal(ours, theirs)
    for name in ("result.json", "people.parquet", "similar.phi", "schema.toml"):
        assert (tmp_path / "audit" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    shutil.rmtree(tmp_path / "command")
