"""HTTP reranker: servers with a `/rerank` endpoint.

Cohere, Jina, Voyage, vLLM, llama.cpp, Infinity and others take `model`, `query` and `documents` and
return `results` (Voyage: `data`). Hugging Face's Text Embeddings Inference serves one model: it
takes `query` and `texts` and returns a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Any

from ..core.errors import ModelUnavailable
from ..runtime.backoff import RetryPolicy, TransientError, retry_call
from ..runtime.provider_sdk import (
    INVALID_RESPONSE_ERRORS,
    JsonEndpoint,
    RequestRefused,
    replace_surrogates,
)

TIMEOUT_SECONDS = 10.0
TEI_BATCH_SIZE = 32  # default limit of texts per request


class HttpReranker:
    """Reranker at a URL such as https://api.cohere.com/v2/rerank."""

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        patience: RetryPolicy | None = None,
    ) -> None:
        self._endpoint = JsonEndpoint("The reranker", url, api_key=api_key)
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._patience = patience or RetryPolicy(total_seconds=timeout_seconds)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a relevance score per text; raise ModelUnavailable if the server fails."""
        query = replace_surrogates(question)
        scores: list[float] = []
        for batch in self._split_batches([replace_surrogates(text) for text in texts]):
            request = partial(self._request_scores, query, batch)
            scores += retry_call(request, self._patience, ModelUnavailable)
        return scores

    def _split_batches(self, texts: list[str]) -> Iterator[list[str]]:
        """Yield one batch if a model is configured, because its scores may depend on all texts."""
        size = max(1, len(texts)) if self._model else TEI_BATCH_SIZE
        yield from (texts[start : start + size] for start in range(0, len(texts), size))

    def _request_scores(self, question: str, texts: list[str]) -> list[float]:
        body: dict[str, Any] = (
            {"model": self._model, "query": question, "documents": texts}
            if self._model
            else {"query": question, "texts": texts, "truncate": True}
        )
        try:
            answer = self._endpoint.post(body, timeout_seconds=self._timeout_seconds)
            return _parse_scores(answer, len(texts))
        except RequestRefused as refused:
            raise ModelUnavailable(
                f"The reranker refused the request ({refused.status}): check its url, model and"
                " api_key"
            ) from refused
        except INVALID_RESPONSE_ERRORS as error:
            raise TransientError("The reranker sent an answer without scores") from error


def _parse_scores(answer: Any, count: int) -> list[float]:
    """Return the scores in the order of the texts; raise ValueError unless each text has one."""
    rows = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
    scores = {row["index"]: float(row.get("relevance_score", row.get("score"))) for row in rows}
    if len(rows) != count or scores.keys() != set(range(count)):
        raise ValueError(f"expected {count} scores, got {len(rows)}")
    if not all(map(isfinite, scores.values())):
        raise ValueError("a score is not finite")
    return [scores[index] for index in range(count)]
