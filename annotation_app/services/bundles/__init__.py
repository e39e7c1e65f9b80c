"""A bundle: everything a reader needs to check a study, in one ZIP."""
