"""The paper's tables, reproduced and set beside the new method: ``python -m experiments run``, then ``render``."""
