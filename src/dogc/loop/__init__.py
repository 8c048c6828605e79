"""The alternating optimisation: one loop, its steps and its methods."""
