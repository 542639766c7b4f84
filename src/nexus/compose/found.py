"""Asking for hits: once, or step by step for a question that asks for several things."""

from __future__ import annotations

from ..core.records import Found
from ..recall.iterate import Leads, Look, iterate
from .plan import Plan


def find_for(plan: Plan, look: Look, leads: Leads | None = None) -> Found:
    """The hits for a plan. Only a question of several steps is looked into more than once.

    Names lead on only where one thing is asked for through another: elsewhere, measured, they
    bring nothing.
    """
    if not plan.iterative:
        return look(plan.question)
    return iterate(look, plan.question, steps=plan.steps[1:], leads=leads if plan.nested else None)
