import { select, type Database } from "../../store/index.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { isAbout } from "../vex/applies.ts";
import type { VexStatus } from "../vex/types.ts";
import { sourceOf } from "./sources.ts";

/** What an attached VEX document says of one vulnerability in an image. */
export interface AttachedStatement {
  /** The ids of the vulnerability, in lower case, its main one first. */
  ids: string[];
  status: VexStatus;
  /** As OpenVEX names it; empty when it says none. */
  justification: string;
  impact: string;
  /** The package that it is about, a purl; empty for the whole image. */
  target: string;
  /** The product as the document names it. */
  product: string;
  /** The document: its id, its author, and where it is attached, as a source (see PackageSource). */
  document: string;
  author: string;
  source: string;
  /** When it was made or last changed, in milliseconds since 1970. */
  timeMs: number;
  /** Since when it is known here, and until when it was; undefined as long as it is attached. */
  fromMs: number;
  untilMs: number | undefined;
  /** It was attached on the word of somebody who may not write advisories: it decides nothing. */
  isClaim: boolean;
}

/** The most indexes whose attachments are looked at for one of their images. */
const MAX_INDEXES = 20;
/** Those to which something trusted is attached first: nobody pushes these out by indexes of its own. */
const TRUSTED_FIRST =
  "case when exists (select 1 from attachments as t where t.repo = m.repo and t.subject = m.digest and t.trusted = 1) then 0 else 1 end";

/**
 * The statements that hold for an image in a repo: those that are attached to it there or to an index that names it,
 * the latest first. `atMs`: as of a time, in milliseconds since 1970; now without.
 */
export async function attachedStatements(
  tx: Database,
  { repo, digest, atMs }: { repo: string; digest: string; atMs?: number | undefined },
): Promise<AttachedStatement[]> {
  const rows = await select<{
    manifest: string;
    n: number;
    ids: string;
    status: VexStatus;
    justification: string;
    impact: string;
    target: string;
    product: string;
    document_id: string;
    author: string;
    time: number;
    from_time: number;
    finish_time: number;
    until_time: number | null;
    trusted: number;
  }>(
    tx,
    `select s.manifest, s.n, s.ids, s.status, s.justification, s.impact, s.target, s.product, s.time,
       d.document_id, d.author, a.from_time, a.until_time, a.trusted, r.finish_time
     from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.statements > 0
     join attached_statements as s on s.subject = d.subject and s.manifest = d.manifest and s.n = d.n
     where a.repo = ? and a.subject in (select ? union select x.digest from (
       select m.digest from manifest_references as m where m.repo = ? and m.target = ? order by ${TRUSTED_FIRST}, m.digest limit ${MAX_INDEXES}) as x)
     and ${atMs === undefined ? "a.until_time is null" : "(a.until_time is null or a.until_time > ?) and a.from_time <= ? and r.finish_time <= ?"}
     order by s.time desc, a.from_time desc, s.manifest, s.n, s.i`,
    [repo, digest, repo, digest, ...(atMs === undefined ? [] : [atMs, atMs, atMs])],
  );
  return rows.map((row) => ({
    ids: JSON.parse(row.ids) as string[],
    status: row.status,
    justification: row.justification,
    impact: row.impact,
    target: row.target,
    product: row.product,
    document: row.document_id,
    author: row.author,
    source: sourceOf(row.manifest, row.n),
    timeMs: row.time,
    // What is attached is known when it was read.
    fromMs: Math.max(row.from_time, row.finish_time),
    untilMs: row.until_time ?? undefined,
    isClaim: row.trusted !== 1,
  }));
}

/** Those of the statements that are about the package and the vulnerability, by any of its ids; the latest counts. */
export function statementsAbout(
  statements: readonly AttachedStatement[],
  { purl, ids }: { purl: string; ids: readonly string[] },
): AttachedStatement[] {
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  return statements.filter((each) => each.ids.some((id) => wanted.has(id)) && isAbout(each.target, purl));
}
