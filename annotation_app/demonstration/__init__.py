"""Two studies to try the product on: texts written for it, and people who exist only there."""
