import type { MessageInitShape } from "@bufbuild/protobuf";
import { type DocumentSchema, type ListDocumentsRequest } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, embeddedOf, type Row } from "@moorage/kernel/store";
import { eventsByAdvisory } from "../advisories/events.ts";
import { advisoryEntry, feedEntry } from "./document-entries.ts";
import { feedsOf, type Joined, joinVulnerabilities, type RecordRef } from "./join.ts";
import { type Branch, inScope, pageOfKnown, pageOfTexts } from "./key-pages.ts";
import { weighBytes } from "../images/weights.ts";
import { bodiesOf, refKey } from "./records.ts";

/** A package of a page. `uid`: its name. */
export interface DocumentRow {
  uid: string;
  records: PackageRecord[];
  advisories: Row<"advisories">[];
  isIncomplete: boolean;
}

/** A record of a feed about a package, under the key by which the two meet. */
interface PackageRecord extends RecordRef {
  key: string;
  modified: number;
  size: number;
}

// Of one package so many records and advisories are answered, and so many bytes of them read; a page ends before it
// would have more than that.
const MAX_OF_DOCUMENT = 1_000;
const MAX_OF_PAGE = 2_000;
const MAX_PAGE_BYTES = 8 << 20;
const KEYS_AT_ONCE = 500;
const ROWS_AN_ENTRY = 2;

/** The names of packages in keys: an expression over feed_keys `k`, and where to read it in the order of its index. */
interface Names {
  text: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
}

function namesOf(tx: Database): Names {
  if (embeddedOf(tx) === undefined)
    return { text: sql`substr(k.key, strpos(k.key, '/') + 1)`, from: sql`feed_keys as k` };
  // SQLite would rather sort all keys of packages, which it finds by the primary key.
  return { text: sql`substr(k.key, instr(k.key, '/') + 1)`, from: sql`feed_keys as k indexed by feed_keys_package` };
}

const ADVISORY_NAME = sql`(case when t.origin = '' then t.artifact_name else t.origin end)`;
const IS_SHOWN = sql`t.delete_time is null and t.latest_type <> 0`;

/** A page of packages by their names, with what is known about them; it may end early when that is much. */
export async function queryDocuments(
  tx: Database,
  { request, hasFeeds }: { request: Pick<ListDocumentsRequest, "id" | "cves">; hasFeeds: boolean },
  query: PageQuery,
): Promise<FoundPage<DocumentRow>> {
  const names = namesOf(tx);
  const scope = inScope(query.scope);
  const about = request.cves.length === 0 ? undefined : await aboutThese(tx, request.cves, hasFeeds, scope);
  const only = request.id === "" ? undefined : request.id;
  const { texts, total } =
    about !== undefined
      ? pageOfKnown(
          [...about.names].filter((each) => only === undefined || each === only),
          query,
        )
      : only !== undefined
        ? pageOfKnown((await hasDocument(tx, only, { names, hasFeeds, scope })) ? [only] : [], query)
        : await pageOfTexts(tx, branches(names, hasFeeds, scope), query);
  const own = await advisoriesOf(tx, texts, scope, about?.advisories);
  const rows: DocumentRow[] = [];
  let [count, size] = [0, 0];
  for (const text of texts) {
    const found = hasFeeds ? await recordsOf(tx, text, names, about?.records) : [];
    const { records, isIncomplete } = bounded(found);
    const advisories = own.get(text) ?? [];
    count += records.length + advisories.length;
    size += records.reduce((sum, record) => sum + record.size, 0);
    if (rows.length > 0 && (count > MAX_OF_PAGE || size > MAX_PAGE_BYTES)) return { rows, total, isCut: true };
    rows.push({
      uid: text,
      records,
      advisories: advisories.slice(0, MAX_OF_DOCUMENT),
      isIncomplete: isIncomplete || advisories.length > MAX_OF_DOCUMENT,
    });
  }
  return { rows, total };
}

/** The answers for the rows of a page. */
export async function documentsOf(
  call: Pick<Call, "tx" | "weigh" | "bulk">,
  rows: readonly DocumentRow[],
): Promise<MessageInitShape<typeof DocumentSchema>[]> {
  const { tx, bulk } = call;
  const records = rows.flatMap((row) => row.records);
  // Lists of v1 are read in turns, whatever a page has: they could not go on elsewhere.
  if (bulk !== true)
    call.weigh((records.length + rows.reduce((sum, row) => sum + row.advisories.length, 0)) * ROWS_AN_ENTRY);
  if (bulk !== true)
    weighBytes(
      call,
      records.reduce((sum, { size }) => sum + size, 0),
    );
  const feeds = await feedsOf(tx);
  const bodies = await bodiesOf(tx, records);
  const events = await eventsByAdvisory(
    tx,
    rows.flatMap(({ advisories }) => advisories.map(({ uid }) => uid)),
  );
  const turn = createTurns();
  const documents: MessageInitShape<typeof DocumentSchema>[] = [];
  for (const { uid, records: own, advisories, isIncomplete } of rows) {
    const entries = [
      ...advisories.map((row) => advisoryEntry(row, events.get(row.uid) ?? [])),
      ...own.flatMap((record) => {
        const body = bodies.get(refKey(record));
        const feed = feeds.get(record.feed);
        return body === undefined || feed === undefined ? [] : [feedEntry(feed, record, body)];
      }),
    ];
    documents.push({
      id: uid,
      advisories: entries.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)),
      incomplete: isIncomplete,
    });
    await turn();
  }
  return documents;
}

