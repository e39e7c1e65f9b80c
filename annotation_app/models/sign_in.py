"""How often somebody tried to sign in lately."""

from django.db import models


class SignInTries(models.Model):
    """The tries for one account's name or from one address since `since`; only a keyed digest of it is kept."""

    subject = models.CharField(max_length=64, primary_key=True)
    tries = models.PositiveIntegerField()
    since = models.DateTimeField()

    def __str__(self) -> str:
        return self.subject
