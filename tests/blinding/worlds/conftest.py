"""The worlds, made once for all tests that look at them."""
