"""Module docstrings of the source tree: each says what its module does."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.source_tree import Module, package_modules


def documented() -> list[Module]:
    return [module for module in package_modules() if module.text.strip()]


def test_a_module_says_what_it_does() -> None:
    for module in documented():
        first = module.first_line
        assert first.endswith("."), f"{module}: one line, a sentence"
        assert "?" not in re.sub("``.*?``", "", first), f"{module}: an answer, not a question"
        assert not first[0].islower() or first.startswith("scikit-learn"), f"{module}: {first}"


def test_no_two_modules_say_the_same_of_themselves() -> None:
    said: dict[str, list[str]] = defaultdict(list)
    for module in documented():
        said[module.first_line].append(str(module))
    assert not {line: where for line, where in said.items() if len(where) > 1}
