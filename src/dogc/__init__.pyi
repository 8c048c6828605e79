# The names that ``__init__.py`` looks up when they are asked for.
from . import datasets as datasets
from . import methods as methods
from . import metrics as metrics
from . import plotting as plotting
from . import quality as quality
from . import results as results
from .app.models.onnx import to_onnx as to_onnx
from .app.models.saving import ModelFileError as ModelFileError
from .app.models.saving import load as load
from .app.models.saving import load_bundle as load_bundle
from .app.models.saving import save as save
from .comparison import compare as compare
from .encoding import MixedEncoder as MixedEncoder
from .estimators import *  # noqa: F403
from .exploration import explore as explore

__version__: str
