"""`duozero bench`: how fast the search, self-play and the updates are here."""
