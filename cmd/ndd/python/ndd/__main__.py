"""python -m ndd is the program ndd."""
import os
import subprocess
import sys

from ._binary import find_ndd
from ._errors import NddError


def main() -> None:
    try:
        command = [find_ndd(), *sys.argv[1:]]
    except NddError as e:
        sys.exit(f"ndd: {e}")
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
