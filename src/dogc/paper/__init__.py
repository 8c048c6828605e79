"""The paper's tables and figures as code: ``python -m dogc.paper tables``."""