function branches(names: Names, hasFeeds: boolean, scope: RawBuilder<unknown>[]): Branch[] {
  const ofAdvisories = { text: ADVISORY_NAME, from: sql`advisories as t`, where: [IS_SHOWN, ...scope] };
  const ofFeeds = { ...names, where: [sql`k.kind = 'package'`] };
  return hasFeeds ? [ofFeeds, ofAdvisories] : [ofAdvisories];
}

async function hasDocument(
  tx: Database,
  only: string,
  { names, hasFeeds, scope }: { names: Names; hasFeeds: boolean; scope: RawBuilder<unknown>[] },
): Promise<boolean> {
  for (const { text, from, where } of branches(names, hasFeeds, scope)) {
    const conditions = sql.join([...where, sql`${text} = ${only}`], sql` and `);
    const { rows } = await sql`select 1 as found from ${from} where ${conditions} limit 1`.execute(tx);
    if (rows.length > 0) return true;
  }
  return false;
}

/** What is about some vulnerabilities: the records by the package's name, the advisories, and the names of both. */
interface About {
  names: Set<string>;
  records: ReadonlyMap<string, PackageRecord[]>;
  advisories: ReadonlySet<string>;
}

async function aboutThese(
  tx: Database,
  cves: readonly string[],
  hasFeeds: boolean,
  scope: readonly RawBuilder<unknown>[],
): Promise<About> {
  const joined: Joined[] = [...(await joinVulnerabilities(tx, cves)).values()];
  const refs = new Map(joined.flatMap(({ records }) => records.map((ref) => [refKey(ref), ref])));
  const records = hasFeeds ? await packagesOf(tx, [...refs.values()]) : [];
  const byName = Map.groupBy(records, ({ key }) => key.slice(key.indexOf("/") + 1));
  const aliases = [...new Set([...cves.map((id) => id.toLowerCase()), ...joined.flatMap(({ names }) => names)])];
  const names = new Set(byName.keys());
  const advisories = new Set<string>();
  for (let at = 0; at < aliases.length; at += KEYS_AT_ONCE) {
    const conditions = [sql`x.alias in (${sql.join(aliases.slice(at, at + KEYS_AT_ONCE))})`, IS_SHOWN, ...scope];
    const { rows } = await sql<{ uid: string; name: string }>`select t.uid, ${ADVISORY_NAME} as name
      from advisory_aliases as x join advisories as t on t.uid = x.advisory where ${sql.join(conditions, sql` and `)}`.execute(
      tx,
    );
    for (const { uid, name } of rows) {
      advisories.add(uid);
      names.add(name);
    }
  }
  return { names, records: byName, advisories };
}

const RECORD = sql`k.key, k.feed, k.record, r.modified, octet_length(r.body) as size
  from feed_keys as k join feed_records as r on r.feed = k.feed and r.id = k.record`;

async function packagesOf(tx: Database, refs: readonly RecordRef[]): Promise<PackageRecord[]> {
  const found: PackageRecord[] = [];
  for (const [feed, ofFeed] of Map.groupBy(refs, (ref) => ref.feed))
    for (let at = 0; at < ofFeed.length; at += KEYS_AT_ONCE) {
      const ids = sql.join(ofFeed.slice(at, at + KEYS_AT_ONCE).map(({ record }) => record));
      const { rows } = await sql<PackageRecord>`select ${RECORD} where k.feed = ${feed} and k.record in (${ids})
        and k.kind = 'package' and r.withdrawn is null`.execute(tx);
      found.push(...rows.map(plain));
    }
  return found;
}

/** The records about a package, the highest ids of each feed first. */
async function recordsOf(
  tx: Database,
  text: string,
  { text: name }: Names,
  among: ReadonlyMap<string, PackageRecord[]> | undefined,
): Promise<PackageRecord[]> {
  if (among !== undefined) return among.get(text) ?? [];
  const { rows } = await sql<PackageRecord>`select ${RECORD} where k.kind = 'package' and ${name} = ${text}
    and r.withdrawn is null order by k.feed desc, k.record desc limit ${MAX_OF_DOCUMENT + 1}`.execute(tx);
  return rows.map(plain);
}

// PostgreSQL answers numbers of 64 bits as text.
function plain(row: PackageRecord): PackageRecord {
  return { ...row, modified: Number(row.modified), size: Number(row.size) };
}

function bounded(found: readonly PackageRecord[]): { records: PackageRecord[]; isIncomplete: boolean } {
  let size = 0;
  const records = found.slice(0, MAX_OF_DOCUMENT).filter((record, at) => {
    size += record.size;
    return at === 0 || size <= MAX_PAGE_BYTES;
  });
  return { records, isIncomplete: records.length < found.length };
}

/** The advisories of groups under names, by name. */
async function advisoriesOf(
  tx: Database,
  names: readonly string[],
  scope: readonly RawBuilder<unknown>[],
  among: ReadonlySet<string> | undefined,
): Promise<ReadonlyMap<string, Row<"advisories">[]>> {
  if (names.length === 0) return new Map();
  const conditions = sql.join([IS_SHOWN, sql`${ADVISORY_NAME} in (${sql.join(names)})`, ...scope], sql` and `);
  const { rows } = await sql<Row<"advisories"> & { document: string }>`select * from (
      select t.*, ${ADVISORY_NAME} as document,
        row_number() over (partition by ${ADVISORY_NAME} order by t.create_time desc, t.uid) as n
      from advisories as t where ${conditions}) as a where n <= ${MAX_OF_DOCUMENT + 1}`.execute(tx);
  return Map.groupBy(
    rows.filter(({ uid }) => among === undefined || among.has(uid)),
    ({ document }) => document,
  );
}
