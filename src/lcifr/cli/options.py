"""The command line of a request: one option or argument from each of its fields; and options of several commands."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable
from dataclasses import MISSING, Field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from lcifr.cli.output import JsonOption, is_asked, print_json, words_of
from lcifr.errors import LcifrError
from lcifr.learn.parameters import Learner
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.executors import Device, Executor
from lcifr.workflows.options import Option, option_name, options_of

if TYPE_CHECKING:
    from lcifr.workflows.options import LearningOptions


def new_app(**settings: Any) -> typer.Typer:
    """The Typer of one module of commands."""
    return typer.Typer(add_completion=False, rich_markup_mode="rich", **settings)


# A command from a request: fields become options, and what is given becomes the request again.


class Call:
    """One call of a command: which options were given, and how its result is printed."""

    def __init__(self, context: typer.Context, as_json: bool) -> None:
        self._context, self.as_json = context, as_json

    @property
    def argv(self) -> tuple[str, ...]:
        """The words after ``lcifr`` that ask for the same again."""
        return words_of(self._context)

    def is_asked(self, name: str) -> bool:
        """Whether a field was given, and not as its default."""
        return is_asked(self._context, name)

    def print(self, result: Any, show: Callable[..., None], *more: Any) -> None:
        """A result on stdout: as JSON, or as ``show(result, *more)`` prints it for people."""
        if self.as_json:
            print_json(result.to_dict())
        else:
            show(result, *more)


def request_command(
    app: typer.Typer, *kinds: Any, name: str | None = None, epilog: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function that takes a request of each of these kinds and the :class:`Call`.

    Its options are the fields of the requests, ordered by ``options_of``, and ``--json``.
    """

    def register(work: Callable[..., None]) -> Callable[..., None]:
        def run(context: typer.Context, as_json: bool, **given: Any) -> None:
            work(*(_request(kind, given) for kind in kinds), Call(context, as_json))

        offered: dict[str, Any] = {"context": (typer.Context, MISSING)}
        for kind in kinds:
            hints = get_type_hints(kind)
            offered |= {each: _typed(one, hints[each]) for each, one in options_of(kind).items()}
        offered["as_json"] = (JsonOption, False)
        run.__annotations__ = {each: hint for each, (hint, _) in offered.items()}
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(each, KEYWORD, default=EMPTY if default is MISSING else default, annotation=hint)
                for each, (hint, default) in offered.items()
            ]
        )
        run.__name__, run.__doc__ = work.__name__, work.__doc__
        app.command(name, epilog=epilog)(run)
        return work

    return register


KEYWORD, EMPTY = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty


