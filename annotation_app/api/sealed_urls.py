"""Addresses inside a study for what is sealed, logged and, at the end, opened."""

from django.urls import path

from annotation_app.api import (
    bundles,
    commitments,
    distributions,
    events,
    guesses,
    practice,
    recall,
    results,
    tasks,
    unblinding,
)

urlpatterns = [
    path("key/passphrase/", unblinding.PassphraseView.as_view()),
    path("key/recovery/", unblinding.RecoveryView.as_view()),
    path("commitments/", commitments.CommitmentsFile.as_view()),
    path("commitments/digests/", commitments.CommitmentList.as_view()),
    path("commitments/<uuid:uid>/", commitments.ManifestFile.as_view()),
    path("commitments/<uuid:uid>/receipt/", commitments.ReceiptView.as_view()),
    path("outputs/<str:blinded_id>/recall/", recall.RecallView.as_view()),
    path("outputs/<str:blinded_id>/recall/mask/", recall.MaskView.as_view()),
    path("outputs/<str:blinded_id>/recall/lift/", recall.LiftView.as_view()),
    path("guesses/next/", guesses.NextGuess.as_view()),
    path("guesses/<uuid:uid>/", guesses.GuessView.as_view()),
    path("exports/", bundles.BundlesView.as_view()),
    path("exports/<uuid:uid>/", bundles.BundleDetail.as_view()),
    path("exports/<uuid:uid>/file/", bundles.BundleFile.as_view()),
    path("events/", events.EventsView.as_view()),
    path("events/verify/", events.VerifyEvents.as_view()),
    path("unblinding/", unblinding.UnblindingRequests.as_view()),
    path("unblinding/<uuid:uid>/approve/", unblinding.ApproveUnblinding.as_view()),
    path("unblinding/<uuid:uid>/refuse/", unblinding.RefuseUnblinding.as_view()),
    path("unblinding/<uuid:uid>/withdraw/", unblinding.WithdrawUnblinding.as_view()),
    path("results/", results.ResultsView.as_view()),
    path("results/tasks/", tasks.TaskResults.as_view()),
    path("practice/", practice.PracticeView.as_view()),
    path("tasks/", tasks.TasksView.as_view()),
    path("tasks/<uuid:uid>/", tasks.TaskDetail.as_view()),
    path("tasks/<uuid:uid>/void/", tasks.VoidTask.as_view()),
    path("distributions/", distributions.DistributionsView.as_view()),
]
