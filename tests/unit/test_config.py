"""The configuration is validated, and its published schema is the models' own."""

from __future__ import annotations

import copy

import pytest
import yaml
from snakemake.utils import update_config

from faithfuse.config import DataSource, parse_config, schema
from faithfuse.errors import InputError


def load(repository, name):
    return yaml.safe_load((repository / "config" / name).read_text(encoding="utf-8"))


def test_the_published_schema_is_the_models_own(repository):
    # Mend with `python -m faithfuse.config`.
    assert (repository / "config" / "schema.json").read_text(encoding="utf-8") == schema()


def test_every_configuration_of_the_repository_is_valid(repository, monkeypatch):
    # A data root's variables are expanded only when its files are read.
    monkeypatch.delenv("FAITHFUSE_DATA", raising=False)
    default = load(repository, "config.yaml")
    for path in sorted((repository / "config").glob("*.yaml")):
        if path.name != "models.yaml":
            laid_over = copy.deepcopy(default)
            update_config(laid_over, load(repository, path.name))
            assert parse_config(laid_over, path.name).name == load(repository, path.name)["name"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domain": ["short_form_qa"]}, "domain: Extra inputs"),
        ({"domains": ["task_oriented"]}, "cannot be evaluated"),
        ({"domains": ["short_form_qa", "short_form_qa"]}, "named twice"),
        ({"domains": ["poetry"]}, "domains.0"),
        ({"correlation": {"interval": "normal"}}, "correlation.interval"),
        ({"fusion": {"interactions": -1}}, "fusion.interactions: Input should be greater than or equal to 0"),
        ({"fusion": {"seeds": 0}}, "fusion.seeds: Input should be greater than or equal to 1, found 0"),
        ({"data": []}, "data"),
        ({"data": [{"set": "folder", "root": "x", "limit": 3}]}, "taken whole"),
        ({"further": [{"set": "folder", "root": "x"}]}, "there is no set folder; choose from begin_wow"),
        ({"further": [{"set": "faceval", "root": "x"}] * 2}, "the set faceval is named twice"),
    ],
)
def test_a_mistake_is_named_by_its_key(repository, change, said):
    with pytest.raises(InputError) as error:
        parse_config(load(repository, "config.yaml") | change, "my.yaml")
    assert "my.yaml" in str(error.value)
    assert said in str(error.value)


def test_a_further_set_is_named_after_its_domain(repository):
    further = [{"set": "faceval", "root": "x"}, {"set": "evouna_tq", "root": "x", "judge": True}]
    run = parse_config(load(repository, "config.yaml") | {"further": further}, "my.yaml")
    assert list(run.studies()) == ["summarisation.faceval", "short_form_qa.evouna_tq"]


def test_a_data_root_may_name_an_environment_variable(monkeypatch):
    source = DataSource(set="folder", root="${SOMEWHERE}/x")
    monkeypatch.setenv("SOMEWHERE", "/data")
    assert source.folder() == "/data/x"
    monkeypatch.delenv("SOMEWHERE")
    with pytest.raises(InputError, match="SOMEWHERE.*not set"):
        source.folder()
