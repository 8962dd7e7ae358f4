"""One page about a model: self-contained HTML that needs no network."""

from vinculum.present.report.page import Written, page, write_report

__all__ = ["Written", "page", "write_report"]
