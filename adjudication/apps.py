from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    """What happens when annotators disagree."""

    name = "adjudication"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Hook into the domain: its news, its lock, its counts, its jobs."""
        from adjudication import receivers
        from adjudication.pages.home import adjudicator_home
        from adjudication.services import bundle_parts, consensus, reports, training
        from annotation_app import registries
        from blinding import jobs

        registries.lock_guards.append(receivers.guard_lock)
        registries.at_lock.append(receivers.close_what_stays_open)
        registries.counters.append(receivers.counts)
        registries.bundle_parts.append(bundle_parts.bundle_parts)
        registries.consensus_sources.append(consensus.consensus_of)
        registries.code_comparers.append(training.compare_codes)
        registries.round_measures.append(training.round_agreement)
        registries.homes["adjudicator"] = adjudicator_home
        jobs.register(reports.KIND, reports.compute_report)
