"""Formats of model files, recognised by their content: a suffix is what somebody called the file."""

from __future__ import annotations

import re
import zipfile
from enum import StrEnum
from pathlib import Path

from lcifr.errors import NetworkError, no_such_file

LOOKED_AT = 4096
"""Bytes at the beginning of a file; enough for every format."""


class ModelFormat(StrEnum):
    """What a model file is."""

    ONNX = "ONNX"
    SKOPS = "skops"
    XGBOOST = "XGBoost"
    LIGHTGBM = "LightGBM"


TO_SKOPS = """convert it where you trust it, and give the new file; joblib.load reads plain pickles too:
     import joblib, skops.io
     skops.io.dump(joblib.load("{path}"), "{stem}.skops")"""
TO_ONNX = """export it where you trust it, and give the new file:
     import torch
     torch.onnx.export(module.eval(), torch.zeros(1, INPUTS), "{stem}.onnx", dynamo=True, external_data=False)"""

CATBOOST_TO_ONNX = """export it where you trust it, and give the new file:
     model.save_model("{stem}.onnx", format="onnx")"""

PICKLE_SUFFIXES = (".pkl", ".pickle", ".joblib", ".sav", ".p", ".dill", ".cloudpickle")
OLD_PICKLE = re.compile(rb"\(?[cil][\w.]+\n[\w.]+\n")
"""How protocols 0 and 1 begin, which have no mark of their own: with the name of what is to be called."""
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"\x04\x22\x4d\x18")
"""How gzip, bzip2, xz, zlib and LZ4 begin: what joblib compresses with."""


def recognise(path: Path) -> ModelFormat:
    """The format of a file.

    Raises
    ------
    NetworkError
        For a pickle, which is a program and is never run here, with the lines that convert it; for anything else that
        is no model, with the list of what is.
    """
    if path.is_dir():
        raise NetworkError(
            f"{path} is a folder, not the file of a model",
            fix="what lcifr learned is audited with `lcifr audit PRODUCER CONSUMER`",
        )
    try:
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
    except FileNotFoundError:
        raise no_such_file(path) from None
    if zipfile.is_zipfile(path):
        return _recognise_archive(path)
    _refuse_catboost(path, head)
    _refuse_pickle(path, head)
    if (head.startswith(b"tree\n") and b"version=" in head) or _is_dumped_lightgbm(head):
        return ModelFormat.LIGHTGBM
    if re.match(rb"\{\s*\"(learner|version)\"", head) or re.match(rb"\{[Li].{1,16}(learner|version)", head, re.DOTALL):
        return ModelFormat.XGBOOST
    if _is_onnx(head) or (head and path.suffix.lower() == ".onnx"):  # whose reader says what is wrong with it
        return ModelFormat.ONNX
    raise NetworkError(
        f"{path} is not a model that lcifr can read: {'an empty file' if not head else 'an unknown format'}",
        fix=f"give one of {', '.join(ModelFormat)}; {_hint(path)}",
    )


def _recognise_archive(path: Path) -> ModelFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        raise NetworkError(
            f"{path} is a zip archive that cannot be read: {problem}", fix="get the file again"
        ) from None
    if "schema.json" in names:
        return ModelFormat.SKOPS
    if any(name.endswith("data.pkl") for name in names):
        raise NetworkError(
            f"{path} was written by torch.save, which is a pickle: reading it would run what is in it",
            fix=TO_ONNX.format(stem=path.stem),
        )
    raise NetworkError(f"{path} is a zip archive, but not one of skops: there is no schema.json in it", fix=_hint(path))


def _refuse_pickle(path: Path, head: bytes) -> None:
    pickled = len(head) > 1 and head[0] == 0x80 and head[1] <= 5  # PROTO and its version
    compressed = head.startswith(COMPRESSED)
    named = path.suffix.lower() in PICKLE_SUFFIXES and not _is_onnx(head)
    old = named or OLD_PICKLE.match(head) is not None
    if pickled or compressed or old:
        what = "a compressed file, such as joblib writes" if compressed and not pickled else "a pickle or joblib file"
        raise NetworkError(
            f"{path} is {what}: reading it would run whatever is in it, so it is not read",
            fix=TO_SKOPS.format(path=path, stem=path.name.split(".")[0]),
        )


def _refuse_catboost(path: Path, head: bytes) -> None:
    """CatBoost's own formats: its binary one begins with CBM1, its JSON lists features and trees."""
    begun = head.lstrip()
    listed = begun.startswith(b"{") and any(
        re.match(rb'\{\s*"%s"' % key, begun)
        for key in (b"ctr_data", b"features_info", b"model_info", b"oblivious_trees")
    )
    if head.startswith(b"CBM1") or listed:
        raise NetworkError(
            f"{path} is a model of CatBoost in its own format, which lcifr does not read",
            fix=CATBOOST_TO_ONNX.format(stem=path.stem),
        )


def _is_onnx(head: bytes) -> bool:
    """Whether it begins like the protobuf message ModelProto: field 1, the version of the IR, and another field.

    The fields are written in the order of their numbers by all that is known, but need not be.
    """
    if len(head) < 4 or head[0] != 0x08 or not 0 < head[1] < 64:
        return False
    field, wire = head[2] >> 3, head[2] & 7
    return (field, wire) in {(2, 2), (3, 2), (4, 2), (5, 0), (6, 2), (7, 2), (8, 2), (14, 2)}


def _is_dumped_lightgbm(head: bytes) -> bool:
    """JSON of dump_model, whatever the order of its keys."""
    return head.lstrip().startswith(b"{") and any(
        key in head for key in (b'"num_tree_per_iteration"', b'"average_output"')
    )


def _hint(path: Path) -> str:
    return "see docs/audit-your-model.md" if path.suffix != ".h5" else "export a Keras model to ONNX with tf2onnx"
