"""From a table of numbers to the nodes of a graph, and back."""
