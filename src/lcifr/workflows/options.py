"""Options of commands as typed fields of requests: the command line, pages, settings and keyword arguments share them.

A request is a frozen dataclass whose fields are made by :func:`option`: each states its default, help and limits once.
:mod:`lcifr.cli.options` makes a command of it. Imports nothing heavy: ``lcifr COMMAND --help`` shows these texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.learn.parameters import AUTO, BOOSTER, ENCODER, HELD_OUT_SHARE, Learner, parameters
from lcifr.models.arithmetic import Arithmetic

if TYPE_CHECKING:
    from lcifr.workflows.executors import Workers

REQUIRED: Any = MISSING
"""In place of a default: the option must be given."""
END = "*"
"""``before`` of options that are listed after all others."""

# One option


@dataclass(frozen=True)
class Spelling:
    """How a value is written on a command line, where that is not how Python has it.

    Parameters
    ----------
    metavar : what help shows in its place. read : text to value, with an error that names the option.
    write : the default as text; None where it is left out. is_list : whether the option may be repeated; ``read`` then
        takes all of its texts.
    """

    metavar: str
    read: Callable[[Any], Any]
    write: Callable[[Any], str] | None = None
    is_list: bool = False


@dataclass(frozen=True)
class Option:
    """What is known of an option, besides its default and type.

    Parameters
    ----------
    help : what it does, in a sentence. name : without dashes, if it is not the field's; negative : of a flag, the name
        that turns it off. metavar : what stands for its value; panel : the heading that it is listed under.
    least, most : the ends of what is allowed. is_finite : whether infinity and NaN are refused by name.
    choices : all values, if there are few; ``none`` stands for None. spelling : see :class:`Spelling`.
    variable : of the environment, whose value is the default. is_argument : whether it has a place instead of a name.
    is_needed : of an argument that a request may do without, whether the command line may not.
    before : the field that it is listed before; fields are listed in their order otherwise.
    family : the only family of learners that it is about.
    """

    help: str
    name: str = ""
    negative: str = ""
    metavar: str = ""
    panel: str = ""
    least: float | None = None
    most: float | None = None
    is_finite: bool = False
    choices: tuple[str, ...] = ()
    spelling: Spelling | None = None
    variable: str = ""
    is_argument: bool = False
    is_needed: bool = False
    before: str = ""
    family: str = ""


def option(default: Any, help: str, **known: Any) -> Any:
    """A field of a request; see :class:`Option`. ``default`` : :data:`REQUIRED` for none."""
    about = {"option": Option(help, **known)}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=about)
    return field(default=default, metadata=about)


def argument(metavar: str, help: str, default: Any = REQUIRED, **known: Any) -> Any:
    """A field of a request that is an argument on the command line: it has a place instead of a name."""
    return option(default, help, metavar=metavar, is_argument=True, **known)


def learned(learner: Any, name: str, **known: Any) -> Any:
    """A field of a request that is a hyper-parameter, as :mod:`lcifr.learn.parameters` states it."""
    one = parameters(learner)[name]
    limits = {"least": one.offered if one.is_open else one.least, "most": one.most}
    if isinstance(one.default, float):
        limits = {end: None if value is None else float(value) for end, value in limits.items()}
    return option(getattr(learner, name), one.help, **{**limits, "is_finite": one.most is None, **known})


def options_of(*kinds: Any) -> dict[str, Field[Any]]:
    """The fields of requests that are options, by name, in the order in which help lists them."""
    found = [one for kind in kinds for one in fields(kind) if "option" in one.metadata]
    for one in [one for one in found if one.metadata["option"].before]:
        found.remove(one)
        names = [other.name for other in found]
        before = one.metadata["option"].before
        found.insert(len(found) if before == END else names.index(before), one)
    return {one.name: one for one in found}


def option_name(one: Field[Any]) -> str:
    """An option as it is written, such as ``--held-out``."""
    return f"--{one.metadata['option'].name or one.name.replace('_', '-')}"


# How values are written that are no numbers, names or paths


def list_text(values: Iterable[float]) -> str:
    """(20, 20) as ``"20,20"``: how lists are written as an option."""
    return ",".join(f"{one:g}" for one in values)


def widths_of(text: str) -> tuple[int, ...]:
    """``"20,20"`` as (20, 20); empty text is no layer."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise LcifrError(
            f"--hidden {text!r} is not a list of widths", fix='write whole numbers above 0, such as "20" or "50,50"'
        )
    return tuple(int(word) for word in words)


