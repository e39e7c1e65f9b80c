-- Facts that must hold, whoever writes. Each trigger is named as the sentence it enforces.

CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE OR REPLACE FUNCTION broken(rule text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = rule, CONSTRAINT = rule;
END $$;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE OR DELETE ON blinding_event
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER events_are_never_truncated BEFORE TRUNCATE ON blinding_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER event_blocks_are_never_changed BEFORE UPDATE OR DELETE ON blinding_eventblock
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER event_blocks_are_never_truncated BEFORE TRUNCATE ON blinding_eventblock
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER exposures_are_never_changed BEFORE UPDATE OR DELETE ON blinding_exposure
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER exposures_are_never_truncated BEFORE TRUNCATE ON blinding_exposure
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION keep_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broken('seals_are_never_changed');
    END IF;
    IF EXISTS (SELECT 1 FROM blinding_commitment WHERE batch = OLD.batch) THEN
        PERFORM broken('seals_of_a_released_batch_are_never_removed');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER seals_are_kept BEFORE UPDATE OR DELETE ON blinding_sealedoutput
    FOR EACH ROW EXECUTE FUNCTION keep_sealed();
CREATE TRIGGER seals_are_never_truncated BEFORE TRUNCATE ON blinding_sealedoutput
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER task_seals_are_kept BEFORE UPDATE OR DELETE ON blinding_sealedtask
    FOR EACH ROW EXECUTE FUNCTION keep_sealed();
CREATE TRIGGER task_seals_are_never_truncated BEFORE TRUNCATE ON blinding_sealedtask
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION keep_commitment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.receipt IS NULL
       AND (NEW.batch, NEW.study, NEW.merkle_root, NEW.seed_commitment, NEW.leaves, NEW.manifest, NEW.allocation, NEW.sealed_seed, NEW.committed_at)
         = (OLD.batch, OLD.study, OLD.merkle_root, OLD.seed_commitment, OLD.leaves, OLD.manifest, OLD.allocation, OLD.sealed_seed, OLD.committed_at)
    THEN
        RETURN NEW;
    END IF;
    PERFORM broken('commitments_are_never_changed');
    RETURN NULL;
END $$;
CREATE TRIGGER commitments_are_never_changed BEFORE UPDATE OR DELETE ON blinding_commitment
    FOR EACH ROW EXECUTE FUNCTION keep_commitment();
CREATE TRIGGER commitments_are_never_truncated BEFORE TRUNCATE ON blinding_commitment
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_labels_are_never_changed BEFORE UPDATE OR DELETE ON blinding_revealedlabel
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_labels_are_never_truncated BEFORE TRUNCATE ON blinding_revealedlabel
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER open_digests_are_never_changed BEFORE UPDATE OR DELETE ON blinding_opendigests
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER open_digests_are_never_truncated BEFORE TRUNCATE ON blinding_opendigests
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER amendments_are_never_changed BEFORE UPDATE OR DELETE ON blinding_amendment
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER amendments_are_never_truncated BEFORE TRUNCATE ON blinding_amendment
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_tasks_are_never_changed BEFORE UPDATE OR DELETE ON blinding_revealedtask
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_tasks_are_never_truncated BEFORE TRUNCATE ON blinding_revealedtask
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_seeds_are_never_changed BEFORE UPDATE OR DELETE ON blinding_revealedseed
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_seeds_are_never_truncated BEFORE TRUNCATE ON blinding_revealedseed
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_figures_are_never_changed BEFORE UPDATE OR DELETE ON blinding_revealedfigures
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER revealed_figures_are_never_truncated BEFORE TRUNCATE ON blinding_revealedfigures
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER published_distributions_are_never_changed BEFORE UPDATE OR DELETE ON blinding_publisheddistributions
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER published_distributions_are_never_truncated BEFORE TRUNCATE ON blinding_publisheddistributions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
