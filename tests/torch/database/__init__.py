"""torch's operator database on emulated devices, against the CPU: ``make torch``."""
