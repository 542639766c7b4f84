"""What models cost: every call is written down, and a budget ends the day.

There are no prices built in: they change, and a wrong one is worse than none. A model whose price
nobody configured costs nothing here, its tokens are counted all the same, and the account says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..core.clock import day_of
from ..core.errors import BadOutput, BudgetSpent
from ..core.ids import WorkspaceId
from ..core.models import Completion, LanguageModel, Prompt, Schema, Tokens
from ..core.records import Spent

if TYPE_CHECKING:
    from ..core.accounts import Accounts

LEARN, RECALL = "learn", "recall"  # what a model is asked for
MILLION = 1_000_000

ModelFor = Callable[[WorkspaceId], LanguageModel]  # the same model, paid by this workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in whatever money the budget is in."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much a workspace may spend from midnight to midnight, UTC. None: as much as it likes."""

    per_day: float | None = None  # money
    tokens_per_day: int | None = None  # input and output


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a workspace spent, and what is left of today."""

    spent: tuple[Spent, ...]  # by day, purpose and model
    cost_today: float
    tokens_today: int
    budget: Budget
    unpriced: tuple[str, ...]  # models without a price: their cost is not known
    resets_at: datetime

    @property
    def money_left(self) -> float | None:
        limit = self.budget.per_day
        return None if limit is None else max(0.0, limit - self.cost_today)

    @property
    def tokens_left(self) -> int | None:
        limit = self.budget.tokens_per_day
        return None if limit is None else max(0, limit - self.tokens_today)

    @property
    def exhausted(self) -> bool:
        return self.money_left == 0 or self.tokens_left == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The accounts of all workspaces, with prices and a budget."""

    accounts: Accounts
    clock: Callable[[], datetime]
    prices: Mapping[str, Price] = field(default_factory=dict)  # by the name of a model
    budget: Budget = field(default_factory=Budget)

    def on_account(self, model: LanguageModel, name: str, purpose: str) -> ModelFor:
        """The model as a workspace asks it, which pays; `name` is the model's in the settings."""
        return lambda workspace: AccountedModel(model, name, self, workspace, purpose)

    def usage(self, workspace: WorkspaceId, *, since: datetime | None = None) -> Usage:
        """What was spent from a day on (the first, if not said otherwise), and what is left."""
        today = day_of(self.clock())
        spent = tuple(self.accounts.spent(workspace, since=since))
        now = self.accounts.spent(workspace, since=today) if since and since > today else spent
        return self._usage(spent, [each for each in now if each.at >= today], today)

    def check(self, workspace: WorkspaceId) -> None:
        """Raises BudgetSpent if nothing is left of today."""
        if self.budget == Budget():
            return
        today = day_of(self.clock())
        spent = self.accounts.spent(workspace, since=today)
        usage = self._usage((), [each for each in spent if each.at >= today], today)
        if usage.exhausted:
            raise BudgetSpent(
                f"the budget of {today:%Y-%m-%d} is spent; the model is asked again tomorrow",
                until=usage.resets_at,
            )

    def add(self, workspace: WorkspaceId, purpose: str, used: Tokens, *, asked: str) -> None:
        """Write down one answer; `asked` is the model's name in the settings."""
        price = price_of(used.model, self.prices) or price_of(asked, self.prices) or Price()
        cost = (used.input_tokens * price.input + used.output_tokens * price.output) / MILLION
        bill = Spent(
            at=self.clock(),
            purpose=purpose,
            model=used.model or asked,
            calls=1,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cost=cost,
        )
        self.accounts.add(workspace, bill)

    def _usage(self, spent: tuple[Spent, ...], now: Sequence[Spent], today: datetime) -> Usage:
        models = dict.fromkeys(each.model for each in (*spent, *now) if not each.cost)
        return Usage(
            spent=spent,
            cost_today=sum(each.cost for each in now),
            tokens_today=sum(each.input_tokens + each.output_tokens for each in now),
            budget=self.budget,
            unpriced=tuple(name for name in models if price_of(name, self.prices) is None),
            resets_at=today + timedelta(days=1),
        )


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model, or of the longest name that its own goes on from: small-2026-05."""
    fitting = [name for name in prices if model == name or model.startswith(f"{name}-")]
    return prices[max(fitting, key=len)] if fitting else None


@dataclass(frozen=True, slots=True)
class AccountedModel:
    """A model whose answers are paid by one workspace for one purpose."""

    model: LanguageModel
    name: str  # in the settings
    spending: Spending
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
        """As the model does. Raises BudgetSpent before anything is sent; a bad answer costs, too.

        What a provider charges for a request that it never answered, nobody tells us.
        """
        self.spending.check(self.workspace)
        try:
            said = self.model.complete(
                prompt, schema=schema, max_tokens=max_tokens, timeout=timeout
            )
        except BadOutput as error:
            if error.used:
                self._add(error.used)
            raise
        self._add(said)
        return said

    def close(self) -> None:
        self.model.close()

    def _add(self, used: Tokens) -> None:
        self.spending.add(self.workspace, self.purpose, used, asked=self.name)
