"""``python -m dogc`` is ``dogc``."""

from .app.cli import main

if __name__ == "__main__":
    main()
