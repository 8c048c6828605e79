"""The choices that a user may leave open: data in, a choice and its evidence out."""
