"""``make bench``: how fast the emulator is, as ratios to what the machine and other libraries do in the same run."""
