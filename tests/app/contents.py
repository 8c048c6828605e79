"""The bytes of files."""

import io

import numpy as np


def filled(write, *given, **options):
    """What a function writes."""
    buffer = io.BytesIO()
    write(buffer, *given, **options)
    return buffer.getvalue()


def saved(array, **options):
    return filled(np.save, array, **options)
