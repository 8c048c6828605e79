"""The paper's tables and figures as code: ``python -m dogc.paper tables``."""

from .as_printed import PrintedDOGC, PrintedDOGCOS

__all__ = ["PrintedDOGC", "PrintedDOGCOS"]
