"""The training loop, the measuring of players, and the command line. Nothing imports it."""
