from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """The core domain: studies, codebooks, batches, assignments, records and exports."""

    name = "annotation_app"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the Celery application current, so that shared tasks find the broker, and say who does which jobs."""
        from django.utils.translation import gettext

        from annotation_app import (
            celery,  # noqa: F401
            registries,
        )
        from annotation_app.record_schema import wording
        from annotation_app.services import recall, unblinding
        from annotation_app.services.batches import importing, release, upload
        from annotation_app.services.bundles import build, tasks
        from blinding import jobs

        wording.use(gettext)
        jobs.register(upload.KIND, importing.import_batch, importing.import_failed)
        jobs.register(release.KIND, release.run_release, release.release_failed)
        jobs.register(unblinding.KIND, unblinding.open_seals, unblinding.opening_failed)
        registries.lock_guards.append(recall.guard_lock)
        registries.bundle_parts.append(tasks.task_parts)
        jobs.register(build.KIND, build.build_bundle)
