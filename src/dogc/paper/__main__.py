"""``python -m dogc.paper`` is ``dogc paper``."""

from .command import main

if __name__ == "__main__":
    main()
