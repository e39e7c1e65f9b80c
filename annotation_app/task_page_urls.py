"""Addresses of pages about a study's tasks."""

from django.urls import path

from annotation_app.pages import distributions, practice, tasks

urlpatterns = [
    path("tasks/", tasks.tasks, name="tasks"),
    path("tasks/results/", tasks.results, name="task-results"),
    path("tasks/<uuid:uid>/", tasks.task, name="task"),
    path("tasks/<uuid:uid>/void/", tasks.void, name="task-void"),
    path("practice/", practice.practice, name="practice"),
    path("distributions/", distributions.distributions, name="distributions"),
]
