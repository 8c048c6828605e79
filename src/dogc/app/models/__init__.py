"""Models as files."""
