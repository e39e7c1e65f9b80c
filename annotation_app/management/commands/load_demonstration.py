"""`manage.py load_demonstration`: two studies to try, once; prints who can sign in."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation_app.demonstration import loader, people


class Command(BaseCommand):
    help = "Load the demonstration (once) and print one sign-in per role and the passphrases."

    def handle(self, *args: Any, **options: Any) -> None:
        loader.load()
        width = max(len(row["role_label"]) for row in loader.sign_ins())
        self.stdout.write("Sign in as one of:")
        for row in loader.sign_ins():
            self.stdout.write(f"  {row['role_label']:<{width}}  {row['username']:<6} {row['password']}")
        self.stdout.write(f"Passphrase of the admin:          {people.ADMIN_PASSPHRASE}")
        self.stdout.write(f"Passphrase of the project author: {people.AUTHOR_PASSPHRASE}")
