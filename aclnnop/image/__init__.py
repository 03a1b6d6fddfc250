"""Images: resampling, sampling along grids, columns of windows, rasterization."""
