from django.apps import AppConfig


class BlindingConfig(AppConfig):
    """Who may learn what and when, and everything that is sealed until then."""

    name = "blinding"
    default_auto_field = "django.db.models.BigAutoField"
