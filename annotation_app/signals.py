"""News for whoever builds on records. Sent inside the transaction that made them true."""

from django.dispatch import Signal

record_submitted = Signal()  # assignment
pair_withdrawn = Signal()  # output, reason: an exposure, a void or a recall took a record out of comparison
case_given_up = Signal()  # assignment: its adjudicator recognised the source, or left
coding_closed = Signal()  # study
