"""A run as an RO-Crate of the Workflow Run Crate profile, to be deposited.

Profiles: Workflow Run Crate 0.5 and Process Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5), Workflow RO-Crate
1.0, on RO-Crate 1.1. The workflow is the Snakefile, the run a `CreateAction`; what the run read is its `object`, what
came out its `result`. Inputs that lie outside the repository, and models, are described with their digests but not
copied: their licences may not allow it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from faithfuse.errors import FaithfuseError, InputError
from faithfuse.provenance.manifest import sha256_file
from faithfuse.provenance.record import CHECKSUMS, RECORD, RUN_ID, Record, dump, read_record
from faithfuse.provenance.verify import locate, verify_run

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
PARAMETER_PROFILE = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".smk": "text/x-python",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
}
"""Media types by the end of a file's name; all others are plain text."""
REPOSITORY_FILES = ("README.md", "LICENSE", "CITATION.cff", "envs/lock.txt", "config/models.yaml", "config/config.yaml")
PARAMETERS = {
    "data": "Items, responses and ratings, or the original files that these come from",
    "prompts": "Prompts of the language model",
    "reference": "Published values and contracts that results are compared with",
    "notebook": "The analysis notebook, as written",
    "configuration": "The resolved configuration, as JSON",
    "model": "A language model, encoder or parser",
}


