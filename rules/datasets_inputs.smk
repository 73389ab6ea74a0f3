# Which data sets a run has, where their original files lie and how much of each is taken. No rules here.
from faithfuse.datasets.ratings import IMPORTERS
from faithfuse.datasets.schema import Subset
from faithfuse.datasets.sources import SOURCES

MAIN = {source.set: source for source in RUN.data if source.set != "folder"}
IMPORTED = MAIN | {source.set: source for source in RUN.further}
HOMES = {name: known.home for name, known in {**SOURCES, **IMPORTERS}.items()}
try:
    ROOTS = {name: Path(source.folder()) for name, source in IMPORTED.items()}
except FaithfuseError as error:
    sys.exit(f"faithfuse: error: {error}")


def common_folder():
    """The folder with human/ and raw/: the root of `unified`, or of another set if it is that or lies below it as usual."""
    for name, root in ROOTS.items():
        if name == "unified":
            return root
        parts = Path(HOMES.get(name, "")).parts
        if parts and root.parts[-len(parts) :] == parts:
            return root.parents[len(parts) - 1]
        if (root / "human").is_dir() or (root / "raw").is_dir():
            return root
    return None


DATA_FOLDER = common_folder()


def data_root(set_name):
    """The folder that holds a set: its own configured one, else the data folder."""
    return ROOTS.get(set_name, DATA_FOLDER)


def original_files(set_name):
    """A set's original files; an edit of one of them imports the set again."""
    root = data_root(set_name)
    home = root / HOMES[set_name]
    return directory_files(home) if home.is_dir() else directory_files(root)


def judged_sets():
    """The sets of judgements that are configured, and every other one that lies in the same data folder."""
    there = [
        name
        for name in IMPORTERS
        if DATA_FOLDER and HOMES[name] and (DATA_FOLDER / HOMES[name]).is_dir()
    ]
    return sorted({*IMPORTED, *there} - {"unified"})


def unified():
    """The data set, where the source sets lie in the data folder or are configured."""
    root = data_root("unified")
    return optional(root and (root / "raw").is_dir(), ["unified"])


def drawn(set_name):
    """The options that limit the import of a main set as configured; the items of the others are drawn later."""
    source = MAIN.get(set_name)
    if source is None:
        return ""
    limit = [f"--limit {source.limit} --seed {RUN.seed}"] if source.limit else []
    return " ".join(limit + repeated("--system", source.systems or []))
