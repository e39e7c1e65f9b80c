-- Facts that must hold, whoever writes. Each trigger, and each rule that one reports, is named as a sentence.

CREATE OR REPLACE FUNCTION guard_study() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.phase <> OLD.phase AND (OLD.phase, NEW.phase) NOT IN (
        ('setup', 'training'), ('setup', 'coding'), ('training', 'coding'), ('coding', 'review'),
        ('review', 'locked'), ('locked', 'unblinded'), ('locked', 'review'))
    THEN
        PERFORM broken('phases_only_move_forward');
    END IF;
    IF OLD.phase = 'locked' AND NEW.phase = 'review' AND OLD.reopening IS NULL THEN
        PERFORM broken('a_lock_is_undone_by_two_people');
    END IF;
    IF NEW.phase NOT IN ('setup', 'training') AND NEW.frozen_at IS NULL THEN
        PERFORM broken('protocol_and_codebook_are_frozen_before_coding');
    END IF;
    IF OLD.frozen_at IS NOT NULL AND (NEW.frozen_at, NEW.protocol, NEW.record_schema, NEW.preregistration_hash)
        IS DISTINCT FROM (OLD.frozen_at, OLD.protocol, OLD.record_schema, OLD.preregistration_hash)
    THEN
        PERFORM broken('what_was_preregistered_is_never_changed');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER studies_are_guarded BEFORE UPDATE ON annotation_app_study
    FOR EACH ROW EXECUTE FUNCTION guard_study();
CREATE TRIGGER studies_are_never_removed BEFORE DELETE ON annotation_app_study
    FOR EACH ROW EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION guard_membership() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.study_id, NEW.role, NEW.alias, NEW.joined_at) <> (OLD.study_id, OLD.role, OLD.alias, OLD.joined_at) THEN
        PERFORM broken('a_member_keeps_role_and_pseudonym');
    END IF;
    IF NEW.user_id IS DISTINCT FROM OLD.user_id AND NEW.user_id IS NOT NULL THEN
        PERFORM broken('a_membership_is_never_handed_on');
    END IF;
    IF OLD.declared_at IS NOT NULL AND NEW.declared_at IS DISTINCT FROM OLD.declared_at THEN
        PERFORM broken('a_declaration_is_signed_once');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER memberships_are_guarded BEFORE UPDATE ON annotation_app_membership
    FOR EACH ROW EXECUTE FUNCTION guard_membership();
CREATE TRIGGER memberships_are_never_removed BEFORE DELETE ON annotation_app_membership
    FOR EACH ROW EXECUTE FUNCTION refuse();

CREATE TRIGGER codebooks_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_codebook
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER codebooks_are_never_truncated BEFORE TRUNCATE ON annotation_app_codebook
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION guard_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.study_id, NEW.task_id, NEW.task_version, NEW.code) <> (OLD.study_id, OLD.task_id, OLD.task_version, OLD.code)
       OR (OLD.voided_at IS NOT NULL AND NEW.voided_at IS DISTINCT FROM OLD.voided_at)
    THEN
        PERFORM broken('a_task_version_keeps_its_identity');
    END IF;
    IF EXISTS (SELECT 1 FROM annotation_app_output WHERE task_id = OLD.id)
       AND ((OLD.statement <> '' AND NEW.statement <> OLD.statement)
            OR (OLD.positive_control AND (NEW.positive_control, NEW.classes) IS DISTINCT FROM (OLD.positive_control, OLD.classes)))
    THEN
        PERFORM broken('a_released_task_is_never_reworded');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tasks_are_guarded BEFORE UPDATE ON annotation_app_task
    FOR EACH ROW EXECUTE FUNCTION guard_task();

CREATE OR REPLACE FUNCTION guard_output() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.study_id, NEW.batch_id, NEW.task_id, NEW.cluster_id, NEW.blinded_output_id)
        IS DISTINCT FROM (OLD.study_id, OLD.batch_id, OLD.task_id, OLD.cluster_id, OLD.blinded_output_id)
    THEN
        PERFORM broken('an_output_keeps_its_identity');
    END IF;
    IF (NEW.text, NEW.html, NEW.blind_version) <> (OLD.text, OLD.html, OLD.blind_version) AND OLD.frozen_at IS NULL THEN
        PERFORM broken('a_text_changes_only_in_a_recall');
    END IF;
    IF OLD.excluded_at IS NOT NULL AND NEW.excluded_at IS DISTINCT FROM OLD.excluded_at THEN
        PERFORM broken('an_exclusion_is_never_undone');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER outputs_are_guarded BEFORE UPDATE ON annotation_app_output
    FOR EACH ROW EXECUTE FUNCTION guard_output();
