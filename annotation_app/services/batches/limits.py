"""The bounds of an upload, as the settings have them."""

from django.conf import settings

from annotation_app.batch_file import Limits


def limits() -> Limits:
    return Limits(
        text=settings.TWINBLIND_TEXT_MAX,
        label=settings.TWINBLIND_ID_MAX,
        errors_listed=settings.TWINBLIND_ERRORS_LISTED,
        unpacked_ratio=settings.TWINBLIND_ARCHIVE_RATIO,
        unpacked=settings.TWINBLIND_ARCHIVE_FLOOR,
    )
