-- Facts that must hold, whoever writes. Each trigger, and each rule that one reports, is named as a sentence.

CREATE OR REPLACE FUNCTION guard_comparison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1
      FROM annotation_app_record ra JOIN annotation_app_assignment a ON a.id = ra.assignment_id,
           annotation_app_record rb JOIN annotation_app_assignment b ON b.id = rb.assignment_id
     WHERE ra.id = NEW.record_a_id AND rb.id = NEW.record_b_id
       AND a.output_id = NEW.output_id AND b.output_id = NEW.output_id AND a.slot = 'A' AND b.slot = 'B'
       AND a.final_at IS NOT NULL AND b.final_at IS NOT NULL
       AND ra.version = a.version AND rb.version = b.version;
    IF NOT FOUND THEN
        PERFORM broken('only_final_pairs_of_one_output_are_compared');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER comparisons_are_of_final_pairs BEFORE INSERT ON adjudication_comparison
    FOR EACH ROW EXECUTE FUNCTION guard_comparison();
CREATE TRIGGER comparisons_are_never_changed BEFORE UPDATE OR DELETE ON adjudication_comparison
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER comparisons_are_never_truncated BEFORE TRUNCATE ON adjudication_comparison
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION guard_case() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.study_id, NEW.output_id, NEW.comparison_id, NEW.origin, NEW.a_is_left, NEW.place)
            <> (OLD.study_id, OLD.output_id, OLD.comparison_id, OLD.origin, OLD.a_is_left, OLD.place)
        THEN
            PERFORM broken('a_case_keeps_its_identity');
        END IF;
        -- A decision can still be withdrawn (exposure, void, recall); nothing that is closed opens again but by reopening the study.
        IF OLD.state = 'withdrawn' AND NEW.state <> 'withdrawn' OR OLD.state = 'decided' AND NEW.state NOT IN ('decided', 'withdrawn')
        THEN
            PERFORM broken('a_closed_case_stays_closed');
        END IF;
        IF NEW.claim_no < OLD.claim_no THEN
            PERFORM broken('claims_are_numbered_upwards');
        END IF;
    END IF;
    IF NEW.claimed_by_id IS NOT NULL THEN
        PERFORM 1 FROM annotation_app_membership m
          WHERE m.id = NEW.claimed_by_id AND m.role = 'adjudicator' AND m.study_id = NEW.study_id;
        IF NOT FOUND THEN
            PERFORM broken('only_an_adjudicator_of_the_study_claims_a_case');
        END IF;
    END IF;
    -- A case on hold is nothing to work on, so its adjudicator goes on with another. The member's row is taken first:
    -- of two claims at once, the second sees the first.
    IF NEW.claimed_by_id IS NOT NULL AND NEW.state = 'open'
       AND (TG_OP = 'INSERT' OR NEW.claimed_by_id IS DISTINCT FROM OLD.claimed_by_id)
    THEN
        PERFORM 1 FROM annotation_app_membership WHERE id = NEW.claimed_by_id FOR NO KEY UPDATE;
        PERFORM 1 FROM adjudication_case c JOIN annotation_app_output o ON o.id = c.output_id
          WHERE c.claimed_by_id = NEW.claimed_by_id AND c.state = 'open' AND c.id <> NEW.id AND o.frozen_at IS NULL;
        IF FOUND THEN
            PERFORM broken('an_adjudicator_claims_one_case_at_a_time');
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER cases_are_guarded BEFORE INSERT OR UPDATE ON adjudication_case
    FOR EACH ROW EXECUTE FUNCTION guard_case();
CREATE TRIGGER cases_are_never_removed BEFORE DELETE ON adjudication_case
    FOR EACH ROW EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION guard_new_decision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    current_phase text;
BEGIN
    SELECT s.phase INTO current_phase FROM annotation_app_study s JOIN adjudication_case c ON c.study_id = s.id
     WHERE c.id = NEW.case_id FOR SHARE OF s;
    IF current_phase NOT IN ('coding', 'review') THEN
        PERFORM broken('nothing_is_decided_behind_a_lock');
    END IF;
    PERFORM 1 FROM adjudication_case c
     WHERE c.id = NEW.case_id AND c.state = 'open' AND c.claimed_by_id = NEW.decided_by_id;
    IF NOT FOUND THEN
        PERFORM broken('only_who_claimed_an_open_case_decides_it');
    END IF;
    PERFORM 1 FROM annotation_app_assignment a JOIN adjudication_case c ON c.output_id = a.output_id
     WHERE c.id = NEW.case_id AND a.member_id = NEW.decided_by_id AND a.slot <> 'adjudicator';
    IF FOUND THEN
        PERFORM broken('nobody_decides_on_their_own_codes');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER decisions_are_made_by_who_claimed BEFORE INSERT ON adjudication_decision
    FOR EACH ROW EXECUTE FUNCTION guard_new_decision();
CREATE TRIGGER decisions_are_never_changed BEFORE UPDATE OR DELETE ON adjudication_decision
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER decisions_are_never_truncated BEFORE TRUNCATE ON adjudication_decision
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
