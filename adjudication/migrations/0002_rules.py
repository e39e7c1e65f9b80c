"""Triggers in plain SQL, beside this file."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    dependencies = [("adjudication", "0001_initial"), ("annotation_app", "0002_rules")]
    operations = [migrations.RunSQL(SQL, migrations.RunSQL.noop)]
