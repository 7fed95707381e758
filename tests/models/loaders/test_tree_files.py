"""Files of XGBoost and LightGBM: recognised, read by column names or by a description, compared with their library."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lcifr
from lcifr.data import Categorical, Encoding, Individuals, Schema
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import NetworkError
from lcifr.models.description import DescribedInput, InputKind, ModelDescription
from lcifr.models.loading import load_file
from tests.models.loaders.tree_semantics import CATEGORIES, NUMERIC, TOWNS, table

xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
QUIET = {"n_jobs": 1, "verbose": -1, "min_child_samples": 5}


def saved(kind: str, frame, labels, folder):
    """A fitted model, and the file that its library writes."""
    path = folder / f"model.{kind}"
    if kind == "txt":
        model = lightgbm.LGBMClassifier(n_estimators=8, **QUIET).fit(frame, labels)
        model.booster_.save_model(path)
    else:
        model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1, enable_categorical=True).fit(frame, labels)
        model.save_model(path)
    return model, path


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["json", "ubj", "txt"])
def test_a_file_decides_as_the_model_did(kind, classes, tmp_path):
    frame, labels = table(classes=classes)
    frame = frame[NUMERIC]
    model, path = saved(kind, frame, labels, tmp_path)
    file = load_file(path)
    read = file.read_table(frame, Encoding.fit(frame, Schema.infer(frame)))
    people = Individuals.read(frame, read.encoding.schema)
    assert (read.decide(people) == model.predict(frame)).all()
    assert (read.library_decides(people) == model.predict(frame)).all()
    outline = file.outline()
    assert outline.columns == tuple(NUMERIC)
    assert len(outline.classes) == classes
    assert f"{8 if classes == 2 else 24} trees" in outline.steps[0]


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_an_audit_of_a_file_is_that_of_the_model(kind, tmp_path):
    frame, labels = table()
    frame = frame[NUMERIC]
    model, path = saved(kind, frame, labels, tmp_path)
    similar = lcifr.Similarity("numeric within 0.1 sd", Schema.infer(frame), frame)
    by_file, by_object = (lcifr.audit(one, frame.head(40), similarity=similar) for one in (path, model))
    assert (by_file.verdict == by_object.verdict).all()
    assert by_file.arithmetic == by_object.arithmetic


@pytest.mark.parametrize("kind", ["txt", "json", "ubj"])
def test_categories_that_the_file_keeps(kind, tmp_path):
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model, path = saved(kind, frame, labels, tmp_path)
    plain = frame.astype(dict.fromkeys(CATEGORIES, object))
    read = load_file(path).read_table(plain, Encoding.fit(plain, Schema.infer(plain)))
    people = Individuals.read(plain, read.encoding.schema)
    assert (read.decide(people) == model.predict(frame)).all()
    assert (read.predict(plain) == model.predict(frame)).all()


def test_categories_that_are_numbers_are_kept_as_they_are(tmp_path):
    frame, labels = table(count=300)
    frame["k"] = pd.Categorical(np.random.default_rng(1).choice([3, 7, 10], len(frame)))
    frame = frame[[*NUMERIC, "k"]]
    model, path = saved("json", frame, labels, tmp_path)
    plain = frame.astype({"k": str})
    read = load_file(path).read_table(plain, Encoding.fit(plain, Schema.infer(plain)))
    assert (read.decide(Individuals.read(plain, read.encoding.schema)) == model.predict(frame)).all()


def test_a_matrix_without_names_needs_a_description(tmp_path):
    frame, labels = table()
    matrix = np.column_stack([frame[NUMERIC], frame.sex == "m"])
    model, path = saved("json", matrix, labels, tmp_path)
    encoding = Encoding.fit(frame, Schema.infer(frame))
    with pytest.raises(NetworkError, match="does not say which columns"):
        load_file(path).read_table(frame, encoding)
    inputs = [DescribedInput(InputKind.NUMBER, name) for name in NUMERIC]
    sex = DescribedInput(InputKind.CODE, "sex", codes=(("f", 0.0), ("m", 1.0)))
    read = load_file(path, ModelDescription((*inputs, sex))).read_table(frame, encoding)
    assert (read.decide(Individuals.read(frame, encoding.schema)) == model.predict(matrix)).all()


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_a_description_in_another_order_than_the_names_is_refused(kind, tmp_path):
    """It would be another model, and nobody would notice."""
    frame, labels = table()
    frame = frame[NUMERIC]
    model, path = saved(kind, frame, labels, tmp_path)
    encoding = Encoding.fit(frame, Schema.infer(frame))
    described = ModelDescription(tuple(DescribedInput(InputKind.NUMBER, name) for name in NUMERIC))
    read = load_file(path, described).read_table(frame, encoding)
    assert (read.decide(Individuals.read(frame, encoding.schema)) == model.predict(frame)).all()
    turned = ModelDescription(tuple(DescribedInput(InputKind.NUMBER, name) for name in NUMERIC[::-1]))
    with pytest.raises(NetworkError, match='calls its column 1 "age", its description feeds "score"'):
        load_file(path, turned).read_table(frame, encoding)


@pytest.mark.parametrize("kind", ["json", "ubj", "txt"])
def test_numbers_of_a_float32_table_are_those_that_the_library_finds_there(kind, tmp_path):
    """0.3 in float32 is more than 0.3, and LightGBM splits between them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"rate": rng.choice([0.1, 0.3, 0.7], 300), "age": rng.integers(18, 80, 300)})
    labels = (frame.rate > 0.2).astype(int)
    narrow = frame.astype({"rate": np.float32})
    model, path = saved(kind, narrow, labels, tmp_path)
    if kind == "txt":
        text = path.read_text()
        first = text.index("\nthreshold=") + len("\nthreshold=")
        split = text[first : text.index("\n", first)].split()[0]
        path.write_text(text.replace(f"\nthreshold={split}", "\nthreshold=0.30000000000000004"))
        model = lightgbm.Booster(model_file=path)
    read = load_file(path).read_table(narrow, Encoding.fit(narrow, Schema.infer(narrow)))
    people = Individuals.read(narrow, read.encoding.schema)
    found = np.asarray(model.predict(narrow))
    assert (read.decide(people) == (found > 0.5)).all()
    assert (read.library_decides(people) == (found > 0.5)).all()