def write_crate(
    folder: Path,
    out: Path,
    *,
    root: Path | None = None,
    authors: Sequence[str] = (),
    licence: str | None = None,
    with_inputs: bool = True,
) -> str:
    """Pack a run.

    Args:
        folder: the results folder with its manifest.
        out: a folder or `.zip` file that does not exist yet; it appears complete, or not at all.
        root: the repository that inputs and code lie in; the folder's parent when null.
        authors: names of people to give as authors.
        licence: address of the crate's licence; the code's, Apache-2.0, when null.
        with_inputs: copy the inputs that lie in the repository.

    Returns:
        One line about what was packed.

    Raises:
        InputError: a result is not as the manifest lists it, or a path in the manifest leaves the folder.
        FaithfuseError: `out` exists.
    """
    if out.exists():
        raise FaithfuseError(f"{out} exists. Give the name of a new folder or .zip file.")
    found = verify_run(folder, root, inputs=False, watch=False)
    for kind in ("changed", "missing"):
        for name in getattr(found.difference, kind):
            raise InputError(f"is {kind}", path=name, fix="Run the workflow again, then pack the run.")
    record = read_record(folder / RECORD)
    root = root or folder.resolve().parent
    for name in (*record.reproducible.results, *record.outside, *record.reproducible.code.files):
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError("leaves the run's folder", path=folder / RECORD, record=name, fix="Do not use it.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as work:
        packed = _Crate(record, folder, root, licence or LICENCE)
        packed.describe(authors)
        packed.add_code()
        packed.add_inputs(copy=with_inputs)
        packed.add_results(Path(work))
        said = packed.add_run()
        crate = packed.crate
        made = Path(work) / f"crate{out.suffix if out.suffix == '.zip' else ''}"
        if made.suffix == ".zip":
            crate.write_zip(made)
        else:
            crate.write(made)
        shutil.move(made, out)
    return said


class _Crate:
    """A crate in the making."""

    def __init__(self, record: Record, folder: Path, root: Path, licence: str) -> None:
        from rocrate.rocrate import ROCrate

        self.record, self.part, self.folder, self.root = record, record.reproducible, folder, root
        self.licence = licence
        self.crate: ROCrate = ROCrate(version="1.1", gen_preview=False)
        # RO-Crate 1.1 has no term for digests; the profile's own does.
        self.crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
        self.written = str(record.host.get("written") or "").replace("Z", "+00:00")
        self.inputs: list[Any] = []
        self.results: list[Any] = []
        self.people: list[Any] = []
        self.parameters: dict[str, list[Any]] = {"input": [], "output": []}
        self.examples: dict[str, list[Any]] = {}
        self.left_out = 0
        self.workflow: Any = None

    def entity(self, at: str, kind: str, **properties: Any) -> Any:
        """Add a contextual entity."""
        from rocrate.model.contextentity import ContextEntity

        return self.crate.add(ContextEntity(self.crate, at, properties={"@type": kind, **properties}))

    def file(self, source: Path, target: str, sha256: str | None = None, **properties: Any) -> Any:
        """Copy a file into the crate, once; a second call gives the same entity."""
        if (known := self.crate.dereference(target)) is not None:
            return known
        facts = {
            "name": PurePosixPath(target).name,
            "contentSize": str(source.stat().st_size),
            "encodingFormat": FORMATS.get(PurePosixPath(target).suffix, "text/plain"),
            "sha256": sha256,
        }
        given = {key: value for key, value in facts.items() if value is not None}
        return self.crate.add_file(source, target, properties=given | properties)

    def example(self, entity: Any, side: str, name: str, description: str, kind: str = "File") -> Any:
        """Tie an entity to the workflow's formal parameter (`side`: input or output) that it is an example of."""
        at = f"#{side}-{name}"
        parameter = self.crate.dereference(at)
        if parameter is None:
            parameter = self.entity(
                at,
                "FormalParameter",
                name=name,
                description=description,
                additionalType=kind,
                conformsTo={"@id": PARAMETER_PROFILE},
            )
            self.parameters[side].append(parameter)
        entity["exampleOfWork"] = parameter
        self.examples.setdefault(at, []).append(entity)
        return entity

    def describe(self, authors: Sequence[str]) -> None:
        """The crate as a whole: name, licence, profiles, authors."""
        from rocrate.model.person import Person

        name, dataset = str(self.part.configuration.get("name", "run")), self.crate.root_dataset
        dataset["conformsTo"] = [
            self.entity(address, "CreativeWork", name=title, version=address.rpartition("/")[2])
            for address, title in PROFILES.items()
        ]
        for profile in (PARAMETER_PROFILE, WORKFLOW_PROFILE):
            name_of, version = profile.split("/")[-2:]
            self.entity(profile, "CreativeWork", name=name_of, version=version)
        dataset["license"] = self.entity(
            self.licence, "CreativeWork", name=self.licence.rpartition("/")[2], description="Licence of the crate"
        )
        dataset["identifier"] = f"faithfuse-run-{self.record.run_id}"
        self.crate.name = f"faithfuse run {self.record.run_id}: {name}"
        self.crate.description = (
            f"Inputs, code and results of the faithfuse run {self.record.run_id} ({name}): faithfulness metrics beside "
            f"human judgements, their fusion, and the source-risk audit. {self.part.configuration.get('note') or ''}"
        ).strip()
        self.crate.datePublished = self.written
        self.people = [
            self.crate.add(Person(self.crate, f"#author-{at}", properties={"name": who}))
            for at, who in enumerate(authors, start=1)
        ]
        if self.people:
            dataset["author"] = _one(self.people)

    def add_code(self) -> None:
        """The Snakefile as the workflow, and what it is made of."""
        code = self.part.code.files
        self.workflow = self.crate.add_workflow(
            self.root / "Snakefile",
            "Snakefile",
            main=True,
            lang="snakemake",
            lang_version=self.part.packages.get("snakemake"),
            properties={
                "name": "faithfuse",
                "version": self.part.faithfuse,
                "license": {"@id": self.licence},
                "conformsTo": {"@id": WORKFLOW_PROFILE},
                "encodingFormat": FORMATS[".smk"],
                "sha256": code.get("Snakefile"),
            },
        )
        for target, sha256 in code.items():
            if (self.root / target).is_file():
                self.file(self.root / target, target, sha256)
        for target in REPOSITORY_FILES:
            if (self.root / target).is_file():
                about = {"about": {"@id": "./"}} if target == "README.md" else {}
                self.file(self.root / target, target, **about)

    def add_inputs(self, *, copy: bool) -> None:
        """What the run read: settings, files, models; files outside the repository by name and digest alone."""
        settings = json.dumps(self.part.configuration, ensure_ascii=False, sort_keys=True)
        entity = self.entity("#configuration", "PropertyValue", name="configuration", value=settings)
        self.inputs.append(self.example(entity, "input", "configuration", PARAMETERS["configuration"], "PropertyValue"))
        for target, file in self.part.inputs.items():
            source = locate(target, self.record, self.folder, self.root)
            inside = not target.startswith(("$", "[")) and ".." not in PurePosixPath(target).parts
            if copy and inside and source.is_file():
                entity = self.file(source, target, file.sha256)
            else:
                self.left_out += 1
                value = f"sha256:{file.sha256}"
                entity = self.entity(f"#left-out-{self.left_out}", "PropertyValue", name=target, value=value)
            role = _role(target)
            self.inputs.append(self.example(entity, "input", role, PARAMETERS[role]))
        for key, model in self.part.models.items():
            entry = model.registry
            source = str(entry.get("package") or entry.get("repo") or entry.get("url") or key)
            revision = f" at {entry['revision']}" if entry.get("revision") else ""
            value = f"{source}{revision}, sha256:{model.sha256}, licence: {entry.get('licence', 'not stated')}"
            entity = self.entity(f"#model-{key}", "PropertyValue", name=key, value=value)
            self.inputs.append(self.example(entity, "input", "model", PARAMETERS["model"], "PropertyValue"))

    def add_results(self, work: Path) -> None:
        """What came out, with the manifests; of `manifest.json` a copy without this machine's folders."""
        for target, file in (self.part.results | self.record.outside).items():
            entity = self.file(self.folder / target.removeprefix("results/"), target, file.sha256)
            group = _group(target)
            text = "What describes the run as a whole" if group == "run" else f"The files below results/{group}"
            self.results.append(self.example(entity, "output", group, text))
        host = {key: value for key, value in self.record.host.items() if key != "folders"}
        public = self.record.model_copy(update={"host": host})
        (work / RECORD).write_text(dump(public), encoding="utf-8")
        sources = {RECORD: work / RECORD, CHECKSUMS: self.folder / CHECKSUMS, RUN_ID: self.folder / RUN_ID}
        for name, source in sources.items():
            entity = self.file(source, f"results/{name}", sha256_file(source))
            self.results.append(self.example(entity, "output", "run", "What describes the run as a whole"))

    def add_run(self) -> str:
        """The run itself, which ties everything together; returns a line about what was packed."""
        host, part = self.record.host, self.part
        for side, parameters in self.parameters.items():
            self.workflow[side] = parameters
            for parameter in parameters:
                parameter["workExample"] = _one(self.examples[parameter.id])
        action = self.crate.add_action(
            self.workflow,
            identifier=f"#run-{self.record.run_id}",
            object=self.inputs,
            result=self.results,
            properties={
                "name": f"Run {self.record.run_id} of faithfuse {part.faithfuse}",
                "description": f"{host.get('system')}, {host.get('processor')}, Python {host.get('python')}; code "
                f"{part.code.sha256}",
                "endTime": self.written,
                "actionStatus": "http://schema.org/CompletedActionStatus",
            },
        )
        if self.people:
            action["agent"] = _one(self.people)
        self.crate.root_dataset["mentions"] = action
        said = f"run {self.record.run_id}: {len(self.results)} results, {len(part.code.files)} files of code, "
        said += f"{len(self.inputs)} inputs"
        return said + (f", {self.left_out} of them described but not copied" if self.left_out else "")


def _one(entities: list[Any]) -> Any:
    """A list of one as that one, which is how RO-Crate writes it."""
    return entities[0] if len(entities) == 1 else entities


def _group(result: str) -> str:
    """The folder of a result below `results/`; `run` for a file that lies there itself."""
    parts = PurePosixPath(result).parts
    return parts[1] if len(parts) > 2 else "run"


def _role(name: str) -> str:
    if name.startswith("config/prompts/"):
        return "prompts"
    if name.startswith("notebooks/"):
        return "notebook"
    return "reference" if name.startswith(("config/reference/", "config/audit/")) else "data"
