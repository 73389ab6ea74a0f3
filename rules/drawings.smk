# Drawings: the figures 1 to 3 of arXiv 2512.05700.
#   in:  a task-oriented record of our own; the two texts that section IV-B names, and the configured parser
#   out: results/figures/figure_1.svg … figure_3.svg
FIGURE_TEXTS = {
    2: "Aria has just run into Charlie Evans.",
    3: "Coldplay with special guest performers Beyonce and Bruno Mars",
}


rule draw_nesting:
    input:
        records="config/figures/task_oriented.jsonl",
        code=code("datasets.nesting", "datasets.commands"),
    output:
        figure=captioned("Figures", ["results/figures/figure_1.svg"]),
    log:
        "results/logs/drawings/figure_1.log",
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Drawing figure 1"
    shell:
        "python -m faithfuse data nesting {input.records} --out {output.figure} 2>&1 | tee {log}"


rule draw_graph:
    input:
        model=optional(RUN.parser != "rules", f"{model_dir(RUN.parser)}/fetched.json"),
        code=code("amr.commands:draw"),
    output:
        figure=report(
            update("results/figures/figure_{number}.svg"),
            caption="../workflow/report/figure_graph.rst",
            category="Figures",
        ),
    log:
        "results/logs/drawings/figure_{number}.log",
    wildcard_constraints:
        number="|".join(map(str, FIGURE_TEXTS)),
    conda:
        "../envs/faithfuse.yaml"
    resources:
        mem_mb=grows(memory(RUN.parser)),
        runtime=grows(15),
        gpu=gpus(RUN.parser),
    params:
        registry="config/models.yaml",
        entry=entry(RUN.parser),
        sentence=lambda wildcards: FIGURE_TEXTS[int(wildcards.number)],
        parser=RUN.parser,
        models_dir=RUN.models_dir,
    message:
        "Drawing figure {wildcards.number}"
    shell:
        "python -m faithfuse amr draw --sentence {params.sentence:q} --parser {params.parser}"
        " --models {params.registry} --models-dir {params.models_dir} --out {output.figure} 2>&1 | tee {log}"
