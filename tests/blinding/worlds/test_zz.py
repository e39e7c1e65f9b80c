import collections
import time

import pytest

from tests.blinding.worlds import acts, script, sweep
from tests.blinding.worlds.fixture import *
from tests.blinding.worlds.world import *
from tests.clones import copied, dropped

OUT=open('/tmp/w/out','w')
def print(*a):
    import builtins; builtins.print(*a,file=OUT,flush=True)
pytestmark = pytest.mark.django_db

def test_script(tmp_path):
    db = copied()
    try:
        w = World(as_it_is(), db, tmp_path)
        with w.open():
            t=time.time()
            for step in (script.set_up, script.open_coding, script.upload, script.release, acts.code_some, lambda w: sweep.sweep(w,"sweep"), acts.close_coding, lambda w: sweep.look_around(w,"look"), acts.lock,  lambda w: sweep.look_around(w,"look again")):
                step(w)
                print(step.__name__, w.requests, time.time()-t, time.process_time())
            print(collections.Counter((a.method,a.status) for a in w.transcript))
            for a in w.transcript:
                if a.status >=500: print(a.name, a.status, a.body[:200], a.logs)
            print(sweep.forgotten_bodies(w))
    finally:
        dropped(db)
