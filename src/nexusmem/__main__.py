"""Entry point of `python -m nexusmem`."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
