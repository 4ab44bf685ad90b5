"""How an experiment is shown: figures, and a report in Markdown and as one HTML page."""
