"""What docs/audit-your-model.md shows runs."""

import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[1] / "docs" / "audit-your-model.md").read_text(encoding="utf-8")


def test_the_page_runs_and_its_counterexamples_are_the_librarys():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "audit-your-model.md", "exec"), names)  # noqa: S102
    found, model, people = names["found"], names["model"], names["data"].test.X
    assert list(found.prediction) == list(model.predict(people))
    assert found.certified.mean() > 0.5
    others = found.others.to_pandas()[list(people.columns)]
    decided = model.predict(others[found.violated])
    assert (decided != found.prediction[found.violated]).all()
