import functools
import os
import socket
import subprocess
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


@functools.lru_cache(None)
def version(program):
    """Returns what a program says about its version."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


@functools.lru_cache(None)
def use(wanted, remedy, shipped=None):
    """Makes this process of a cluster use a program of the driver's version: an installed one, or a shipped one.

    Raises NddError with the machine, both versions and the remedy if there is none.
    """
    tried = {}
    for path in (None, shipped):
        try:
            path = path or find_ndd()
            found = version(path)
        except (OSError, subprocess.SubprocessError, NddError) as e:
            tried[path] = str(e)
            continue
        if found == wanted:
            os.environ["NDD"] = path
            return
        tried[path] = f"{path} is {found}"
    raise NddError(f"the machine {socket.gethostname()} has no program {wanted}, which the driver has: {'; '.join(tried.values())}. {remedy}")
