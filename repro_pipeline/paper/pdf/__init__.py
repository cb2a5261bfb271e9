"""PDF files: from glyphs and rules to the paper, without any service."""

from repro_pipeline.paper.pdf.document import READER, read_pdf

__all__ = ["READER", "read_pdf"]
