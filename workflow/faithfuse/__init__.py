"""faithfuse: reproducible faithfulness evaluation of LLM text."""

__version__ = "0.1.0"