@pytest.mark.parametrize("steps", [(), (ProgramStep(Operation.SUBTRACT, StepFormat.FLOAT64, (0.3,)),)])
def test_described_numbers_of_a_float32_table_are_those_that_the_library_finds_there(steps, tmp_path):
    """As without a description: what is deployed takes the float32, and not the decimal that it is printed as."""
    rng = np.random.default_rng(0)
    narrow = pd.DataFrame(
        {"rate": rng.choice([0.1, 0.3, 0.7], 300).astype(np.float32), "age": rng.integers(18, 80, 300)}
    )
    matrix = np.column_stack([narrow.rate.astype(np.float64) - (0.3 if steps else 0.0), narrow.age])
    _, path = saved("txt", matrix, (narrow.rate > 0.2).astype(int), tmp_path)
    text = path.read_text()
    first = text.index("\nthreshold=") + len("\nthreshold=")
    split = text[first : text.index("\n", first)].split()[0]
    other = f"{1e-9 if steps else 0.30000000000000004:.{len(split) - 2}f}"  # as long: the file says where trees begin
    assert len(other) == len(split)
    path.write_text(text.replace(f"\nthreshold={split}", f"\nthreshold={other}"))
    entries = (DescribedInput(InputKind.NUMBER, "rate", steps=steps), DescribedInput(InputKind.NUMBER, "age"))
    read = load_file(path, ModelDescription(entries)).read_table(narrow, Encoding.fit(narrow, Schema.infer(narrow)))
    people = Individuals.read(narrow, read.encoding.schema)
    found = np.asarray(lightgbm.Booster(model_file=path).predict(matrix)) > 0.5
    assert 0 < found.mean() < 1
    assert (read.decide(people) == found).all()
    assert (read.library_decides(people) == found).all()


def test_codes_that_nobody_explains_are_refused(tmp_path):
    frame, labels = table()
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True, n_jobs=1).fit(frame, labels)
    content = json.loads(bytes(model.get_booster().save_raw("json")))
    kept = content["learner"]["gradient_booster"]["model"]
    plain = frame.astype(dict.fromkeys(CATEGORIES, object))
    cut = next(one for one in kept["cats"]["enc"] if one["values"])
    for spoil in (lambda: cut["values"].__setitem__(0, -61), lambda: kept.pop("cats")):  # as 3.2 cuts ä; as 3.0 wrote
        spoil()
        path = tmp_path / "model.json"
        path.write_text(json.dumps(content))
        with pytest.raises(NetworkError, match="which code stands for"):
            load_file(path).read_table(plain, Encoding.fit(plain, Schema.infer(plain)))


