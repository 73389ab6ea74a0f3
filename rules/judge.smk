# Judge: LLM Confidence and Likert (and the likelihood extension) of every response.
#   in:  items, recorded and generated responses, prompts, the model
#   out: results/verdicts/<domain>.jsonl, results/likelihood/<domain>.jsonl


rule judge:
    input:
        item_records="results/items/{domain}/items.jsonl",
        responses=response_files,
        model=f"{model_dir(RUN.llm.model)}/fetched.json",
        code=code("llm.commands:judge_command"),
    output:
        verdicts=update(sharded("results/verdicts/{domain}.jsonl")),
        verdicts_meta=update(sharded("results/verdicts/{domain}.jsonl.meta.json")),
        likelihood=update(sharded("results/likelihood/{domain}.jsonl")),
        likelihood_meta=update(sharded("results/likelihood/{domain}.jsonl.meta.json")),
    log:
        sharded("results/logs/judge/{domain}.log"),
    benchmark:
        sharded("results/benchmarks/rules/judge/{domain}.tsv")
    conda:
        "../envs/faithfuse.yaml"
    threads: RUN.llm.threads
    resources:
        mem_mb=grows(memory(RUN.llm.model)),
        runtime=grows(240),
        gpu=gpus(RUN.llm.model),
    params:
        registry="config/models.yaml",
        entry=entry(RUN.llm.model),
        gpus=gpus(RUN.llm.model),
        model=RUN.llm.model,
        models_dir=subpath(input.model, ancestor=2),
        prompts_digest=PROMPTS_DIGEST,
        prompt_set=RUN.llm.prompt_set,
        variants=repeated("--variant", RUN.llm.summary_variants),
        cache=RUN.cache_dir,
        share=share_number,
    message:
        "Judging {wildcards.domain} with {params.model}"
    shell:
        "python -m faithfuse judge {input.item_records} {input.responses} --model {params.model}"
        " --models {params.registry} --models-dir {params.models_dir} --prompts config/prompts"
        " --prompt-set {params.prompt_set} {params.variants} --cache {params.cache} --threads {threads}"
        " --gpus {params.gpus} --shard {params.share}"
        " --likelihood-out {output.likelihood} --out {output.verdicts} 2>&1 | tee {log}"
