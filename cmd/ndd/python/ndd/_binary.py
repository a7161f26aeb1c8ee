import os
import sys
import sysconfig

from ._errors import NddError


def find_ndd() -> str:
    """Returns the path of the program that the wheel brought along, or of $NDD.

    Raises NddError if there is none: then the package was copied without its wheel, or removed in part.
    """
    if path := os.environ.get("NDD"):
        return path
    name = "ndd.exe" if os.name == "nt" else "ndd"
    user = "nt_user" if os.name == "nt" else "posix_user"
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", user),
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),  # pip install --target
        os.path.dirname(sys.executable),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise NddError(f"the program {name} is in none of {', '.join(folders)}: install the wheel again, or set NDD to its path")
