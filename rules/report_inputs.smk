# What a run is made of, for its manifest: which files it read, which code and models stand behind it, and which of its
# results two runs reproduce byte for byte. No rules here.
import shlex

from faithfuse.provenance.run import model_folders, public_root

IDENTITY = "results/run_id.txt"
RECORD = "results/manifest.json"

# Rules that the tables do not come from; editing their code makes no other run.
ASIDE = {"load_source", "unify", "describe_sets", "release", "fetch_data"}


def pairs(option, paths):
    """`--option NAME=PATH` for each, quoted for the shell."""
    return [f"{option} {shlex.quote(f'{name}={path}')}" for name, path in paths.items()]


def set_homes(name):
    """The folders below its root that hold a set's original files; of the cross-domain set, its sources'."""
    names = list(SOURCES) if name == "unified" else [name]
    return [HOMES[each] for each in names]


def run_inputs():
    """Path and files of everything the run read, by the name that the manifest gives it."""
    found = {}
    for number, source in enumerate(RUN.data):
        if source.set == "folder":
            root = public_root(source.model_dump(), number)
            for name in STUDY_FILES:
                path = f"{source.folder()}/{name}"
                found[f"{root}/{name}"] = (path, path)
    for name, source in IMPORTED.items():
        for home in set_homes(name):
            root, folder = public_root(source.model_dump()), data_root(name)
            if (folder / home).is_dir():
                root, folder = f"{root}/{home}" if home else root, folder / home
            found[root] = (folder, directory_files(folder))
    for path in [
        *directory_files("config/prompts"),
        *directory_files("config/reference"),
        *optional(RUN.audit, ["config/audit/record.schema.json"]),
        *optional(RUN.audit, ["config/audit/reason_codes.json"]),
        "notebooks/disagreement.ipynb",
    ]:
        found[path] = (path, path)
    return found


def run_code():
    """The source files behind the results: of every stage that the run has, and the rules that call them."""
    aside = ASIDE if "unified" not in IMPORTED else ASIDE - {"load_source", "unify"}
    if not IMPORTED:
        aside = aside | {"import_set"}
    shown = {"make_report", "identify_run", "record_run", "write_manifest"}
    modules = set()
    for each in workflow.rules:
        listed = each.input.get("code", [])
        if each.name not in aside | shown:
            modules.update([listed] if isinstance(listed, str) else listed)
    rule_files = [path for path in directory_files("rules") if path.endswith(".smk")]
    return sorted({*map(str, modules), "Snakefile", *rule_files})


RUN_INPUTS = run_inputs()
RUN_MODELS = model_folders(RUN.model_dump(mode="json"), Path("config/models.yaml"))
# Imported sets lie between the original files and the items.
IMPORTS = expand(
    "results/datasets/{set}/{name}",
    set=[name for name in IMPORTED],
    name=[*STUDY_FILES, "card.json"],
)
REPRODUCED = [path for path in [*MANIFEST_FILES, *IMPORTS] if path != REPORT]
# The report shows the run id; the LLM stages' notes name the machine's arithmetic.
OUTSIDE = [REPORT] + [
    f"{path}.meta.json"
    for path in MANIFEST_FILES
    if path.startswith(
        ("results/responses/", "results/verdicts/", "results/likelihood/")
    )
]