def weights_of(text: str) -> tuple[float, ...]:
    """``"10,1"`` as (1.0, 10.0)."""
    try:
        found = [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(0 <= one < 1e9 for one in found):
        raise LcifrError(
            f"--gammas {text!r} is not a list of weights", fix="write numbers of at least 0, such as 0.1,1,10"
        )
    return tuple(sorted(set(found)))


def pairs_of(text: str) -> int | str:
    """``"10"`` as 10; ``"auto"`` stays."""
    if text == AUTO:
        return text
    if not text.isdecimal():
        raise LcifrError(f"--interactions {text!r} is no number of pairs", fix="0, a whole number above it, or auto")
    return int(text)


def labels_of(given: Iterable[str] | None) -> dict[str, str]:
    """``["0=refused,1=granted"]`` as ``{"0": "refused", "1": "granted"}``; a class may contain ``=``."""
    fix = "write CLASS=NAME,CLASS=NAME, such as --labels 0=refused,1=granted"
    found: dict[str, str] = {}
    for entry in (one for text in given or () for one in re.split(r",(?=[^,]*=)", text)):
        decision, equals, name = (part.strip() for part in entry.rpartition("="))
        if not (decision and equals and name):
            raise LcifrError(f"--labels: {entry!r} does not say what to call a decision", fix=fix)
        if decision in found:
            raise LcifrError(f"--labels names the decision {decision!r} twice", fix=fix)
        found[decision] = name
    return found


def groups_of(same: Iterable[str] | None) -> tuple[tuple[str, ...], ...]:
    """``["a,b"]`` as (("a", "b"),)."""
    return tuple(tuple(name.strip() for name in one.split(",") if name.strip()) for one in same or ())


def classes_of(text: str) -> tuple[str, ...]:
    """``"a,b"`` as ("a", "b"); empty text is no class."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


WIDTHS = Spelling("N,N,…", widths_of, list_text)
WEIGHTS = Spelling("N,N,…", weights_of, list_text)
PAIRS = Spelling("N|auto", pairs_of, str)
CLASSES = Spelling("CLASS,CLASS,…", classes_of)
LABELS = Spelling("CLASS=NAME,…", labels_of, is_list=True)
GROUPS = Spelling("CLASS,CLASS,…", groups_of, is_list=True)


# Options that several commands share


ABOUT_TREES: dict[str, Any] = {"panel": "Trees only", "family": Learner.TREES}
YOUR_MODEL = "A model of your own"
ABOUT_MODEL: dict[str, Any] = {"panel": YOUR_MODEL}
SIMILAR = "Who counts as similar: a .phi file or a ready-made formula."
LEARNERS = "network: an encoder; z mixes attributes. trees: boosted step functions; z is one score per attribute."
COMPUTED = "Verdicts hold in exact arithmetic, or on any float64 or float32 machine (not TF32, bfloat16, quantised)."
TOLERANCE = "For regression: predictions closer than this count as the same decision."
PRODUCER = "The folder that `lcifr produce` wrote."
CONSUMER = "The folder that `lcifr consume` wrote."


def id_option(help: str = "The column of ids. (Default: row numbers, from 0.)") -> Any:
    """The column of ids."""
    return option(None, help, name="id", metavar="COLUMN")


def arithmetic_option(default: str | None = Arithmetic.FLOAT64.value, **known: Any) -> Any:
    """The arithmetic in which a model is computed; None for that of the model itself."""
    own = "" if default else " (Default: float64; for a model of your own, its own format.)"
    return option(default, COMPUTED + own, choices=tuple(map(str, Arithmetic)), **known)


def schema_option(**known: Any) -> Any:
    """The schema."""
    text = "The schema: a .toml file. (Default: the .toml next to the .phi, else inferred.)"
    return option(None, text, metavar="FILE|NAME", **known)


def labels_option(**known: Any) -> Any:
    """What decisions are called."""
    text = "What to call the decisions in output and reports, such as 0=refused,1=granted."
    return option({}, text, spelling=LABELS, **known)


def phi_option(**known: Any) -> Any:
    """φ, where folders of lcifr have one of their own."""
    return option(None, f"{SIMILAR} (Default: the producer's.)", metavar="FILE|NAME", **known)


def sample_option() -> Any:
    """How many people of a table are used."""
    return option(None, "Use this many people of TABLE, drawn at random. (Default: all.)", least=1)


def class_weight_option(**known: Any) -> Any:
    """How much each class counts in training."""
    text = "balanced: rare classes count as much as frequent ones. Not for regression."
    return option(None, text, choices=("none", "balanced"), **known)


def on_option() -> Any:
    """What a consumer's certificates are proved on."""
    text = "Prove on each person's ball, as in the paper, or on the tighter box. "
    return option(None, text + "(Default: ball; for a hand-over of trees, box.)", choices=("ball", "box"))


def model_option() -> Any:
    """The file of a model that was not trained by lcifr."""
    return option(None, "The model file: ONNX, skops, XGBoost or LightGBM.", metavar="FILE", panel=YOUR_MODEL)


def describe_option(**known: Any) -> Any:
    """The description of a model file."""
    text = "Describes the model's inputs and outputs. (Default: the .toml next to the model.)"
    return option(None, text, metavar="TOML", **known)


def missing_option() -> Any:
    """What stands for a missing value in an XGBoost file."""
    text = "For XGBoost files: the number that stands for a missing value. (Default: from --describe, else NaN.)"
    return option(None, text, metavar="NUMBER", panel=YOUR_MODEL)


def threshold_option() -> Any:
    """The cut-off of a probability at which a binary classifier is deployed."""
    text = "Decide for the second class where its probability is at least this. (Default: from --describe or the file.)"
    return option(None, text, metavar="PROBABILITY", panel=YOUR_MODEL)


def score_threshold_option() -> Any:
    """The cut-off of a score at which a binary classifier is deployed."""
    return option(None, "The same for the model's score, before any link function.", metavar="SCORE", panel=YOUR_MODEL)


@dataclass(frozen=True)
class DeclaredByOption:
    """What options say of a model file that the file does not: each None where nothing is said.

    Parameters
    ----------
    missing : the number that stands for a missing value. threshold, score_threshold : the least probability, or score,
        at which the second class is decided for.
    """

    missing: float | None = None
    threshold: float | None = None
    score_threshold: float | None = None

    @classmethod
    def of(cls, request: Any) -> DeclaredByOption:
        """Those of a request that has these options."""
        return cls(**{one.name: getattr(request, one.name) for one in fields(cls)})

    def words(self) -> tuple[str, ...]:
        """The options that are given."""
        given = (one.name for one in fields(self) if getattr(self, one.name) is not None)
        return tuple(f"--{name.replace('_', '-')}" for name in given)


def _of_network(name: str, **known: Any) -> Any:
    return learned(ENCODER, name, family=Learner.NETWORK, **known)


def _of_trees(name: str, **known: Any) -> Any:
    return learned(BOOSTER, name, **ABOUT_TREES, **known)


@dataclass(frozen=True, kw_only=True)
class OutOptions:
    """Where the results go: a new folder, or one that lcifr wrote and may replace."""

    out: Path = option(REQUIRED, "The new folder for the results.", metavar="FOLDER")
    force: bool = option(False, "Replace existing results.", before=END)


@dataclass(frozen=True, kw_only=True)
class ChunkOptions:
    """How work on many people is divided on this machine."""

    workers: int | None = option(
        None, "Number of processes. (Default: one per core, if that pays off.)", least=1, before=END
    )
    chunk: int | None = option(
        None,
        "People per chunk; a stopped run loses at most one per process. (Default: 32 to 256; large tables 8192.)",
        least=1,
        before=END,
    )

    @property
    def crew(self) -> Workers:
        """The processes, or the cluster, that work on the people."""
        return self.workers


@dataclass(frozen=True, kw_only=True)
class RunOptions(ChunkOptions):
    """Which machines work on many people; checked as the request is made."""

    executor: str = option(
        "local", "Run on processes of this machine, or on a Ray cluster.", choices=("local", "ray"), before="chunk"
    )
    address: str | None = option(
        None,
        "The Ray cluster: auto, or HOST:PORT. (Default: $RAY_ADDRESS, else start Ray here.)",
        metavar="ADDRESS",
        before="chunk",
    )
    device: str = option(
        "cpu",
        "Where bounds are computed before any search: cuda is a GPU, auto one if there is.",
        choices=("cpu", "cuda", "auto"),
        before="chunk",
    )

    def __post_init__(self) -> None:
        from lcifr.workflows.executors import job_device

        job_device(self.device, self.crew)

    @property
    def crew(self) -> Workers:
        """The processes, or the cluster, that work on the people."""
        from lcifr.workflows.executors import workers_of

        return workers_of(self.executor, self.workers, self.address)


@dataclass(frozen=True, kw_only=True)
class HandoverOptions(OutOptions):
    """What a hand-over contains of people and of φ, and where it goes."""

    id_column: str | None = id_option()
    share_formula: bool = option(
        True,
        "Whether the hand-over includes φ, schema and scales.",
        negative="withhold-formula",
        before="bundle",
    )


@dataclass(frozen=True, kw_only=True)
class LearningOptions(HandoverOptions, ChunkOptions):
    """From which people a producer learns, and how, whatever the weight of certification."""

    table: str = argument("TABLE", "The people: a .csv or .parquet file, or the name of a dataset.")
    phi: str = option(REQUIRED, SIMILAR, metavar="FILE|NAME", before="out")
    target: str | None = option(
        None, "The column to predict. (Default: from the schema.)", metavar="COLUMN", before="id_column"
    )
    schema: str | None = schema_option(before="id_column")
    sample: int | None = sample_option()
    held_out: float = option(HELD_OUT_SHARE, "Share of people to hold out from training.", least=0.01, most=0.9)
    learner: str = option("network", LEARNERS, choices=("network", "trees"))
    stretch: float = learned(ENCODER, "stretch")
    decoder_weight: float = _of_network("decoder_weight")
    class_weight: str | None = class_weight_option()
    whole_numbers: bool = option(
        False, "Integer attributes take whole numbers only, so that more people are certified."
    )
    latent: int = _of_network("latent_dim")
    hidden: tuple[int, ...] = _of_network("hidden", spelling=WIDTHS)
    epochs: int = _of_network("epochs")
    batch: int = _of_network("batch_size")
    rounds: int = _of_trees("rounds")
    learning_rate: float = _of_trees("learning_rate")
    max_bins: int = _of_trees("max_bins")
    min_people: int = _of_trees("min_people")
    subsample: float = _of_trees("subsample")
    interactions: int | str = _of_trees("interactions", spelling=PAIRS)
    depth: int = _of_trees("depth")
    bags: int = _of_trees("bags")
    rising: tuple[str, ...] = option(
        (), "The score must not fall as this number rises. Repeatable.", metavar="COLUMN", **ABOUT_TREES
    )
    falling: tuple[str, ...] = option(
        (), "The score must not rise as this number rises. Repeatable.", metavar="COLUMN", **ABOUT_TREES
    )
    bundle: bool = option(True, "Write the proofs for `lcifr check`.", negative="no-bundle")
    arithmetic: str = arithmetic_option()
    seed: int = option(0, "Seed for splits and training; the same seed gives the same run.", least=0, before="force")

    @property
    def monotone(self) -> dict[str, int]:
        """Attributes whose score rises (1) or falls (-1), as boosters take them."""
        return {**dict.fromkeys(self.rising, 1), **dict.fromkeys(self.falling, -1)}

    def __post_init__(self) -> None:
        if both := set(self.rising) & set(self.falling):
            raise LcifrError(f"--rising and --falling both name {min(both)}", fix="leave one of them out")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """A model file of another library, and what its columns mean."""

    model: Path | None = model_option()
    describe: Path | None = describe_option(**ABOUT_MODEL)
    missing: float | None = missing_option()
    threshold: float | None = threshold_option()
    score_threshold: float | None = score_threshold_option()
    schema: str | None = schema_option(**ABOUT_MODEL)
    target: str | None = option(
        None, "The column of true labels, for accuracy. (Default: from the schema.)", metavar="COLUMN", **ABOUT_MODEL
    )
    id_column: str | None = id_option()
    accept_draft: bool = option(False, "Go on with a description that is still marked `draft = true`.", **ABOUT_MODEL)
    accept_accuracy: bool = option(
        False, "Go on with a model whose score ranks the true labels backwards.", **ABOUT_MODEL
    )


@dataclass(frozen=True, kw_only=True)
class SubjectOptions(ModelOptions, OutOptions):
    """What is audited, certified or swept: a model file with φ, or the folders of a producer and a consumer."""

    producer: Path | None = None
    consumer: Path | None = None
    phi: str | None = phi_option()
    reference: Path | None = option(
        None,
        "The table that supplies the standard deviations in φ, such as the training table. (Default: TABLE.)",
        metavar="TABLE",
        before="accept_draft",
        **ABOUT_MODEL,
    )
    tolerance: float | None = option(None, TOLERANCE, least=0.0, before="accept_draft", **ABOUT_MODEL)
    groups: tuple[tuple[str, ...], ...] = option(
        (),
        "Classes that count as one decision. Repeatable.",
        name="same",
        spelling=GROUPS,
        before="accept_draft",
        **ABOUT_MODEL,
    )
    arithmetic: str | None = arithmetic_option(None, before="workers")
    labels: Mapping[Any, str] = labels_option(before="chunk")

    @property
    def unused(self) -> tuple[str, ...]:
        """Fields that mean nothing for what this request is about; settings leave them out."""
        if self.model is not None:
            return "producer", "consumer"
        return tuple(name for name, one in options_of(self).items() if one.metadata["option"].panel == YOUR_MODEL)

    def __post_init__(self) -> None:
        """Refuse options of a model file without one, and folders of lcifr beside one."""
        known = {one.name: one for one in fields(self)}
        for name in self.unused:
            if getattr(self, name) == known[name].default:
                continue
            if self.model is None:
                raise LcifrError(f"{option_name(known[name])} works only with --model", fix="add --model FILE")
            raise LcifrError(
                f"--model takes one TABLE, and no folder of a producer or consumer; found {getattr(self, name)}",
                fix=f"leave out --model, or {name}",
            )
        if self.model is not None and self.phi is None:
            raise LcifrError(
                "--phi is missing: it says who counts as similar", fix="add --phi FILE; `lcifr init TABLE` drafts one"
            )

    def files(self, **more: Path | None) -> dict[str, Path]:
        """Files and folders that are read, by argument; ``more`` : those of one command."""
        from lcifr.models.description import description_beside
        from lcifr.workflows.people import is_table

        beside = None if self.model is None else description_beside(self.model)
        named = {"producer": self.producer, "consumer": self.consumer, "model": self.model, **more}
        named |= {"describe": self.describe or beside, "reference": self.reference}
        named |= {
            name: None if text is None else Path(text) for name, text in (("phi", self.phi), ("schema", self.schema))
        }
        return {name: path for name, path in named.items() if path is not None and is_table(path)}
