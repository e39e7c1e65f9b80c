"""A batch from upload to release."""
