"""The engine computes what numpy computes, to the last bit or as far off as is said."""
