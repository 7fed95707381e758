"""The documentation site: every page is in it, links lead somewhere, every public name and option is documented."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

import lcifr
from tests import dead_links
from tests.cli.listing import COMMANDS
from tests.pages import DOCS, LINK, ROOT, anchors, blocks, pages, prose_of, text_of

TOCTREE = re.compile(r"^```\{toctree\}\n(?P<body>.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MODULES = ("lcifr", "lcifr.workflows", "lcifr.estimators", "lcifr.certification", "lcifr.prove", "lcifr.check")
ON_ITS_OWN = {"docs/index.md"}


def _listed(page: str) -> set[str]:
    """The pages that the toctrees of a page name."""
    found = set()
    for tree in TOCTREE.finditer(text_of(page)):
        entries = [line for line in tree["body"].splitlines() if line.strip() and not line.startswith(":")]
        names = [re.sub(r"^.*<(.+)>$", r"\1", entry.strip()) for entry in entries]
        found |= {(Path(page).parent / f"{name}.md").as_posix() for name in names}
    return found


def test_every_page_is_in_the_site_and_every_entry_is_a_page() -> None:
    in_docs = {page for page in pages() if page.startswith("docs/")}
    listed = {entry for page in in_docs for entry in _listed(page)}
    assert sorted(listed - in_docs) == [], "no such page"
    assert sorted(in_docs - listed - ON_ITS_OWN) == [], "add it to a toctree (docs/guides.md, docs/about.md, …)"


@pytest.mark.parametrize("page", pages())
def test_links_lead_to_files_and_headings(page: str) -> None:
    broken = []
    for found in LINK.finditer(prose_of(page)):
        target, _, heading = found["target"].partition("#")
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        file = (ROOT / page).parent / unquote(target) if target else ROOT / page
        if not _is_there(file.resolve(), unquote(heading)):
            broken.append(found["target"])
    assert not broken


def _is_there(file: Path, heading: str) -> bool:
    if not file.exists() or ROOT not in file.parents:
        return False
    return not heading or heading in anchors(file.relative_to(ROOT).as_posix())


@cache
def _reference() -> str:
    return "\n".join(text_of(page) for page in pages() if page.startswith("docs/reference/"))


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    documented = set(re.findall(r"^\.\. auto\w+:: (\S+)", _reference(), flags=re.MULTILINE))
    homes = {f"{module}.{name}" for name in importlib.import_module(module).__all__}
    public = {f"lcifr.{name}" for name in lcifr.__all__}
    missing = [name for name in sorted(homes - documented) if f"lcifr.{name.rpartition('.')[2]}" not in public]
    assert not missing
    assert module != "lcifr" or not sorted(public - documented)


@pytest.mark.parametrize("name", lcifr.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    examples = "\n".join(block.text for block in blocks() if block.kind == "pycon")
    assert re.search(rf"\blcifr\.{name}\b", examples)


def test_the_command_reference_has_every_command_and_option(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    sections = importlib.import_module("command_reference").reference().split("\n## ")
    known = {section.removeprefix("## ").splitlines()[0]: section for section in sections}
    assert set(known) == {f"lcifr {name}" for name in COMMANDS}
    for name, command in COMMANDS.items():
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts) if parameter.param_type_name == "option" else ():
                assert re.search(rf"`{option}[` ]", known[f"lcifr {name}"]), (name, option)


def test_dead_links_of_a_built_site_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``make docs`` ends with this look at what it has built."""
    page = '<h1 id="here">α</h1><a href="#here"></a><a href="sub/b.html#there"></a><a href="https://example.org"></a>'
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    (tmp_path / "sub/b.html").write_text('<p id="there"></p><a href="../index.html#here"></a>', encoding="utf-8")
    assert dead_links.main(str(tmp_path)) == 0
    wrong = (
        '<a href="#gone"></a><a href="../c.html"></a><a href="../index.html#there"></a><img src="https://e.org/a.png">'
    )
    (tmp_path / "sub/b.html").write_text(f'<p id="there"></p>{wrong}', encoding="utf-8")
    assert dead_links.main(str(tmp_path)) == 1
    found = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert found == ["#gone", "../c.html", "../index.html#there", "https://e.org/a.png"]
    assert dead_links.main(str(tmp_path / "sub")) == 2, "nothing was built there"