CREATE TRIGGER outputs_are_never_removed BEFORE DELETE ON annotation_app_output
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER outputs_are_never_truncated BEFORE TRUNCATE ON annotation_app_output
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION slot_of(role text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE role WHEN 'primary_A' THEN 'A' WHEN 'primary_B' THEN 'B'
                     WHEN 'audit' THEN 'audit' WHEN 'adjudicator' THEN 'adjudicator' END
$$;

CREATE OR REPLACE FUNCTION guard_new_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM annotation_app_membership m, annotation_app_output o
     WHERE m.id = NEW.member_id AND o.id = NEW.output_id AND m.study_id = NEW.study_id AND o.study_id = NEW.study_id
       AND slot_of(m.role) = NEW.slot;
    IF NOT FOUND THEN
        PERFORM broken('a_member_codes_only_in_the_slot_of_their_role');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER assignments_fit_their_member BEFORE INSERT ON annotation_app_assignment
    FOR EACH ROW EXECUTE FUNCTION guard_new_assignment();

CREATE OR REPLACE FUNCTION guard_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.record_id, NEW.study_id, NEW.output_id, NEW.member_id, NEW.slot, NEW.calibration, NEW.position, NEW.given_later, NEW.guess_drawn)
        IS DISTINCT FROM
       (OLD.record_id, OLD.study_id, OLD.output_id, OLD.member_id, OLD.slot, OLD.calibration, OLD.position, OLD.given_later, OLD.guess_drawn)
    THEN
        PERFORM broken('an_allocation_is_never_changed');
    END IF;
    IF OLD.served_at IS NOT NULL AND (NEW.served_at, NEW.codebook_id) IS DISTINCT FROM (OLD.served_at, OLD.codebook_id) THEN
        PERFORM broken('an_item_is_served_once');
    END IF;
    IF OLD.final_at IS NOT NULL AND (NEW.final_at, NEW.version, NEW.submitted_at, NEW.revisable_until)
        IS DISTINCT FROM (OLD.final_at, OLD.version, OLD.submitted_at, OLD.revisable_until)
    THEN
        PERFORM broken('what_is_final_stays_final');
    END IF;
    IF OLD.voided_at IS NOT NULL AND (NEW.voided_at, NEW.void_reason) IS DISTINCT FROM (OLD.voided_at, OLD.void_reason) THEN
        PERFORM broken('what_is_voided_stays_voided');
    END IF;
    IF NEW.version NOT IN (OLD.version, OLD.version + 1) THEN
        PERFORM broken('versions_of_a_record_follow_each_other');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER assignments_are_guarded BEFORE UPDATE ON annotation_app_assignment
    FOR EACH ROW EXECUTE FUNCTION guard_assignment();
CREATE TRIGGER assignments_are_never_removed BEFORE DELETE ON annotation_app_assignment
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER assignments_are_never_truncated BEFORE TRUNCATE ON annotation_app_assignment
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

-- A record needs a live assignment, in a phase of its slot. The study row is taken FOR SHARE before the assignment is
-- read, so that no record slips in behind a change of phase, and none waits for it in the opposite order.
CREATE OR REPLACE FUNCTION guard_new_record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    current_phase text;
    allowed boolean;
    a annotation_app_assignment%ROWTYPE;
    study uuid;
BEGIN
    SELECT study_id INTO study FROM annotation_app_assignment WHERE id = NEW.assignment_id;
    SELECT phase INTO current_phase FROM annotation_app_study WHERE id = study FOR SHARE;
    SELECT * INTO a FROM annotation_app_assignment WHERE id = NEW.assignment_id FOR UPDATE;
    IF a.slot = 'adjudicator' THEN
        PERFORM broken('an_adjudicator_decides_and_stores_no_record');
    END IF;
    IF a.voided_at IS NOT NULL THEN
        PERFORM broken('no_record_for_a_voided_assignment');
    END IF;
    IF a.final_at IS NOT NULL THEN
        PERFORM broken('no_record_after_finality');
    END IF;
    IF a.served_at IS NULL THEN
        PERFORM broken('no_record_before_the_item_was_served');
    END IF;
    allowed := CASE
        WHEN a.calibration THEN current_phase = 'training'
        WHEN a.slot IN ('A', 'B') THEN current_phase = 'coding'
        ELSE current_phase IN ('coding', 'review')
    END;
    IF NOT allowed THEN
        PERFORM broken('a_record_is_written_only_in_the_phases_of_its_slot');
    END IF;
    IF NEW.version <> a.version + 1 THEN
        PERFORM broken('versions_of_a_record_follow_each_other');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER records_need_a_live_assignment BEFORE INSERT ON annotation_app_record
    FOR EACH ROW EXECUTE FUNCTION guard_new_record();
CREATE TRIGGER records_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_record
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER records_are_never_truncated BEFORE TRUNCATE ON annotation_app_record
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE OR REPLACE FUNCTION guard_overlay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM annotation_app_study s JOIN annotation_app_assignment a ON a.study_id = s.id
     WHERE a.id = NEW.assignment_id AND s.phase IN ('coding', 'review') FOR SHARE OF s;
    IF NOT FOUND THEN
        PERFORM broken('nothing_is_decided_behind_a_lock');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER overlays_end_with_the_lock BEFORE INSERT OR UPDATE ON annotation_app_recordoverlay
    FOR EACH ROW EXECUTE FUNCTION guard_overlay();

CREATE TRIGGER errata_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_erratum
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER errata_are_never_truncated BEFORE TRUNCATE ON annotation_app_erratum
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER guesses_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_guess
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER guesses_are_never_truncated BEFORE TRUNCATE ON annotation_app_guess
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();

CREATE TRIGGER references_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_referencecode
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER references_are_never_truncated BEFORE TRUNCATE ON annotation_app_referencecode
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER gates_are_never_changed BEFORE UPDATE OR DELETE ON annotation_app_traininggate
    FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER gates_are_never_truncated BEFORE TRUNCATE ON annotation_app_traininggate
    FOR EACH STATEMENT EXECUTE FUNCTION refuse();
