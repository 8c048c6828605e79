import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from dogc import DOGC
from dogc.plotting import ScaleDisplay
from dogc.scales import ScaleChoice

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def choice():
    agreement = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    return ScaleChoice((5, 10, 15), agreement, np.array([0.7, 0.8, 0.3]), 10)


def test_the_picture_shows_every_number():
    display = ScaleDisplay(choice()).plot()
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown == [f"{value:.2f}" for value in choice().agreement.ravel()]
    np.testing.assert_array_equal(display.line_.get_ydata(), [0.7, 0.8, 0.3])
    np.testing.assert_array_equal(display.image_.get_array(), choice().agreement)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["5", "10", "15"]


def test_it_is_made_from_an_estimator_and_into_given_axes(three_blobs):
    axes = matplotlib.figure.Figure().subplots()
    display = ScaleDisplay.from_estimator(DOGC(3).fit(three_blobs[0]), ax=axes)
    assert display.ax_ is axes
    with pytest.raises(NotFittedError):
        ScaleDisplay.from_estimator(DOGC(3))
    with pytest.raises(ValueError, match="KMeans does not choose a scale"):
        ScaleDisplay.from_estimator(KMeans(3))


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="dogc\\[plots\\]"):
        ScaleDisplay(choice()).plot()
