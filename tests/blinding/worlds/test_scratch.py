import pickle, pytest
from tests.blinding.worlds import lives
from tests.blinding.worlds.fixture import *
from tests.blinding.worlds.transcript import difference
pytestmark = pytest.mark.django_db
def test_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lives, "sweep", lives.look_around)
    out = {}
    for f in (as_it_is(), renamed(), permuted()):
        life = lives.whole_life(f, tmp_path)
        out[f.name] = life.world.transcript
        life.drop()
    pickle.dump(out, open("/tmp/w/transcripts.pickle", "wb"))
