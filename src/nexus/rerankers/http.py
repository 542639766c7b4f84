"""Rerankers behind the usual `/rerank` address.

Cohere, Jina, Voyage, vLLM, llama.cpp, Infinity and others take `model`, `query` and `documents`
and answer with `results` (Voyage: `data`). Hugging Face's Text Embeddings Inference serves one
model, so it is not told which: it takes `query` and `texts` and answers with a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Any

from ..core.errors import ModelUnavailable
from ..providers.extras import UNREADABLE, sendable
from ..providers.retry import Patience, Transient, persist
from ..providers.web import Endpoint, Refused

TIMEOUT_SECONDS = 10.0
TEI_TEXTS = 32  # in a request, unless its operator allows more


class HttpReranker:
    """A reranker at an address, such as https://api.cohere.com/v2/rerank."""

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        patience: Patience | None = None,
    ) -> None:
        self._endpoint = Endpoint("The reranker", url, api_key=api_key)
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._patience = patience or Patience(total_seconds=timeout_seconds)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = sendable(question)
        scores: list[float] = []
        for batch in self._batches([sendable(text) for text in texts]):
            request = partial(self._request, asked, batch)
            scores += persist(request, self._patience, ModelUnavailable)
        return scores

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        """All at once where the texts may be compared with each other."""
        size = max(1, len(texts)) if self._model else TEI_TEXTS
        yield from (texts[start : start + size] for start in range(0, len(texts), size))

    def _request(self, question: str, texts: list[str]) -> list[float]:
        body: dict[str, Any] = (
            {"model": self._model, "query": question, "documents": texts}
            if self._model
            else {"query": question, "texts": texts, "truncate": True}
        )
        try:
            answer = self._endpoint.post(body, timeout_seconds=self._timeout_seconds)
            return _scores(answer, len(texts))
        except Refused as refused:
            raise ModelUnavailable(
                f"The reranker refused the request ({refused.status}): check its url, model and"
                " api_key"
            ) from refused
        except UNREADABLE as error:
            raise Transient("The reranker sent something else than scores") from error


def _scores(answer: Any, count: int) -> list[float]:
    """By the place of each text; every text exactly once."""
    rows = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
    scores = {row["index"]: float(row.get("relevance_score", row.get("score"))) for row in rows}
    if len(rows) != count or scores.keys() != set(range(count)):
        raise ValueError(f"{len(rows)} scores for {count} texts")
    if not all(map(isfinite, scores.values())):
        raise ValueError("a score that is not finite")
    return [scores[place] for place in range(count)]
