# Respond: greedy answers and summaries of the configured model.
#   in:  items, prompts, the model
#   out: results/responses/<domain>.jsonl


rule respond:
    input:
        item_records="results/items/{domain}/items.jsonl",
        model=f"{model_dir(RUN.llm.model)}/fetched.json",
        code=code("llm.commands:respond_command"),
    output:
        responses=update(sharded("results/responses/{domain}.jsonl")),
        meta=update(sharded("results/responses/{domain}.jsonl.meta.json")),
    log:
        sharded("results/logs/respond/{domain}.log"),
    benchmark:
        sharded("results/benchmarks/rules/respond/{domain}.tsv")
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
        max_new_tokens=RUN.llm.max_new_tokens,
        cache=RUN.cache_dir,
        share=share_number,
    message:
        "Answering {wildcards.domain} with {params.model}"
    shell:
        "python -m faithfuse respond {input.item_records} --model {params.model} --models {params.registry}"
        " --models-dir {params.models_dir} --prompts config/prompts --prompt-set {params.prompt_set}"
        " --max-new-tokens {params.max_new_tokens} --cache {params.cache} --threads {threads} --gpus {params.gpus} --shard {params.share}"
        " --out {output.responses} 2>&1 | tee {log}"
