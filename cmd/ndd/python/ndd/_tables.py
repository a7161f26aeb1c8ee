"""Tables of results, with the rows and IDs of the caller's objects in the place of those of the files that ndd read."""
import json

from ._sources import utf8

# The columns with a document's file, row and ID.
PLACES = [("file", "row", "id"), ("kept_file", "kept_row", "kept_id"), ("representative_file", "representative_row", "representative"),
          ("first_file", "first_row", "first_id")]


def read(path):
    """Returns a table of ndd: a pyarrow Table, or a list of dicts where pyarrow is not installed."""
    if path.endswith(".jsonl"):
        with open(path, "rb") as f:
            return [json.loads(line) for line in f]
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path, memory_map=False)


def column(table, name):
    return [row[name] for row in table] if isinstance(table, list) else table.column(name).to_pylist()


def own(table, paths):
    """Returns a table with the caller's rows, from 0, and IDs. Paths has the Rows of each file, by its path.

    The columns of files become those of splits, or are left out. A document of an index keeps its file and ID.
    """
    if not paths:
        return table
    if isinstance(table, list):
        return [_own_row(dict(row), paths) for row in table]
    for places in PLACES:
        if places[0] in table.column_names:
            table = _own_columns(table, paths, *places)
    for name in {"source", "id_a", "id_b"} & set(table.column_names):
        table = table.set_column(table.column_names.index(name), name, _array([own_name(value, paths) for value in table[name].to_pylist()]))
    return table


def own_name(name, paths):
    """Returns the caller's ID for a file and row, the split for a file, and any other name as it is."""
    path, _, row = name.rpartition(":")
    if name in paths:
        return paths[name].split or "documents"
    part = paths.get(path)
    if part is None:
        return name
    row = int(row) - 1
    if part.ids is not None:
        id = part.ids[row]
        return id.as_py() if hasattr(id, "as_py") else id
    return f"{part.split}:{row}" if part.split else row


def _own_row(row, paths):
    for file, number, id in PLACES:
        if file in row:
            name = row.pop(file)
            part = paths.get(name)
            if part is not None:
                row[number] -= 1
                row[id] = row[number] if part.ids is None else part.ids[row[number]]
                name = part.split
            if name is not None:
                row[file if part is None else file.replace("file", "split")] = name
    for name in {"source", "id_a", "id_b"} & set(row):
        row[name] = own_name(row[name], paths)
    return row


def _own_columns(table, paths, file, number, id):
    import pyarrow.compute as pc

    files, rows, names, ids, others = table[file], pc.subtract(table[number], 1), table[file], [], True
    for path, part in paths.items():
        mine = pc.fill_null(pc.equal(files, path), False)
        place = pc.if_else(mine, rows, None)
        ids.append(place if part.ids is None else _array(part.ids).take(place))
        names, others = pc.if_else(mine, part.split, names), pc.and_(others, pc.invert(mine))
    known = pc.any(others).as_py()
    if known:
        ids.append(pc.if_else(others, table[id], None))
    if len({column.type for column in ids}) > 1:
        ids = [column.cast("string") for column in ids]
    table = table.set_column(table.column_names.index(id), id, pc.coalesce(*ids))
    table = table.set_column(table.column_names.index(number), number, pc.if_else(others, table[number], rows))
    if not known and part.split is None:
        return table.drop_columns([file])
    return table.set_column(table.column_names.index(file), file if known else file.replace("file", "split"), names)


def _array(values):
    """Returns a pyarrow array of values, as texts if they have several types."""
    import pyarrow

    if hasattr(values, "take"):
        return values
    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowException, UnicodeEncodeError):
        return pyarrow.array([None if v is None else utf8(str(v)) for v in values], pyarrow.binary()).cast("string")
