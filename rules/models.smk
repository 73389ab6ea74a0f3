# Models.
#   in:  the model's entry in config/models.yaml
#   out: .models/<key>/ and its marker fetched.json
# The only rule that may use the network.


rule fetch_model:
    input:
        code=code("llm.commands:fetch_models"),
    output:
        marker=update(f"{RUN.models_dir}/{{model}}/fetched.json"),
    log:
        "results/logs/fetch_model/{model}.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        registry="config/models.yaml",
        entry=lambda wildcards: entry(wildcards.model),
        models_dir=subpath(output.marker, ancestor=2),
    message:
        "Obtaining model {wildcards.model}"
    shell:
        "HF_HUB_OFFLINE=0 TRANSFORMERS_OFFLINE=0 python -m faithfuse models fetch {wildcards.model}"
        " --models {params.registry} --models-dir {params.models_dir} 2>&1 | tee {log}"
        " && touch {output.marker}"
