# Which data sets a run has, where their original files lie and how much of each is taken. No rules here.
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.schema import Subset
from faithfuse.datasets.sources import SOURCES

IMPORTED = {source.set: source for source in RUN.data if source.set != "folder"}
DATA_ROOTS = [source.folder() for source in IMPORTED.values()]


def data_root(set_name):
    """The folder that holds a set: its own configured one, or the data folder the others are taken from."""
    return (
        IMPORTED[set_name].folder()
        if set_name in IMPORTED
        else next(iter(DATA_ROOTS), "")
    )


def original_files(set_name):
    """A set's original files; an edit of one of them imports the set again."""
    root = Path(data_root(set_name))
    home = root / {**SOURCES, **IMPORTERS}[set_name].home
    return directory_files(home if home.is_dir() else root)


def judged_sets():
    """The sets of judgements that are configured, and every other one that lies in the same data folder."""
    there = [
        name
        for name, importer in IMPORTERS.items()
        if importer.home and Path(data_root(name), importer.home).is_dir()
    ]
    return sorted({*IMPORTED, *there} - {"unified"})


def unified():
    """The data set, where the source sets lie in the data folder."""
    root = data_root("unified")
    return optional(root and Path(root, "raw").is_dir(), ["unified"])


def drawn(set_name):
    """The options that limit an import as configured."""
    source = IMPORTED.get(set_name)
    if source is None:
        return ""
    limit = [f"--limit {source.limit} --seed {RUN.seed}"] if source.limit else []
    return " ".join(limit + repeated("--system", source.systems or []))
