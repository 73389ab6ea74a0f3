# Parse: an AMR graph of every distinct sentence that a graph metric needs.
#   in:  items, responses, the parser
#   out: results/graphs/<domain>.jsonl


rule parse:
    input:
        item_records="results/items/{domain}/items.jsonl",
        responses=response_files,
        model=optional(RUN.parser != "rules", f"{model_dir(RUN.parser)}/fetched.json"),
        code=code("amr.commands:parse"),
    output:
        graphs=update(sharded("results/graphs/{domain}.jsonl")),
    log:
        sharded("results/logs/parse/{domain}.log"),
    benchmark:
        sharded("results/benchmarks/rules/parse/{domain}.tsv")
    conda:
        "../envs/faithfuse.yaml"
    threads: 1
    resources:
        mem_mb=grows(memory(RUN.parser)),
        runtime=grows(240),
        gpu=gpus(RUN.parser),
    params:
        registry="config/models.yaml",
        entry=entry(RUN.parser),
        gpus=gpus(RUN.parser),
        parser=RUN.parser,
        models_dir=RUN.models_dir,
        cache=RUN.cache_dir,
        share=share_number,
    message:
        "Parsing {wildcards.domain} with {params.parser}"
    shell:
        "python -m faithfuse parse {input.item_records} {input.responses} --parser {params.parser}"
        " --models {params.registry} --models-dir {params.models_dir} --cache {params.cache}"
        " --threads {threads} --gpus {params.gpus} --shard {params.share} --out {output.graphs} 2>&1 | tee {log}"
