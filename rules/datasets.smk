# Data sets: public human judgements as items, responses and ratings, and the cross-domain data set.
#   in:  the sets' original files (`data` in the configuration; a data folder with human/ and raw/, or a set's own)
#   out: results/datasets/<set>/{items,responses,ratings}.jsonl and card.json; for `unified` also README.md (the
#        data card), Parquet files, the selection and the duplicates
# Damage that a set's module documents is mended (`--repair`); the card says what and how often.
from faithfuse.datasets.ratings import IMPORTERS

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
    home = root / (IMPORTERS[set_name].home if set_name in IMPORTERS else "raw")
    return directory_files(home if home.is_dir() else root)


def available_sets():
    """What is configured, and every other set that lies in the same data folder."""
    there = [
        name
        for name, importer in IMPORTERS.items()
        if importer.home and Path(data_root(name), importer.home).is_dir()
    ]
    unified = optional(DATA_ROOTS and Path(DATA_ROOTS[0], "raw").is_dir(), ["unified"])
    return sorted({*IMPORTED, *there, *unified})


def drawn(set_name):
    """The options that limit an import as configured."""
    source = IMPORTED.get(set_name)
    if source is None:
        return ""
    limit = [f"--limit {source.limit} --seed {RUN.seed}"] if source.limit else []
    return " ".join(limit + repeated("--system", source.systems or []))


localrules:
    datasets,


rule datasets:
    input:
        expand("results/datasets/{set}/card.json", set=available_sets()),
    message:
        "Every set is in results/datasets; each folder's card.json says what was kept and why."


rule import_set:
    input:
        files=lambda wildcards: original_files(wildcards.set),
        code=code("datasets.ratings", "datasets.commands"),
    output:
        items=update("results/datasets/{set}/items.jsonl"),
        responses=update("results/datasets/{set}/responses.jsonl"),
        ratings=update("results/datasets/{set}/ratings.jsonl"),
        card=update("results/datasets/{set}/card.json"),
    wildcard_constraints:
        set="|".join(IMPORTERS),
    log:
        "results/logs/import_set/{set}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        root=lambda wildcards: data_root(wildcards.set),
        drawn=lambda wildcards: drawn(wildcards.set),
        out=subpath(output.card, parent=True),
    message:
        "Importing {wildcards.set}"
    shell:
        "python -m faithfuse data import {wildcards.set} --root {params.root:q} --repair {params.drawn}"
        " --out {params.out} 2>&1 | tee {log}"


rule unify:
    input:
        files=lambda wildcards: original_files("unified"),
        code=code("datasets.unify", "datasets.commands"),
    output:
        items=update("results/datasets/unified/items.jsonl"),
        responses=update("results/datasets/unified/responses.jsonl"),
        ratings=update("results/datasets/unified/ratings.jsonl"),
        card=update("results/datasets/unified/card.json"),
    log:
        "results/logs/unify/unified.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        root=lambda wildcards: data_root("unified"),
        seed=RUN.seed,
        out=subpath(output.card, parent=True),
    message:
        "Building the cross-domain data set"
    shell:
        "python -m faithfuse data unify --root {params.root:q} --seed {params.seed}"
        " --out {params.out} 2>&1 | tee {log}"
