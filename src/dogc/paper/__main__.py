"""``python -m dogc.paper`` is ``dogc paper``."""

from .._stopping import leave_at_once

if __name__ == "__main__":
    leave_at_once()
    from .command import main

    main()
