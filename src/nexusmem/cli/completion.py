"""`nexus completion`: print the completion script of a shell."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
        nexus completion bash > ~/.local/share/bash-completion/completions/nexus
        nexus completion zsh > ~/.zfunc/_nexus
        nexus completion fish > ~/.config/fish/completions/nexus.fish
    """
    from click.shell_completion import get_completion_class  # loaded on first use

    from . import nexus  # loaded on first use

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click has no completion for {shell}")
    click.echo(script(nexus, {}, "nexus", "_NEXUS_COMPLETE").source())
