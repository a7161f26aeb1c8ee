"""Builds the program ndd into the wheel, with the Go of this machine.

.ci/release sets NDD_PROGRAM to a program for another platform, NDD_TAGS to the tags of that platform, and NDD_VERSION.
"""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

HERE = Path(__file__).resolve().parent
CLONE = HERE.parents[2]
GO = (1, 26)


def version():
    """Returns NDD_VERSION, or the version of the first section of the changelog, as PEP 440 writes it."""
    text = os.environ.get("NDD_VERSION") or re.search(r"^## (\d\S*)", (HERE.parent / "CHANGELOG.md").read_text(), re.M).group(1)
    number, _, rest = text.removeprefix("v").partition("-")
    return f"{number}.dev0+{re.sub('[-~]', '.', rest)}" if rest else number


class CustomBuildHook(BuildHookInterface):
    """Adds the program to the wheel."""

    def initialize(self, version, build_data):
        if self.target_name != "wheel" or not (CLONE / "go.mod").is_file():
            self.app.abort("a source distribution has no Go sources: build a wheel in a clone of the repository")
        program, tags = os.environ.get("NDD_PROGRAM"), os.environ.get("NDD_TAGS")
        if not program:
            self.folder = tempfile.TemporaryDirectory()
            program, tags = os.path.join(self.folder.name, "ndd.exe" if os.name == "nt" else "ndd"), next(platform_tags())
            self.build(program)
        tags = ".".join(sorted(tags.split()))
        build_data["tag"], build_data["pure_python"] = f"py3-none-{tags}", False
        build_data["shared_scripts"][program] = "ndd.exe" if tags.startswith("win") else "ndd"

    def build(self, program):
        """Builds the program for this machine."""
        go = shutil.which("go")
        if not go:
            self.app.abort("Go 1.26 is needed: https://go.dev/dl")
        said = subprocess.run([go, "version"], cwd=CLONE, capture_output=True, text=True)
        found = re.search(r"go(\d+)\.(\d+)", said.stdout)
        if said.returncode or not found or tuple(map(int, found.groups())) < GO:
            self.app.abort(f"Go 1.26 is needed: https://go.dev/dl; here is {(said.stdout + said.stderr).strip()}")
        release = f"-s -w -X main.release=v{self.metadata.version}"
        built = subprocess.run([go, "build", "-trimpath", "-ldflags", release, "-o", program, "./cmd/ndd"], cwd=CLONE,
                               env={**os.environ, "CGO_ENABLED": "0"})
        if built.returncode:
            self.app.abort("go build failed")

    def finalize(self, version, build_data, artifact_path):
        if hasattr(self, "folder"):
            self.folder.cleanup()
