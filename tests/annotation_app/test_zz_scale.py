import cProfile, pstats, pytest
from pathlib import Path
from tests.factories import *
from tests.annotation_app.ceremony import unblind
from tests.annotation_app.eventful import built_bundle
from annotation_app.services.results import computed_results
@pytest.mark.django_db(transaction=True)
def test_scale():
    study=a_study("pilot", phase="coding", protocol={"guess":{"share":0.1,"conditions":["a","b"],"models":[]}})
    study.release(study.import_batch(Path("/work/shared/data/instruction_pilot/outputs.jsonl")))
    study.code_all("primary_A"); study.code_all("primary_B"); 
    study.settle(); study.to("review"); study.settle(); 
    study.lock(); 
    unblind(study); 
    for f in (lambda: built_bundle(study), lambda: computed_results(study.study)):
        p=cProfile.Profile(); p.enable(); f(); p.disable()
        pstats.Stats(p).sort_stats("cumtime").print_stats(32)
