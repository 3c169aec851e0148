import type { Call } from "@moorage/kernel/core/call";
import { keysOfPackage, parsedPurl, purlKey, type PurlOfPackage } from "@moorage/kernel/lib/purls";
import { sortInTurns, type Turn } from "@moorage/kernel/lib/turns";
import { select, type Database } from "@moorage/kernel/store";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { isAbout } from "../vex/applies.ts";
import { remediesIn, type VexRemedy } from "../vex/remedies.ts";
import type { VexStatus } from "../vex/types.ts";
import { resolveLinks } from "./links.ts";
import { IS_SIGNED_AS_ASKED } from "./layers.ts";
import { sourceOf } from "./sources.ts";

/** What an attached VEX document says of one vulnerability in an image. */
export interface AttachedStatement {
  /** The ids of the vulnerability, in lower case, its main one first. */
  ids: string[];
  status: VexStatus;
  /** As OpenVEX names it; empty when it says none. */
  justification: string;
  impact: string;
  /** What can be done about it. */
  remedies: VexRemedy[];
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

/** The most statements that are read for one image, and how many in one step. */
const MAX_STATEMENTS = 100_000;
const ROWS = 500;
/** The most documents that are looked at for one image. */
const MAX_DOCUMENTS = 2_000;

/** Of which image statements are read. */
export interface StatementsAsked {
  repo: string;
  digest: string;
  /** As of a time, in milliseconds since 1970; now without. */
  atMs?: number | undefined;
  /** Only those about a vulnerability with one of these ids, in lower case. */
  ids?: ReadonlySet<string>;
}

/** How a thread that others wait for is kept free: by counting first, or by turns; see Call.weigh and createTurns. */
export interface ReadingLimits {
  weigh?: Call["weigh"];
  turn?: Turn;
}

interface StatingDocument {
  subject: string;
  manifest: string;
  n: number;
  statements: number;
  document_id: string;
  author: string;
  from_time: number;
  until_time: number | null;
  trusted: number;
  finish_time: number;
}

/**
 * The statements that hold for an image in a repo: those that are attached to it there or to an index that names it,
 * the latest first. At most MAX_STATEMENTS are read: whole documents, those first that are trusted, then those that
 * were attached last. What is left out closes no finding.
 */
export async function attachedStatements(
  tx: Database,
  asked: StatementsAsked,
  { weigh, turn }: ReadingLimits = {},
): Promise<AttachedStatement[]> {
  const documents = await documentsFor(tx, asked);
  weigh?.(sumOf(documents));
  const found: FoundStatement[] = [];
  for (const document of documents)
    for (let from = 0; from < document.statements; from += ROWS) {
      for (const { i, ids: json, remedies, ...row } of await rowsOf(tx, document, from)) {
        const ids = JSON.parse(json) as string[];
        if (asked.ids !== undefined && !ids.some((id) => asked.ids?.has(id))) continue;
        found.push({ document, i, statement: statementOf(document, { ...row, ids, remedies: remediesIn(remedies) }) });
      }
      await turn?.();
    }
  const subjects = [...new Set(documents.map(({ subject }) => subject))];
  const links = found.filter(({ statement }) => statement.target.startsWith("urn:cdx:")).map((each) => each.statement);
  const targetOf = links.length === 0 ? undefined : await resolveLinks(tx, { repo: asked.repo, subjects }, links);
  return (await sortInTurns(found, latestFirst, turn)).flatMap(({ statement }) => {
    const target = targetOf === undefined ? statement.target : targetOf(statement);
    return target === undefined ? [] : [{ ...statement, target }];
  });
}

interface FoundStatement {
  document: StatingDocument;
  /** Its place in the document. */
  i: number;
  statement: AttachedStatement;
}

function latestFirst(one: FoundStatement, other: FoundStatement): number {
  const [a, b] = [one.document, other.document];
  return (
    other.statement.timeMs - one.statement.timeMs ||
    b.from_time - a.from_time ||
    (a.manifest < b.manifest ? -1 : a.manifest > b.manifest ? 1 : a.n - b.n || one.i - other.i)
  );
}

function sumOf(documents: readonly StatingDocument[]): number {
  return documents.reduce((sum, { statements }) => sum + statements, 0);
}

async function documentsFor(tx: Database, { repo, digest, atMs }: StatementsAsked): Promise<StatingDocument[]> {
  const rows = await select<StatingDocument>(
    tx,
    `select d.subject, d.manifest, d.n, d.statements, d.document_id, d.author, a.from_time, a.until_time, a.trusted, r.finish_time
     from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.statements > 0 and ${IS_SIGNED_AS_ASKED}
     where a.repo = ? and a.subject in (select ? union select x.digest from (
       select m.digest from manifest_references as m where m.repo = ? and m.target = ? order by ${TRUSTED_FIRST}, m.digest limit ${MAX_INDEXES}) as x)
     and ${atMs === undefined ? "a.until_time is null" : "(a.until_time is null or a.until_time > ?) and a.from_time <= ? and r.finish_time <= ?"}
     order by a.trusted desc, a.from_time desc, d.manifest, d.n limit ${MAX_DOCUMENTS}`,
    [repo, digest, repo, digest, ...(atMs === undefined ? [] : [atMs, atMs, atMs])],
  );
  let left = MAX_STATEMENTS;
  return rows.filter(({ statements }) => (left -= statements) >= 0);
}

type StatementRow = Omit<StatementColumns, "ids" | "i" | "remedies"> & { ids: string[]; remedies: VexRemedy[] };

interface StatementColumns {
  i: number;
  ids: string;
  status: VexStatus;
  justification: string;
  impact: string;
  target: string;
  product: string;
  time: number;
  remedies: string;
}

async function rowsOf(
  tx: Database,
  { subject, manifest, n }: StatingDocument,
  from: number,
): Promise<StatementColumns[]> {
  return await select<StatementColumns>(
    tx,
    `select s.i, s.ids, s.status, s.justification, s.impact, s.target, s.product, s.time, s.remedies from attached_statements as s
     where s.subject = ? and s.manifest = ? and s.n = ? and s.i >= ? and s.i < ? order by s.i`,
    [subject, manifest, n, from, from + ROWS],
  );
}

function statementOf(document: StatingDocument, { time, ...row }: StatementRow): AttachedStatement {
  return {
    ...row,
    document: document.document_id,
    author: document.author,
    source: sourceOf(document.manifest, document.n),
    timeMs: time,
    // What is attached is known when it was read.
    fromMs: Math.max(document.from_time, document.finish_time),
    untilMs: document.until_time ?? undefined,
    isClaim: document.trusted !== 1,
  };
}

/** Which package of which vulnerability is asked for, by any of its ids. */
interface AboutVulnerability extends PurlOfPackage {
  ids: readonly string[];
}

/** Those of the statements that are about the package and the vulnerability, by any of its ids; the latest counts. */
export function statementsAbout(
  statements: readonly AttachedStatement[],
  { ids, ...held }: AboutVulnerability,
): AttachedStatement[] {
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  return statements.filter((each) => each.ids.some((id) => wanted.has(id)) && isAbout(each.target, held));
}

/** Finds what statementsAbout finds, at most so many, without looking at all for each finding. */
export type FindStatements = (about: AboutVulnerability, most: number) => AttachedStatement[];

/** By vulnerability and the name of the package, as far as a statement has them. */
export async function findStatements(
  statements: readonly AttachedStatement[],
  turn: Turn | undefined,
): Promise<FindStatements> {
  if (statements.length === 0) return () => [];
  const places = new Map<string, number[]>();
  for (const [at, { ids, target }] of statements.entries()) {
    const name = nameIn(target);
    for (const id of new Set(ids)) {
      const key = `${id}\n${name}`;
      const known = places.get(key);
      if (known === undefined) places.set(key, [at]);
      else known.push(at);
    }
    await turn?.();
  }
  return ({ ids, ...held }, most) => {
    const names = ["", ...keysOfPackage(held)];
    const keys = ids.flatMap((id) => names.map((name) => `${id.toLowerCase()}\n${name}`));
    const lists = [...new Set(keys)].flatMap((key) => places.get(key) ?? []);
    const found: AttachedStatement[] = [];
    for (const at of [...new Set(lists)].sort((a, b) => a - b)) {
      const each = statements[at];
      if (each === undefined || !isAbout(each.target, held)) continue;
      found.push(each);
      if (found.length === most) break;
    }
    return found;
  };
}

/** What the purls of all versions of a package have in common; empty for none. */
function nameIn(text: string): string {
  const purl = parsedPurl(text);
  return purl === undefined ? "" : purlKey(purl);
}
