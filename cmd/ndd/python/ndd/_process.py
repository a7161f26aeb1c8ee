"""Runs the program ndd: its messages go to logging, its failures become exceptions, and it never outlives a call."""
import contextlib
import io
import json
import logging
import os
import re
import subprocess
import threading

from ._binary import find_ndd
from ._errors import CorruptError, NddError, UsageError

log = logging.getLogger("ndd")
LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
ERRORS = {2: UsageError, 3: CorruptError}


def flags(options):
    """Returns the flags of keyword arguments: write_kept="x" is --write-kept=x, strict=True is --strict, a list repeats."""
    out = []
    for name, value in options.items():
        flag = "-k" if name == "k" else "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
            continue
        for v in value if isinstance(value, (list, tuple)) else [value]:
            v = os.fspath(v) if isinstance(v, os.PathLike) else v
            out += [flag, str(v)] if name == "k" else [f"{flag}={v}"]
    return out


def start(args, **streams):
    """Starts ndd and returns the process. Its standard error is a pipe, of messages as lines of JSON."""
    command = [find_ndd(), "--log-format=json", "--no-progress", *args]
    try:
        return subprocess.Popen(command, stderr=subprocess.PIPE, **streams)
    except OSError as e:
        raise NddError(f"{command[0]} does not start: {e}; is the wheel one for this machine?") from e


class Messages(threading.Thread):
    """Reads what a process says, logs it and keeps the last lines."""

    def __init__(self, stream, paths=None):
        super().__init__(daemon=True, name="ndd messages")
        self.stream, self.lines, self.warnings, self.plain, self.paths = stream, [], [], [], paths or {}
        self.start()

    def words(self, text):
        """Returns a message in Python's words: arguments for flags, and rows for those of files that hold them."""
        for path, part in self.paths.items():
            split = f"{part.split} " if part.split else ""
            text = re.sub(re.escape(path) + r":(\d+)", lambda m: f"{split}row {int(m[1]) - 1}", text).replace(path, part.split or "the documents")
        return re.sub(r"(?<![\w-])--?([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), text)

    def run(self):
        for raw in self.stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            try:
                record = json.loads(line)
                level, text = LEVELS.get(record["level"], logging.INFO), record["msg"]
                rest = {k: v for k, v in record.items() if k not in ("time", "level", "msg")}
                text += "".join(f" {k}={v}" for k, v in rest.items())
                text = self.words(text)
            except (ValueError, TypeError, KeyError):
                level, text = logging.ERROR, line.removeprefix("ndd: ")
                text = text if text.startswith("Run 'ndd ") else self.words(text)
                self.plain.append(text)
            if level > logging.DEBUG:
                self.lines.append(text)
            if level == logging.WARNING:
                self.warnings.append(text)
            if level != logging.ERROR:  # errors are raised
                log.log(level, text)

    def failure(self):
        """Returns the text of an error: what was no message, which comes last, without the hint on --help."""
        told = [t for t in self.plain if not t.startswith("Run 'ndd ")]
        return "\n".join(told[-20:] or self.lines[-1:]) or "it said nothing"


def skipped(messages):
    """Returns how many inputs could not be read, by what ndd said."""
    said = "\n".join(messages).replace(",", "")
    return number(r"(\d+) (?!hidden|links? to)[a-z]", said.partition("skipped: ")[2].partition("\n")[0])


def number(pattern, text):
    """Returns the sum of the numbers that a pattern has in a text."""
    return sum(map(int, re.findall(pattern, text)))


def run(args, paths=None, lines=None, stdout=subprocess.PIPE, whole=False):
    """Runs ndd to its end and returns what it wrote to standard output, and its messages.

    Status 4, done in part, is logged as a warning, or raised if whole is set. An exception here, such as
    KeyboardInterrupt, ends the program before it goes on. Paths has the files that were written for ndd, with what they
    hold. Lines are written to its standard input. Standard output may be a file.
    """
    process = start(args, stdout=stdout, stdin=subprocess.DEVNULL if lines is None else subprocess.PIPE)
    messages, out = Messages(process.stderr, paths), []
    output = process.stdout or io.BytesIO()
    reader = threading.Thread(target=lambda: out.append(output.read()), daemon=True, name="ndd output")
    reader.start()
    try:
        if lines is not None:
            with contextlib.suppress(BrokenPipeError), process.stdin:  # the status tells why it ended
                process.stdin.writelines(lines)
        status = process.wait()
    except BaseException:
        end(process)
        raise
    finally:
        reader.join(10)
        messages.join(10)
        output.close()
        process.stderr.close()
    if status == 4 and whole:
        raise NddError("done in part: " + "\n".join(messages.warnings))
    if status == 4:
        log.warning("done in part: some input was skipped or left out")
    elif status:
        raise ERRORS.get(status, NddError)(messages.failure())
    return b"".join(out), messages.lines


def end(process, seconds=15):
    """Ends a process: it is asked to, and then killed."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
