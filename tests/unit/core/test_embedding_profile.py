"""The range of cosines that the revision of an embedding profile states."""

from __future__ import annotations

import pytest

from nexusmem.core.records import EmbeddingProfile


def profile(revision: str) -> EmbeddingProfile:
    return EmbeddingProfile(provider="p", model="m", dimension=2, revision=revision)


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        ("1", (0, 1)),
        ("2026-01;cosine=0.77..1", (0.77, 1)),
        ("1;cosine=-0.1..0.95;prefix=ab12", (-0.1, 0.95)),
        ("cosine=0.7..1", (0, 1)),  # the name of the revision
        ("1;cosine=1..0.5", (0, 1)),
        ("1;cosine=0.5..0.5", (0, 1)),
        ("1;cosine=0.5..7", (0, 1)),
        ("1;cosine=high", (0, 1)),
    ],
)
def test_range_is_part_of_the_revision(revision: str, expected: tuple[float, float]) -> None:
    assert profile(revision).cosine_range == expected


@pytest.mark.parametrize("cosine", [-0.3, 0.0, 0.123456789, 1.0000001])
def test_cosine_without_range_is_unchanged(cosine: float) -> None:
    assert profile("1").calibrate(cosine) == cosine


def test_cosine_is_mapped_to_its_range() -> None:
    mapped = [profile("1;cosine=0.6..1").calibrate(cosine) for cosine in (-1, 0.6, 0.8, 1, 1.01)]

    assert mapped == pytest.approx([0, 0, 0.5, 1, 1])
