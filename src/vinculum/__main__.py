"""``python -m vinculum``."""

from vinculum.cli import main

if __name__ == "__main__":
    main()
