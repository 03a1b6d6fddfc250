"""Matrix products and operators built on them."""
