"""Operators of ONNX, each as what it does to formulas of columns."""
