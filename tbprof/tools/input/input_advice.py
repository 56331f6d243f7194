"""Advice on an input pipeline: what to do about each kind of work, judged by what was recorded."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tbprof.advice.input.input_facts import CATEGORIES, Facts, dominant_category, find_facts
from tbprof.advice.tf_data.tf_data_judgement import Judgement, in_order
from tbprof.advice.tf_data.tf_data_pipelines import is_bound
from tbprof.analysis.input.input_ops import NO_CATEGORY, InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory, stage_name
from tbprof.base.records import dataclass
from tbprof.base.values import sum_of
from tbprof.tools.datatable import Table, boolean, number, text

_GUIDE = (
    "Better performance with the tf.data API",
    "https://www.tensorflow.org/guide/data_performance",
)
_ANALYSIS = (
    "Analyze tf.data performance",
    "https://www.tensorflow.org/guide/data_performance_analysis",
)
_DATA = ("tf.data: build input pipelines", "https://www.tensorflow.org/guide/data")
_TRANSFER = (
    "tf.data.experimental.prefetch_to_device",
    "https://www.tensorflow.org/api_docs/python/tf/data/experimental/prefetch_to_device",
)
_GRAIN = ("Grain", "https://google-grain.readthedocs.io/")
_DEVICE_PUT = ("jax.device_put", "https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html")

# That of a pipeline of which the stages are not known.
_OTHERWISE = InputCategory.PREPROCESSING
# A transfer this short is mostly the cost of starting one.
_SMALL_TRANSFER_US = 100.0


@dataclass(frozen=True, slots=True)
class _Advice:
    """One piece: `applies` tells whether it is to the point, given the facts."""

    category: InputCategory
    title: str
    advice: Callable[[Facts], str]
    guide: tuple[str, str]
    applies: Callable[[Facts], bool] = lambda _facts: True


def _says(advice: str) -> Callable[[Facts], str]:
    return lambda _facts: advice


_ADVICE = (
    _Advice(
        InputCategory.ENQUEUE,
        "Send fewer and larger pieces",
        lambda facts: (
            f"{facts.transfer} ran {facts.transfers} times, {facts.transfer_us:.0f} µs each on "
            "average. Many small transfers cost more than few large ones: put the tensors of a "
            "step into one batch, and send constants once."
        ),
        _GUIDE,
        lambda facts: facts.transfers > 1 and facts.transfer_us < _SMALL_TRANSFER_US,
    ),
    _Advice(
        InputCategory.ENQUEUE,
        "Transfer while the device computes",
        _says(
            "Let the next batch go to the device during the current step: end the pipeline with "
            "prefetch_to_device, or let a strategy distribute the dataset."
        ),
        _TRANSFER,
        lambda facts: facts.has_tf_data or not facts.has_jax,
    ),
    _Advice(
        InputCategory.ENQUEUE,
        "Put the next batch on the device early",
        _says(
            "jax.device_put returns before the copy is done: call it for the next one or two "
            "batches before the current step is awaited, instead of passing NumPy arrays to the "
            "step."
        ),
        _DEVICE_PUT,
        lambda facts: facts.has_jax,
    ),
    _Advice(
        InputCategory.ENQUEUE,
        "Send small types",
        _says(
            "Transfer images and labels in the type that they are stored in (uint8, int32), and "
            "cast and normalise on the device."
        ),
        _GUIDE,
    ),
    _Advice(
        InputCategory.UNKNOWN,
        "Use tf.data or another instrumented loader",
        _says(
            "Time of loaders in plain Python cannot be split further. With tf.data the stages of "
            "the pipeline show here, and run in threads of their own."
        ),
        _DATA,
        lambda facts: not facts.has_tf_data,
    ),
    _Advice(
        InputCategory.UNKNOWN,
        "Load in other processes",
        _says(
            "For JAX, tf.data and Grain load and transform data outside of the thread that "
            "dispatches steps; keep one or two batches on the device ahead with jax.device_put."
        ),
        _GRAIN,
        lambda facts: facts.has_jax,
    ),
    _Advice(
        InputCategory.UNKNOWN,
        "Measure the input alone",
        _says(
            "Iterate over the pipeline without a model to learn its own rate, and run the model "
            "on one batch again and again to learn the rate that it could have."
        ),
        _ANALYSIS,
        lambda facts: not facts.has_tf_data,
    ),
)


class _Row(NamedTuple):
    category: InputCategory
    title: str
    advice: str
    guide: tuple[str, str]


def advice_table(
    ops: InputOps, judgements: Sequence[Judgement], *, is_waited_for: bool = True
) -> Table:
    """Advice by category; only what is to the point, that on what holds the program up first.

    On a tf.data pipeline it is what the page of tf.data says of the worst one. Where steps wait for
    input (`is_waited_for`), sending data has advice if that was recorded; what holds for all
    programs is under the last category. `ms` is
    the work of a category, `share` its percentage of that of all (null without any). `is_dominant`
    is the category of what holds the program up, or else that with most work.
    """
    work = {category: ops.work_of(category) for category, _, _ in CATEGORIES}
    whole = sum_of(work.values())
    names = {category: (id_, label) for category, id_, label in CATEGORIES}
    on_pipeline = _on_pipeline(ops, judgements[0]) if judgements else []
    is_bound_by = bool(judgements) and is_bound(judgements[0].severity)
    dominant = on_pipeline[0].category if is_bound_by else dominant_category(ops)
    facts = find_facts(ops)
    general = [
        _Row(one.category, one.title, one.advice(facts), one.guide)
        for one in _ADVICE
        if is_waited_for
        and (work[one.category] or one.category == InputCategory.UNKNOWN)
        and one.applies(facts)
    ]
    rows = sorted(
        (*on_pipeline, *general),
        key=lambda one: (one.category != dominant, -work[one.category], int(one.category)),
    )
    of = [one.category for one in rows]
    share = [100.0 * work[category] / whole if whole else np.nan for category in of]
    return Table(
        (
            text("category", "Category id", [names[category][0] for category in of]),
            text("label", "Category", [names[category][1] for category in of]),
            number("ms", "Work (ms)", np.array([work[category] / 1e9 for category in of])),
            number("share", "Share of work (%)", np.array(share, np.float64)),
            boolean(
                "is_dominant",
                "What to begin with",
                np.array([category == dominant for category in of], np.bool_),
            ),
            text("title", "What", [one.title for one in rows]),
            text("advice", "Advice", [one.advice for one in rows]),
            text("guide_title", "Guide", [one.guide[0] for one in rows]),
            text("guide_url", "Guide URL", [one.guide[1] for one in rows]),
        )
    )


def _on_pipeline(ops: InputOps, worst: Judgement) -> list[_Row]:
    """What is said of a tf.data pipeline, by the category of the stage that it is about."""
    categories = {
        stage_name(name): InputCategory(category)
        for name, category in zip(ops.name, ops.category.tolist(), strict=True)
        if category != NO_CATEGORY
    }
    usual = categories.get(worst.usual.long_name if worst.usual else "", _OTHERWISE)
    return [
        _Row(
            categories.get(one.stage.long_name, usual) if one.stage is not None else usual,
            one.title,
            one.action,
            (_ANALYSIS[0] if one.guide_url == _ANALYSIS[1] else "Guide", one.guide_url),
        )
        for one in in_order(worst.advice)
    ]
