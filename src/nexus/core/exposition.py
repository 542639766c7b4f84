"""Metrics as Prometheus reads them: its text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, groupby

from .metrics import BOUNDS, FAMILIES, Sample, Shape, Snapshot, Timing

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"  # what a server calls it
PREFIX = "nexus_"


def exposition(snapshot: Snapshot) -> str:
    """One block for each family that has something to say."""
    families = groupby(snapshot.samples, key=lambda each: each.name)
    return "".join(line + "\n" for name, some in families for line in _family(name, some))


def _family(name: str, samples: Iterator[Sample]) -> Iterator[str]:
    family, full = FAMILIES[name], PREFIX + name
    yield f"# HELP {full} {_escaped(family.about, quoted=False)}"
    yield f"# TYPE {full} {family.shape}"
    for each in samples:
        if family.shape is Shape.HISTOGRAM and each.timing:
            yield from _timing(full, each.labels, each.timing)
        else:
            yield f"{full}{_labels(each.labels)} {_number(each.value)}"


def _timing(name: str, labels: Mapping[str, str], timing: Timing) -> Iterator[str]:
    """Buckets hold everything up to their bound."""
    bounds = [*map(_number, BOUNDS), "+Inf"]
    for bound, count in zip(bounds, accumulate(timing.counts), strict=True):
        yield f"{name}_bucket{_labels({**labels, 'le': bound})} {count}"
    yield f"{name}_sum{_labels(labels)} {_number(timing.seconds)}"
    yield f"{name}_count{_labels(labels)} {timing.count}"


def _labels(labels: Mapping[str, str]) -> str:
    told = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(text: str, *, quoted: bool = True) -> str:
    plain = text.replace("\\", "\\\\").replace("\n", "\\n")
    return plain.replace('"', '\\"') if quoted else plain


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
