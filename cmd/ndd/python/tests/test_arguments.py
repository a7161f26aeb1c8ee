"""Keyword arguments have the names of the flags, and are checked before anything runs."""
import inspect
import pathlib
import re
import subprocess

import pytest

import ndd

ELSEWHERE = {"output", "format", "dry-run", "skipped"}  # results are objects; input that was skipped is logged
COMMANDS = {ndd.dedup: "dedup", ndd.fingerprint: "fingerprint", ndd.copies: "copies", ndd.passages: "passages", ndd.decontaminate: "decontaminate", ndd.Index: "serve"}
NOT_HERE = {
    "fingerprint": {"sketch", "show-recipe", "explain", "learn-idf", "shard", "force"},  # write files or texts
    "decontaminate": {"shard"},
    "passages": {"decisions", "shard"},
    "serve": {"index", "create", "load", "memory-only", "listen", "admin", "access-log", "insecure-no-auth", "token-file", "tls-cert", "tls-key", "stop-with-stdin"},
}


@pytest.mark.parametrize("function", COMMANDS)
def test_every_flag_is_an_argument(function):
    command = COMMANDS[function]
    said = subprocess.run([ndd.find_ndd(), command, "--help"], capture_output=True, text=True, check=True).stdout
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", said, re.M))
    parameters = inspect.signature(function).parameters
    names, wanted = ({"k" if flag == "distance" else flag.replace("-", "_") for flag in f} for f in (flags, flags - ELSEWHERE - NOT_HERE.get(command, set())))
    assert wanted <= set(parameters), f"{function.__name__} lacks {wanted - set(parameters)}"
    keywords = [p for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert {p.name for p in keywords} <= names | {"threads", "progress", "timeout"}
    assert all(p.annotation is not p.empty and p.default is not p.empty for p in keywords)
    documented = inspect.getdoc(function) + (inspect.getdoc(ndd.dedup) if function is not ndd.dedup else "")
    assert not [p.name for p in keywords if f"{p.name}:" not in documented]
    assert "Example::" in inspect.getdoc(function)


@pytest.mark.parametrize("call, said", [
    (lambda: ndd.copies([], threshold=7), "threshold must be between 0 and 1, not 7"),
    (lambda: ndd.copies([], threshold="high"), "threshold must be between 0 and 1, not 'high'"),
    (lambda: ndd.copies([], treshold=0.7), "copies has no argument 'treshold'; did you mean 'threshold'?"),
    (lambda: ndd.dedup([], write_keep="x"), "dedup has no argument 'write_keep'; did you mean 'write_kept'?"),
    (lambda: ndd.dedup([], k=9), "k must be between 0 and 8, not 9"),
    (lambda: ndd.dedup([], k=True), "k must be between 0 and 8, not True"),
    (lambda: ndd.dedup([], k=2.5), "k must be between 0 and 8, not 2.5"),
    (lambda: ndd.dedup([], threshold=1.5), "threshold must be between 0 and 1, not 1.5"),
    (lambda: ndd.dedup([], treshold=0.8), "dedup has no argument 'treshold'; did you mean 'threshold'?"),
    (lambda: ndd.copies([], method="winow"), "did you mean 'winnow'?"),
    (lambda: ndd.dedup([], strict="yes"), "strict must be True or False, not 'yes'"),
    (lambda: ndd.dedup([], keep=["longest", 7]), r"keep must be a text or a list, not \['longest', 7\]"),
    (lambda: ndd.passages([], unit="line", min_count=-1), "min_count must be a whole number, at least 0, not -1"),
    (lambda: ndd.dedup(["a"], write_kept="x"), "write_kept is for files; filter"),
    (lambda: ndd.dedup(["a"], input_format="csv"), "input_format is for files"),
    (lambda: ndd.dedup(["a"], keep="score"), "texts have no field 'score'"),
    (lambda: ndd.dedup([{"body": "a"}], text="txt"), "no column 'txt' among body"),
    (lambda: ndd.dedup([{"number": 1}]), "text= names the column"),
    (lambda: ndd.dedup([{"text": "a"}], max_document="64 fish"), "max_document"),
    (lambda: ndd.Index("x", kk=3), "Index has no argument 'kk'"),
])
def test_words(call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ndd.UsageError, match=said.replace("?", r"\?")) as error:
        call()
    assert isinstance(error.value, (TypeError, ValueError)) and "--" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_defaults_are_no_flags(monkeypatch):
    seen = []
    monkeypatch.setattr(ndd._process, "run", lambda args, paths: seen.append(args) or (b"", ["stopped"]))
    with pytest.raises(ndd.NddError, match="stopped"):
        ndd.dedup(["a"], keep="first", threshold=0.74, verify="sketch", max_document="64MiB", against=[pathlib.Path("i"), "j"], max_drop=None, prefer=("a", "b"))
    flags = [a for a in seen[0] if a.startswith("--") and not re.match("--(output|format|text)=|--$", a)]
    assert flags == ["--against=i", "--against=j", "--prefer=a,b"]
