"""python -m ndd is the program ndd."""
import os
import sys

from ._binary import find_ndd
from ._errors import NddError

if __name__ == "__main__":
    try:
        command = [find_ndd(), *sys.argv[1:]]
    except NddError as e:
        sys.exit(f"ndd: {e}")
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
