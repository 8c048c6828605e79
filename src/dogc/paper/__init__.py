"""The paper's tables and figures as code: ``dogc paper tables``."""

from .as_printed import PrintedDOGC, PrintedDOGCOS
from .published import PublishedDOGC

__all__ = ["PrintedDOGC", "PrintedDOGCOS", "PublishedDOGC"]
