# Data sets: public human judgements as items, responses and ratings, and the cross-domain data set.
#   in:  the sets' original files (`data` in the configuration; a data folder with human/ and raw/, or a set's own)
#   out: results/datasets/<set>/{items,responses,ratings}.jsonl and card.json, one per set of judgements;
#        results/datasets/sources/<set>/{records.jsonl,card.json}, one per source set;
#        results/datasets/unified/: the data set drawn from them as Parquet and JSON Lines, README.md (the data card),
#        the selection and the duplicates, and its items for the workflow
# Damage that a set's module documents is mended (`--repair`); the card says what and how often.


include: "datasets_inputs.smk"


localrules:
    datasets,


rule datasets:
    input:
        expand("results/datasets/{set}/card.json", set=judged_sets() + unified()),
        optional(judged_sets(), "results/datasets/sets.csv"),
    message:
        "Every set is in results/datasets; each folder's card.json says what was kept and why."


rule import_set:
    input:
        files=lambda wildcards: original_files(wildcards.set),
        code=code("datasets.ratings", "datasets.commands"),
    output:
        study=update(
            expand("results/datasets/{{set}}/{name}", name=STUDY_FILES),
        ),
        card=update("results/datasets/{set}/card.json"),
    log:
        "results/logs/import_set/{set}.log",
    wildcard_constraints:
        set="|".join(IMPORTERS),
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    params:
        root=lambda wildcards: data_root(wildcards.set),
        drawn=lambda wildcards: drawn(wildcards.set),
        out=subpath(output.card, parent=True),
    message:
        "Importing {wildcards.set}"
    shell:
        "python -m faithfuse data import {wildcards.set} --root {params.root:q} --repair {params.drawn}"
        " --out {params.out} 2>&1 | tee {log}"


rule load_source:
    input:
        files=lambda wildcards: original_files(wildcards.source),
        code=code("datasets.sources", "datasets.commands"),
    output:
        records=update("results/datasets/sources/{source}/records.jsonl"),
        card=update("results/datasets/sources/{source}/card.json"),
    log:
        "results/logs/load_source/{source}.log",
    wildcard_constraints:
        source="|".join(SOURCES),
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(240),
    params:
        root=data_root("unified"),
        out=subpath(output.card, parent=True),
    message:
        "Loading {wildcards.source}"
    shell:
        "python -m faithfuse data load {wildcards.source} --root {params.root:q} --out {params.out} 2>&1"
        " | tee {log}"


rule unify:
    input:
        records=expand(
            "results/datasets/sources/{source}/records.jsonl", source=SOURCES
        ),
        cards=expand("results/datasets/sources/{source}/card.json", source=SOURCES),
        code=code("datasets.unify", "datasets.commands"),
    output:
        study=update(expand("results/datasets/unified/{name}", name=STUDY_FILES)),
        card=update("results/datasets/unified/card.json"),
        readme=update("results/datasets/unified/README.md"),
        parquet=update(
            expand(
                "results/datasets/unified/{subset}.parquet",
                subset=[str(subset) for subset in Subset],
            )
        ),
        selection=update("results/datasets/unified/selection.csv"),
        duplicates=update("results/datasets/unified/duplicates.csv"),
    log:
        "results/logs/unify/unified.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        sources=expand("results/datasets/sources/{source}", source=SOURCES),
        seed=RUN.seed,
        out=subpath(output.card, parent=True),
    message:
        "Building the cross-domain data set"
    shell:
        "python -m faithfuse data unify {params.sources} --seed {params.seed} --out {params.out} 2>&1 | tee {log}"


rule describe_sets:
    input:
        cards=expand("results/datasets/{set}/card.json", set=judged_sets()),
        ratings=expand("results/datasets/{set}/ratings.jsonl", set=judged_sets()),
        code=code("datasets.describe", "datasets.commands"),
    output:
        table=update("results/datasets/sets.csv"),
    log:
        "results/logs/describe_sets/sets.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    params:
        folders=expand("results/datasets/{set}", set=judged_sets()),
    message:
        "Describing the sets"
    shell:
        "python -m faithfuse data describe {params.folders} --out {output.table} 2>&1 | tee {log}"


rule release:
    input:
        study=expand("results/items/{domain}/{name}", domain=DOMAINS, name=STUDY_FILES),
        responses=optional(
            RUN.llm.respond, expand("results/responses/{domain}.jsonl", domain=DOMAINS)
        ),
        graphs=expand("results/graphs/{domain}.jsonl", domain=DOMAINS),
        metrics=METRICS,
        code=code("datasets.release", "datasets.commands"),
    output:
        card=update("results/release/card.json"),
        readme=update("results/release/README.md"),
        parquet=update(expand("results/release/{domain}.parquet", domain=DOMAINS)),
    log:
        "results/logs/release/release.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(60),
    params:
        folders=expand("results/items/{domain}", domain=DOMAINS),
        responses=lambda wildcards, input: repeated("--responses", input.responses),
        graphs=lambda wildcards, input: repeated("--graphs", input.graphs),
        metrics=lambda wildcards, input: repeated("--metrics", input.metrics),
        out=subpath(output.card, parent=True),
    message:
        "Joining items with responses, graphs, metric values and ratings"
    shell:
        "python -m faithfuse data release {params.folders} {params.responses} {params.graphs} {params.metrics}"
        " --out {params.out} 2>&1 | tee {log}"


rule fetch_data:
    input:
        registry="config/data.csv",
        code=code("datasets.fetch", "datasets.commands"),
    output:
        # The list of digests; the files themselves go beside it. Only this rule and fetch_model use the network.
        fetched=update("data/fetched.csv"),
    log:
        "results/logs/fetch_data/data.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(240),
    params:
        out=subpath(output.fetched, parent=True),
    message:
        "Fetching the data sets that may be fetched; the log says how to get the others"
    shell:
        "python -m faithfuse data fetch all --registry {input.registry} --out {params.out} 2>&1 | tee {log}"
