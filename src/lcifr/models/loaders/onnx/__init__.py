"""ONNX files: read exactly, compared with their runtime, and written."""
