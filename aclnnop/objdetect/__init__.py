"""Object detection: boxes, their overlaps, and regions of images."""