def test_a_categorical_column_of_one_value_moves_no_other(tmp_path):
    """LightGBM leaves such a column out of its trees, and keeps its values."""
    frame, labels = table(count=600)
    frame = frame[["age", "sex", "town"]].assign(sex="1")
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model, path = saved("txt", frame, labels, tmp_path)
    plain = frame.astype(dict.fromkeys(CATEGORIES, object))
    schema = Schema((*Schema.infer(plain[["age"]]), Categorical("sex", ("1", "2")), Categorical("town", TOWNS)))
    read = load_file(path).read_table(plain, Encoding.fit(plain, schema))
    assert (read.decide(Individuals.read(plain, read.encoding.schema)) == model.predict(frame)).all()


def test_codes_beside_categories_are_not_taken_for_them(tmp_path):
    """LightGBM keeps the values of pandas categories, and not of whole numbers that are called categorical."""
    frame, labels = table(count=600)
    frame = frame[["age", "town"]].assign(kids=np.arange(600) % 4)[["kids", "age", "town"]]
    frame["town"] = frame["town"].astype("category")
    model = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1).fit(frame, labels, categorical_feature=["kids", "town"])
    model.booster_.save_model(tmp_path / "model.txt")
    plain = frame.astype({"town": object, "kids": str})
    with pytest.raises(NetworkError, match="which code stands for"):
        load_file(tmp_path / "model.txt").read_table(plain, Encoding.fit(plain, Schema.infer(plain)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"indent": 2, "sort_keys": True}])
def test_what_lightgbm_dumps_as_json_is_what_it_saves(options, classes, tmp_path):
    frame, labels = table(count=600, classes=classes)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    frame.loc[::5, "score"] = 0.0
    settings = {**QUIET, "min_data_per_group": 5, "cat_smooth": 1.0, "max_cat_to_onehot": 1, "zero_as_missing": True}
    model = lightgbm.LGBMClassifier(n_estimators=8, **settings).fit(frame, labels)
    model.booster_.save_model(tmp_path / "model.txt")
    (tmp_path / "model.json").write_text(json.dumps(model.booster_.dump_model(), **options))
    plain = frame.astype(dict.fromkeys(CATEGORIES, object))
    encoding = Encoding.fit(plain, Schema.infer(plain))
    saved, dumped = (load_file(tmp_path / name).read_table(plain, encoding) for name in ("model.txt", "model.json"))
    assert dumped.model.identity == saved.model.identity
    assert dumped.encoding.hash == saved.encoding.hash
    assert (dumped.runtime, saved.runtime) == ("", f"lightgbm {lightgbm.__version__}")
    assert "does not read its own JSON" in load_file(tmp_path / "model.json").outline().notes[0]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content["tree_info"][0]["tree_structure"].update(split_feature=99),
        lambda content: content["tree_info"][0]["tree_structure"].update(decision_type="=>"),
        lambda content: content["tree_info"][0]["tree_structure"].pop("left_child"),
        lambda content: content["tree_info"][0]["tree_structure"].update(threshold=None),
        lambda content: content["tree_info"][0]["tree_structure"].update(decision_type="==", threshold="99999999"),
        lambda content: content.update(tree_info=[]),
        lambda content: content.update(objective="lambdarank"),
        lambda content: content.update(num_tree_per_iteration=0),
        lambda content: content.update(feature_infos=None),
    ],
)
def test_json_that_is_no_model_of_lightgbm_is_refused(spoil, tmp_path):
    frame, labels = table()
    content = lightgbm.LGBMClassifier(n_estimators=2, **QUIET).fit(frame[NUMERIC], labels).booster_.dump_model()
    spoil(content)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content))
    with pytest.raises(NetworkError, match=r"LightGBM|objective"):
        load_file(path).read_table(frame[NUMERIC], Encoding.fit(frame[NUMERIC], Schema.infer(frame[NUMERIC])))


def test_a_column_that_is_not_there_is_refused(tmp_path):
    """Counted from the end it would be another one."""
    frame, labels = table()
    _, path = saved("txt", frame[NUMERIC], labels, tmp_path)
    text = path.read_text()
    first = text.index("split_feature=") + len("split_feature=")
    path.write_text(text[:first] + "-1" + text[first + 1 :])
    with pytest.raises(NetworkError, match="a split about column -1"):
        load_file(path).read_table(frame[NUMERIC], Encoding.fit(frame[NUMERIC], Schema.infer(frame[NUMERIC])))