def finite(value: float) -> float:
    """Numbers that typer's ranges let through, and that are no number to compute with."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


def _typed(one: Field[Any], hint: Any) -> tuple[Any, Any]:
    """A field as typer has it: an annotated type and a default."""
    known: Option = one.metadata["option"]
    default = None if one.default_factory is not MISSING else one.default
    plain: Any = hint
    if isinstance(hint, types.UnionType):
        plain = next(each for each in get_args(hint) if each is not types.NoneType)
    is_list = get_origin(plain) is tuple
    plain = get_args(plain)[0] if is_list else plain
    if known.spelling is not None:
        plain, is_list = str, known.spelling.is_list
        default = None if known.spelling.write is None else known.spelling.write(default)
    elif known.choices:
        plain = _kind_of_choices(one.name, known.choices)
        default = "none" if default is None and "none" in known.choices else default
        default = default if default is None or default is MISSING else plain(default)
    if is_list:
        plain, default = list[plain], None
    named = () if known.is_argument else (option_name(one) + (f"/--{known.negative}" if known.negative else ""),)
    about = {
        "help": known.help,
        "metavar": known.metavar or (known.spelling.metavar if known.spelling else None),
        "min": known.least if plain in (int, float) else None,
        "max": known.most if plain in (int, float) else None,
        "callback": finite if known.is_finite and plain is float else None,
        "envvar": known.variable or None,
        "rich_help_panel": known.panel or None,
    }
    shown = {"show_default": False} if known.variable else {}
    place: Any = typer.Argument if known.is_argument else typer.Option
    made = place(*named, **{each: value for each, value in about.items() if value is not None}, **shown)
    return Annotated[plain | None if default is None else plain, made], default


def _kind_of_choices(name: str, choices: tuple[str, ...]) -> Any:
    """What typer offers a choice by."""
    return StrEnum(name, {choice: choice for choice in choices})


def _request(kind: Any, given: dict[str, Any]) -> Any:
    """The request that the values of a call ask for; what is not given has its default."""
    said = {name: (one.metadata["option"], given[name]) for name, one in options_of(kind).items()}
    return kind(**{name: _value(*one) for name, one in said.items() if one[1] not in (None, [], ())})


def _value(known: Option, given: Any) -> Any:
    if known.spelling is not None:
        return known.spelling.read(given)
    if known.choices:
        return None if given == "none" else str(given)
    return tuple(given) if isinstance(given, list | tuple) else given


def refuse_other_family(call: Call, request: LearningOptions) -> None:
    """Options that were given, and mean nothing for what learns."""
    for name, one in options_of(request).items():
        family = one.metadata["option"].family
        if family and request.learner not in (family, Learner.BOTH) and call.is_asked(name):
            raise LcifrError(
                f"{option_name(one)} works only with --learner {family}, not with --learner {request.learner}",
                fix=f"leave out {option_name(one)}, or use --learner {family}",
            )


# Options of commands that are not made from a request yet.


class Where(StrEnum):
    """On what a consumer proves."""

    BALL = "ball"
    BOX = "box"


OutOption = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder for the results.")]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE|NAME",
        help="The schema: a .toml file. (Default: the .toml next to the .phi, else inferred.)",
    ),
]
IdOption = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="The column of ids. (Default: row numbers, from 0.)")
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=1, help="Use this many people of TABLE, drawn at random. (Default: all.)"),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
OnOption = Annotated[
    Where | None,
    typer.Option(
        "--on",
        help="Prove on each person's ball, as in the paper, or on the tighter box. "
        "(Default: ball; for a hand-over of trees, box.)",
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Number of processes. (Default: one per core, if that pays off.)")
]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Run on processes of this machine, or on a Ray cluster."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="The Ray cluster: auto, or HOST:PORT. (Default: $RAY_ADDRESS, else start Ray here.)",
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="CLASS=NAME,…",
        help="What to call the decisions in output and reports, such as 0=refused,1=granted.",
    ),
]
DeviceOption = Annotated[
    Device,
    typer.Option("--device", help="Where bounds are computed before any search: cuda is a GPU, auto one if there is."),
]
ChunkOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="People per chunk; a stopped run loses at most one per process. (Default: 32 to 256; large tables 8192.)",
    ),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit 1 if there is a counterexample, 3 if someone is undecided.")
]
FailUnderOption = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Exit as with --strict if less than this share is certified; else exit 0."),
]


# Options and next steps of models that already decide, shared by the commands that take one.

PANEL = "A model of your own"

ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="FILE", help="The model file: ONNX, skops, XGBoost or LightGBM.", rich_help_panel=PANEL
    ),
]
DescribeOption = Annotated[
    Path | None,
    typer.Option(
        "--describe",
        metavar="TOML",
        help="Describes the model's inputs and outputs. (Default: the .toml next to the model.)",
        rich_help_panel=PANEL,
    ),
]
MissingOption = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="NUMBER",
        help="For XGBoost files: the number that stands for a missing value. (Default: from --describe, else NaN.)",
        rich_help_panel=PANEL,
    ),
]
ReferenceOption = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        metavar="TABLE",
        help="The table that supplies the standard deviations in φ, such as the training table. (Default: TABLE.)",
        rich_help_panel=PANEL,
    ),
]
ModelSchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE|NAME",
        help="The schema: a .toml file. (Default: the .toml next to the .phi, else inferred.)",
        rich_help_panel=PANEL,
    ),
]
ModelTargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The column of true labels, for accuracy. (Default: from the schema.)",
        rich_help_panel=PANEL,
    ),
]
ModelToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        min=0.0,
        help="For regression: predictions closer than this count as the same decision.",
        rich_help_panel=PANEL,
    ),
]
SameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--same",
        metavar="CLASS,CLASS,…",
        help="Classes that count as one decision. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
AcceptDraftOption = Annotated[
    bool,
    typer.Option(
        "--accept-draft",
        help="Go on with a description that is still marked `draft = true`.",
        rich_help_panel=PANEL,
    ),
]
AcceptAccuracyOption = Annotated[
    bool,
    typer.Option(
        "--accept-accuracy",
        help="Go on with a model whose score ranks the true labels backwards.",
        rich_help_panel=PANEL,
    ),
]
AnyArithmeticOption = Annotated[
    Arithmetic | None,
    typer.Option(
        "--arithmetic",
        help="Verdicts hold in exact arithmetic, or on any float64 or float32 machine (not TF32, bfloat16, quantised). "
        "(Default: float64; for a model of your own, its own format.)",
    ),
]


def refuse_without_model(**given: Any) -> None:
    """Options that only mean something with ``--model``."""
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            raise LcifrError(f"--{name.replace('_', '-')} works only with --model", fix="add --model FILE")


def one_table(command: str, first: Path, *others: Path | None) -> Path:
    """With ``--model`` there is one argument, the table."""
    if any(one is not None for one in others):
        raise LcifrError(
            f"--model takes one TABLE, and no folder of a producer or consumer; found {first} and more",
            fix=f"lcifr {command} people.csv --model model.onnx --phi people.phi --out OUT",
        )
    return first


def needed_folder(second: Path | None, first: Path, command: str, arguments: str) -> Path:
    """Without ``--model``: the second argument, without which nobody knows what the first one is.

    Parameters
    ----------
    arguments : both, as the command's usage calls them, such as ``PRODUCER CONSUMER``.
    """
    if second is None:
        raise LcifrError(
            f"{first}: an argument is missing after it",
            fix=f"lcifr {command} TABLE --model FILE --phi FILE --out OUT, or lcifr {command} {arguments} --out OUT",
        )
    return second


def needed_formula(phi: str | None) -> str:
    """Who counts as similar, which a model from elsewhere does not say."""
    if phi is None:
        raise LcifrError(
            "--phi is missing: it says who counts as similar", fix="add --phi FILE; `lcifr init TABLE` drafts one"
        )
    return phi
