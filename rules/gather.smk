# Gather: the shares of a sharded stage (`shards` in the configuration) joined to the file that one job would have written.
#   in:  results/shards/<stage>/<domain>/<share>.jsonl
#   out: results/<stage>/<domain>.jsonl, with .meta.json of the LLM stages


localrules:
    gather,
    gather_graphs,


rule gather:
    input:
        shares=expand(
            "results/shards/{{stage}}/{{domain}}/{share}.jsonl",
            share=range(1, RUN.shards + 1),
        ),
        meta=expand(
            "results/shards/{{stage}}/{{domain}}/{share}.jsonl.meta.json",
            share=range(1, RUN.shards + 1),
        ),
        code=code("llm.commands:gather_command"),
    output:
        records=update("results/{stage}/{domain}.jsonl"),
        meta=update("results/{stage}/{domain}.jsonl.meta.json"),
    log:
        "results/logs/gather/{stage}_{domain}.log",
    wildcard_constraints:
        stage="responses|verdicts|likelihood",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    message:
        "Gathering {wildcards.stage} of {wildcards.domain}"
    shell:
        "python -m faithfuse gather {input.shares} --stage {wildcards.stage} --out {output.records} 2>&1 | tee {log}"


rule gather_graphs:
    input:
        shares=expand(
            "results/shards/graphs/{{domain}}/{share}.jsonl",
            share=range(1, RUN.shards + 1),
        ),
        code=code("llm.commands:gather_command"),
    output:
        graphs=update("results/graphs/{domain}.jsonl"),
    log:
        "results/logs/gather/graphs_{domain}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    message:
        "Gathering graphs of {wildcards.domain}"
    shell:
        "python -m faithfuse gather {input.shares} --stage graphs --out {output.graphs} 2>&1 | tee {log}"
