"""The command line of a request: one option or argument from each of its fields; and options of several commands."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from lcifr.cli.output import JsonOption, is_asked, print_json, words_of
from lcifr.errors import LcifrError
from lcifr.learn.parameters import Learner
from lcifr.workflows.options import YOUR_MODEL, Option, option_name, options_of

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

    def run(self, *words: str) -> None:
        """Run another command in the place of this one."""
        self._context.find_root().command.main(list(words), prog_name="lcifr")

    def print(self, result: Any, show: Callable[..., None], *more: Any) -> None:
        """A result on stdout: as JSON, or as ``show(result, *more)`` prints it for people."""
        if self.as_json:
            print_json(result.to_dict())
        else:
            show(result, *more)


def request_command(
    app: typer.Typer,
    *kinds: Any,
    name: str | None = None,
    epilog: str = "",
    arrange: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function that takes a request of each of these kinds and the :class:`Call`.

    Its options are the fields of the requests, ordered by ``options_of``, and ``--json``.

    Parameters
    ----------
    arrange : from what was given, by field, to the values of the requests; for arguments whose meaning depends on
        options.
    """

    def register(work: Callable[..., None]) -> Callable[..., None]:
        def run(context: typer.Context, as_json: bool, **given: Any) -> None:
            values = arrange(given)
            work(*(_request(kind, values) for kind in kinds), Call(context, as_json))

        offered: dict[str, Any] = {"context": (typer.Context, MISSING)}
        hints = {each: hint for kind in kinds for each, hint in get_type_hints(kind).items()}
        offered |= {each: _typed(one, hints[each]) for each, one in options_of(*kinds).items()}
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
    default = None if one.default_factory is not MISSING else MISSING if known.is_needed else one.default
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
    asked = {one.name: (one.metadata.get("option"), given.get(one.name)) for one in fields(kind)}
    return kind(**{name: _value(*one) for name, one in asked.items() if one[1] not in (None, [], ())})


def _value(known: Option | None, given: Any) -> Any:
    if known is not None and known.spelling is not None:
        return known.spelling.read(given)
    if known is not None and known.choices:
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


# What a command refuses because of other options, or of what its arguments are.


def refuse_without_model(request: Any) -> None:
    """Options that only mean something with ``--model``."""
    for name, one in options_of(request).items():
        if one.metadata["option"].panel == YOUR_MODEL and getattr(request, name) != one.default:
            raise LcifrError(f"{option_name(one)} works only with --model", fix="add --model FILE")


def table_of_model(command: str, first: str, table: str, *others: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What the arguments of a command are: with ``--model`` there is one, the table.

    Parameters
    ----------
    first : the field of the first argument without ``--model``. table : its field with it. others : fields that mean
        nothing with it.
    """

    def arrange(given: dict[str, Any]) -> dict[str, Any]:
        if given["model"] is None:
            return given
        if any(given[name] is not None for name in others):
            raise LcifrError(
                f"--model takes one TABLE, and no folder of a producer or consumer; found {given[first]} and more",
                fix=f"lcifr {command} people.csv --model model.onnx --phi people.phi --out OUT",
            )
        return given | {first: None, table: given[first]}

    return arrange


def need_second(command: str, first: Path | None, second: Path | None, arguments: str) -> None:
    """Without ``--model``: refuse one argument alone, of which nothing says what it is.

    Parameters
    ----------
    arguments : both, as the command's usage calls them, such as ``PRODUCER CONSUMER``.
    """
    if first is not None and second is None:
        raise LcifrError(
            f"{first}: an argument is missing after it",
            fix=f"lcifr {command} TABLE --model FILE --phi FILE --out OUT, or lcifr {command} {arguments} --out OUT",
        )
