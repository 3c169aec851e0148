import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Statement, statement } from "@moorage/kernel/store";

interface StateRow {
  policies: number | string | null;
  subjects: number | string;
  [column: string]: number | string | null;
}

/** Beyond so many manifests around one it is read anew each time. */
const MAX_SUBJECTS = 400;

// The manifest, what it names and what names it. Three parameters for each way, and one for itself.
const AROUND = `select cast(? as text) as digest
  union select x.digest from (select m.target as digest from manifest_references as m where m.repo = ? and m.digest = ? and m.kind = 'manifest' limit ${MAX_SUBJECTS}) as x
  union select y.digest from (select m.digest as digest from manifest_references as m where m.repo = ? and m.target = ? and m.kind = 'manifest' limit ${MAX_SUBJECTS}) as y`;

// Everything by which the judgment of an image changes, but for the time. Each part is found by an index.
const textOf = (
  groups: number,
): string => `select (select value from signature_policy_changes where parent = '') as policies,
  (select count(*) from (${AROUND}) as s) as subjects,
  (select count(*) from signature_checks as c where c.repo = ? and c.digest in (${AROUND})) as checks,
  (select count(*) || ' ' || count(u.until_time) || ' ' || coalesce(max(u.from_time), 0) || ' ' || coalesce(max(u.until_time), 0)
     from signature_sources as u where u.repo = ? and u.subject in (${AROUND})) as sources,
  (select count(*) || ' ' || count(r.finish_time) || ' ' || coalesce(max(r.finish_time), 0) || ' ' || coalesce(sum(r.state), 0) || ' ' || coalesce(sum(r.finish_time), 0)
     from signature_readings as r where r.subject in (${AROUND})) as readings,
  (select count(*) || ' ' || coalesce(max(t.update_time), 0) from tags as t where t.parent = ? and t.digest in (${AROUND})) as tags,
  (select count(*) || ' ' || coalesce(max(h.time), 0) from tag_history as h where h.repo = ? and h.digest in (${AROUND})) as moves,
  (select count(*) || ' ' || coalesce(max(m.create_time), 0) from manifests as m where m.repo = ? and m.digest in (${AROUND})) as held,
  (select name from repos where uid = ?) as name
  ${Array.from({ length: groups }, (_, n) => `, (select value from signature_policy_changes where parent = ?) as changes${n}, (select name from groups where uid = ?) as name${n}`).join("")}`;

const statements: Statement<StateRow>[] = [];

/** The statement for so many groups. Pulls that come together share it on PostgreSQL, those of one image its answer. */
function statementFor(groups: number, parameters: number): Statement<StateRow> {
  return (statements[groups] ??= statement<StateRow>(
    textOf(groups),
    Array.from({ length: parameters }, () => "text"),
  ));
}

/** What the database says of an image: see stateOf. */
export interface State {
  /** Whether the installation has ever had a policy. */
  hasPolicies: boolean;
  /** Another text when the image may be judged in another way; undefined where that is not known. */
  text?: string;
}

/** Whether an image may be judged in another way than before, in one statement. */
export async function stateOf(tx: Database, { repo, digest }: { repo: string; digest: string }): Promise<State> {
  const groups = ancestorsOf(repo);
  const around = [digest, repo, digest, repo, digest];
  // In the order of the text: how many, checks, sources, readings, tags, moves, held.
  const inRepo = [repo, ...around];
  const ofImage = [around, inRepo, inRepo, around, inRepo, inRepo, inRepo, [repo]].flat();
  const parameters = [...ofImage, ...groups.flatMap((group) => [group, group])];
  const [row] = await statementFor(groups.length, parameters.length)(tx, ...parameters);
  if (row === undefined) return { hasPolicies: true };
  const hasPolicies = row.policies !== null;
  if (Number(row.subjects) > MAX_SUBJECTS) return { hasPolicies };
  return { hasPolicies, text: Object.values(row).join("\n") };
}
