"""Validate a crate with the official validator, run by an interpreter that has it (`roc-validator` on PyPI).

    PYTHON validate_crate.py CRATE [CONTEXT]

The validator reads the JSON-LD context of RO-Crate 1.1 from the web; CONTEXT is a copy for a host without a network.
Prints each failed check, and exits 1 where one that the profile requires failed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def offline(copy: Path):
    """Answer requests for the context, by rdflib and by the validator itself, from a copy."""
    from rdflib.plugins.shared.jsonld import context as jsonld
    from rocrate_validator.utils.http import HttpRequester

    document = json.loads(copy.read_text(encoding="utf-8"))
    load = jsonld.source_to_json
    headers = {"Content-Type": "application/ld+json"}

    def source_to_json(source, *rest, **more):
        return (document, None) if source == CONTEXT else load(source, *rest, **more)

    def get(self, url, **more):
        if url != CONTEXT:
            return self.session.get(url, **more)
        answer = {"status_code": 200, "headers": headers, "json": lambda: document, "text": json.dumps(document)}
        return SimpleNamespace(**answer)

    jsonld.source_to_json = source_to_json
    HttpRequester.get = get


def main() -> int:
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    crate = sys.argv[1]
    if len(sys.argv) > 2:
        offline(Path(sys.argv[2]))
    settings = ValidationSettings(
        rocrate_uri=crate, profile_identifier="workflow-run-crate-0.5", requirement_severity=Severity.RECOMMENDED
    )
    result = services.validate(settings)
    required = 0
    for issue in result.get_issues(Severity.RECOMMENDED):
        needed = issue.severity >= Severity.REQUIRED
        required += needed
        print(f"{'required' if needed else 'recommended'}: {issue.check.identifier}: {issue.message}")
    print(f"{required} required checks failed")
    return 1 if required else 0


if __name__ == "__main__":
    sys.exit(main())
