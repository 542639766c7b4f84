"""A language model whose time is taken."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.models import Completion, LanguageModel, Prompt, Schema
from ..core.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """The same model, in the metrics and in traces."""

    model: LanguageModel
    name: str  # in the settings
    telemetry: Telemetry

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        with self.telemetry.doing("model", asked=self.name) as deed:
            said = self.model.complete(
                prompt, schema=schema, max_tokens=max_tokens, timeout=timeout
            )
            deed.tell(used=said)
            return said

    def close(self) -> None:
        self.model.close()
