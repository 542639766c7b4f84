"""Model budget: record the cost of every model call and enforce a daily budget.

Nexus has no built-in prices, because they change. A model without a configured price costs 0; its
tokens are counted, and `Usage.unpriced` lists it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..core.errors import BadOutput, BudgetSpent
from ..core.ids import WorkspaceId
from ..core.protocols.models import Completion, LanguageModel, Prompt, Schema, TokenUsage
from ..core.records import ModelCost
from ..runtime.clock import start_of_day

if TYPE_CHECKING:
    from ..core.protocols.models import ModelCosts

LEARN_PURPOSE, RECALL_PURPOSE = "learn", "recall"  # purposes of model calls
MILLION = 1_000_000

ModelFactory = Callable[
    [WorkspaceId], LanguageModel
]  # model whose calls are charged to the workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a million tokens, in the currency of the budget."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of a workspace from midnight to midnight UTC; None: unlimited."""

    cost_per_day: float | None = None  # in the currency of the prices
    tokens_per_day: int | None = None  # input and output


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Model costs of a workspace, and today's remaining budget."""

    spent: tuple[ModelCost, ...]  # by day, purpose and model
    cost_today: float
    tokens_today: int
    budget: Budget
    unpriced: tuple[str, ...]  # models without a configured price
    resets_at: datetime

    @property
    def money_left(self) -> float | None:
        limit = self.budget.cost_per_day
        return None if limit is None else max(0.0, limit - self.cost_today)

    @property
    def tokens_left(self) -> int | None:
        limit = self.budget.tokens_per_day
        return None if limit is None else max(0, limit - self.tokens_today)

    @property
    def is_exhausted(self) -> bool:
        return self.money_left == 0 or self.tokens_left == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBudget:
    """Records costs of all workspaces and checks their budget."""

    costs: ModelCosts
    clock: Callable[[], datetime]
    prices: Mapping[str, Price] = field(default_factory=dict)  # by model name
    budget: Budget = field(default_factory=Budget)

    def make_model_factory(self, model: LanguageModel, name: str, purpose: str) -> ModelFactory:
        """Return a factory of metered models; `name` is the configured model name."""
        return lambda workspace: MeteredModel(model, name, self, workspace, purpose)

    def get_usage(self, workspace: WorkspaceId, *, since: datetime | None = None) -> Usage:
        """Return the costs since a day (None: all) and today's remaining budget."""
        today = start_of_day(self.clock())
        spent = tuple(self.costs.list_costs(workspace, since=since))
        now = self.costs.list_costs(workspace, since=today) if since and since > today else spent
        return self._make_usage(spent, [each for each in now if each.at >= today], today)

    def check_budget(self, workspace: WorkspaceId) -> None:
        """Raise BudgetSpent if today's budget is exhausted."""
        if self.budget == Budget():
            return
        today = start_of_day(self.clock())
        spent = self.costs.list_costs(workspace, since=today)
        usage = self._make_usage((), [each for each in spent if each.at >= today], today)
        if usage.is_exhausted:
            raise BudgetSpent(
                f"the budget of {today:%Y-%m-%d} is spent; model calls resume at midnight UTC",
                until=usage.resets_at,
            )

    def record_usage(
        self, workspace: WorkspaceId, purpose: str, tokens: TokenUsage, *, configured_name: str
    ) -> None:
        """Record one call; `configured_name` is the model's name in the settings."""
        price = (
            find_price(tokens.model, self.prices)
            or find_price(configured_name, self.prices)
            or Price()
        )
        cost = (tokens.input_tokens * price.input + tokens.output_tokens * price.output) / MILLION
        entry = ModelCost(
            at=self.clock(),
            purpose=purpose,
            model=tokens.model or configured_name,
            calls=1,
            input_tokens=tokens.input_tokens,
            output_tokens=tokens.output_tokens,
            cost=cost,
        )
        self.costs.add(workspace, entry)

    def _make_usage(
        self, spent: tuple[ModelCost, ...], now: Sequence[ModelCost], today: datetime
    ) -> Usage:
        models = dict.fromkeys(each.model for each in (*spent, *now) if not each.cost)
        return Usage(
            spent=spent,
            cost_today=sum(each.cost for each in now),
            tokens_today=sum(each.input_tokens + each.output_tokens for each in now),
            budget=self.budget,
            unpriced=tuple(name for name in models if find_price(name, self.prices) is None),
            resets_at=today + timedelta(days=1),
        )


def find_price(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model, or of the longest prefix of its name: small-2026-05 → small."""
    matching = [name for name in prices if model == name or model.startswith(f"{name}-")]
    return prices[max(matching, key=len)] if matching else None


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A model whose calls are charged to one workspace for one purpose."""

    model: LanguageModel
    name: str  # in the settings
    model_budget: ModelBudget
    workspace: WorkspaceId
    purpose: str

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        """Call the model and record the cost, also for a bad answer.

        Raise BudgetSpent before anything is sent. Requests without any answer are not recorded,
        because their cost is unknown.
        """
        self.model_budget.check_budget(self.workspace)
        try:
            completion = self.model.complete(
                prompt, schema=schema, max_tokens=max_tokens, timeout=timeout
            )
        except BadOutput as error:
            if error.used:
                self._record_usage(error.used)
            raise
        self._record_usage(completion)
        return completion

    def close(self) -> None:
        self.model.close()

    def _record_usage(self, tokens: TokenUsage) -> None:
        self.model_budget.record_usage(
            self.workspace, self.purpose, tokens, configured_name=self.name
        )
