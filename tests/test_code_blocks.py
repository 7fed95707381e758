"""Every block of code on every page: run, or listed with the reason why not."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.listing import COMMANDS
from tests.pages import NOT_RUN, ROOT, RUN_BY, Block, blocks, pages, prose_of, text_of
from tests.story import lcifr, write_german

RUN_HERE = {"pycon", "sh", "{code-cell}"}
ANSWERS = {0, 1, 3, 4, 5, 6}
"""Exit codes that are results; 4 to 6 are those of `lcifr check` with files to compare."""
SHELL = [block for block in blocks() if block.kind == "sh" and (block.page, "sh") not in RUN_BY]
EXAMPLES = sorted({block.page for block in blocks() if block.kind == "pycon"})


def test_every_block_is_run_or_says_why_not() -> None:
    known = {(block.page, block.kind) for block in blocks()}
    assert not sorted(pair for pair in known if pair[1] not in RUN_HERE and pair not in {*RUN_BY, *NOT_RUN})
    assert not sorted(({*RUN_BY} | {*NOT_RUN}) - known), "no longer on the page"
    assert not {*RUN_BY} & {*NOT_RUN}


@pytest.mark.parametrize("test", sorted(set(RUN_BY.values())))
def test_who_is_said_to_run_a_block_is_there(test: str) -> None:
    file, name = test.split("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)


def _written() -> Iterator[tuple[str, str]]:
    """Every command on every page, in blocks and in sentences."""
    for block in blocks():
        yield from ((block.page, command) for command in block.commands)
        yield from ((block.page, line[1:]) for line in block.text.splitlines() if line.startswith("!lcifr "))
    for page in pages():
        if page != "CHANGELOG.md":  # says what was, too
            yield from ((page, found) for found in re.findall(r"`(lcifr [a-z][^`]*)`", prose_of(page)))


def _unknown(command: str) -> list[str]:
    """What of a command the command line does not know."""
    words = shlex.split(command.split(" > ")[0], comments=True)[1:]
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    groups = {one.split()[0] for one in COMMANDS if " " in one}
    if name not in COMMANDS:
        return [] if name in {"--help", *groups} and len(words) == 1 else [name]
    parameters = COMMANDS[name].params
    options = {one for parameter in parameters for one in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    return [word for word in words if word.startswith("--") and word.split("=")[0].strip("[]") not in options]


def test_commands_on_pages_are_commands_with_options_that_exist() -> None:
    found = [(page, command, wrong) for page, command in _written() if (wrong := _unknown(command))]
    assert not found
    assert sum(1 for _ in _written()) > 100


def test_cells_of_tutorials_are_python() -> None:
    """They are run when the site is built; this is what can be said without that."""
    cells = [block for block in blocks() if block.kind == "{code-cell}"]
    assert len(cells) > 40
    for cell in cells:
        lines = [line for line in cell.text.splitlines() if not line.startswith(("!", ":tags:"))]
        if not any(line.startswith("%%") for line in lines):
            compile("\n".join(lines), cell.page, "exec")


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_of_the_reference_run(page: str) -> None:
    examples = "\n".join(block.text for block in blocks() if block.page == page and block.kind == "pycon")
    session = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    said: list[str] = []
    with warnings.catch_warnings():
        result = doctest.DocTestRunner().run(session, out=said.append)
    assert result.attempted > 0
    assert not result.failed, "".join(said)


def _prepared(story: Path, place: Path, block: Block) -> None:
    """What the commands of a block take as given: folders, a table, labels, a model; and not what they write."""
    shutil.copytree(story, place, dirs_exist_ok=True)
    write_german(place)
    shutil.copyfile(place / "producer/labels.csv", place / "labels.csv")
    shutil.copyfile(place / "producer/schema.toml", place / "people.toml")
    _write_model(place)
    if "--id person" in block.text:
        _name_people(place)
    for command in block.commands:
        words = shlex.split(command)
        if words[1] == "init":
            (place / "people.toml").unlink(missing_ok=True)
            (place / "people.phi").unlink(missing_ok=True)
        if "--out" in words:
            shutil.rmtree(place / words[words.index("--out") + 1], ignore_errors=True)


def _name_people(place: Path) -> None:
    """The table with a column of ids, and the training table and the rule of somebody who compares."""
    table = pd.read_csv(place / "people.csv")
    table.assign(person=[f"P{row}" for row in range(len(table))]).to_csv(place / "people.csv", index=False)
    shutil.copyfile(place / "people.csv", place / "train.csv")
    shutil.copyfile(place / "people.phi", place / "rule.phi")


def _write_model(place: Path) -> None:
    from skl2onnx import to_onnx
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    table = pd.read_csv(place / "people.csv")
    table.assign(person=[f"P{row}" for row in range(len(table))]).to_parquet(place / "people.parquet")
    people = table.drop(columns="repaid")
    numbers = list(people.select_dtypes("number").columns)
    texts = [name for name in people.columns if name not in numbers]
    encode = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), texts))
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(people, table["repaid"])
    onnx = to_onnx(model, people[:1], options={"zipmap": False})
    (place / "model.onnx").write_bytes(onnx.SerializeToString())


@pytest.mark.long
@pytest.mark.parametrize("block", SHELL, ids=[f"{block.page}-{number}" for number, block in enumerate(SHELL)])
def test_shell_blocks_run(block: Block, story: Path, tmp_path: Path) -> None:
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    _prepared(story, tmp_path / "place", block)
    assert block.commands, f"no command in {block.text}"
    for command in block.commands:
        said = lcifr(*shlex.split(command)[1:], cwd=tmp_path / "place", expect=None)
        assert said.code in ANSWERS, f"{command}\n{said.out}\n{said.err}"


def test_pages_have_no_trailing_spaces() -> None:
    assert not [page for page in pages() if re.search(r"[ \t]+$", text_of(page), flags=re.MULTILINE)]
