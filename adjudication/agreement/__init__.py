"""Agreement between coders: pure functions without ORM or Django. Start at `report.build_report`."""
