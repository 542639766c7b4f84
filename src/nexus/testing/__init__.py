"""What Nexus is tested with, shipped: a store of your own can be held to the same promises.

`stores.StoreSuite` are the contracts, `worlds` makes up small worlds, and
`leaks.run_leaktest` looks for anything one person's secrets change for another.
Install with `pip install 'nexus-memory[testing]'`.
"""
