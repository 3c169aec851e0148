import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListVulnerabilityMetadataRequest,
  Reference_Type,
  Severity_Type,
  type VulnerabilityMetadataSchema,
} from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Database } from "@moorage/kernel/store";
import { folded } from "../advisories/lookups.ts";
import { weighBytes } from "../images/weights.ts";
import type { FeedKeyKind } from "../feeds/stored-record.ts";
import { vulnerabilityKey } from "../records/record.ts";
import { feedsNamingBy, feedsOf, type Joined, type JoinedFeed, joinVulnerabilities } from "./join.ts";
import { type Branch, inScope, pageOfKnown, pageOfTexts } from "./key-pages.ts";
import { knownVulnerabilities, type KnownVulnerability, type Unread, unreadOf } from "./known-vulnerabilities.ts";

/** A vulnerability of a page, before its records are read. */
export interface MetadataRow {
  uid: string;
  unread: Unread;
}

// The most that is read of records for one page, in bytes; the page ends before it would be more.
const MAX_PAGE_BYTES = 8 << 20;
const IDS_AT_ONCE = 500;

/** What the list of metadata is asked: which feeds may be answered from, beside the advisories in the scope. */
export interface MetadataQuery {
  request: Pick<ListVulnerabilityMetadataRequest, "id" | "ids">;
  /** Whether what only feeds have is answered. */
  hasFeeds: boolean;
  feeds: ReadonlyMap<string, JoinedFeed>;
}

/** A page of vulnerabilities by their ids, which may end early when its records are large. */
export async function queryMetadata(
  tx: Database,
  { request, hasFeeds, feeds }: MetadataQuery,
  query: PageQuery,
): Promise<FoundPage<MetadataRow>> {
  const asked = [...(request.id === "" ? [] : [request.id]), ...request.ids].map(vulnerabilityKey);
  const scope = inScope(query.scope);
  const { texts, total } =
    asked.length > 0
      ? pageOfKnown(await knownAmong(tx, [...new Set(asked)], { hasFeeds, feeds, scope }), query)
      : await pageOfTexts(tx, [...(hasFeeds ? feedBranches(feeds) : []), ofAdvisories(scope)], query);
  const joined = await joinVulnerabilities(tx, texts, feeds);
  const all = texts.map((key): Joined => joined.get(key) ?? { key, names: [key], records: [] });
  const rows: MetadataRow[] = [];
  let size = 0;
  for (const unread of await unreadOf(tx, all, feeds)) {
    size += unread.size;
    if (rows.length > 0 && size > MAX_PAGE_BYTES) return { rows, total, isCut: true };
    rows.push({ uid: unread.joined.key, unread });
  }
  return { rows, total };
}

function feedBranches(feeds: ReadonlyMap<string, JoinedFeed>): Branch[] {
  return (["id", "alias", "upstream"] as const).flatMap((kind: FeedKeyKind) => {
    const names = feedsNamingBy(feeds, kind);
    if (names.length === 0) return [];
    return [
      {
        text: sql.ref("k.key"),
        from: sql`feed_keys as k`,
        where: [sql`k.kind = ${kind}`, sql`k.feed in (${sql.join(names)})`],
      },
    ];
  });
}

function ofAdvisories(scope: readonly RawBuilder<unknown>[]): Branch {
  return {
    text: sql.ref("x.alias"),
    from: sql`advisory_aliases as x join advisories as t on t.uid = x.advisory`,
    where: [sql`t.delete_time is null`, ...scope],
  };
}

/** Which of the ids anything is known of. */
async function knownAmong(
  tx: Database,
  keys: readonly string[],
  { hasFeeds, feeds, scope }: { hasFeeds: boolean; feeds: MetadataQuery["feeds"]; scope: RawBuilder<unknown>[] },
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let at = 0; at < keys.length; at += IDS_AT_ONCE) {
    const part = sql.join(keys.slice(at, at + IDS_AT_ONCE));
    for (const { text, from, where } of [...(hasFeeds ? feedBranches(feeds) : []), ofAdvisories(scope)]) {
      const conditions = sql.join([...where, sql`${text} in (${part})`], sql` and `);
      const { rows } = await sql<{
        text: string;
      }>`select distinct ${text} as text from ${from} where ${conditions}`.execute(tx);
      for (const row of rows) found.add(row.text);
    }
  }
  return found;
}

/** The answers for the rows of a page. `scope`: the conditions on the advisories that the caller may see. */
export async function metadataOf(
  call: Pick<Call, "tx" | "weigh" | "bulk">,
  rows: readonly MetadataRow[],
  scope: readonly RawBuilder<unknown>[],
): Promise<MessageInitShape<typeof VulnerabilityMetadataSchema>[]> {
  const { tx, bulk } = call;
  // Lists of v1 are read in turns, whatever a page has: they could not go on elsewhere.
  if (bulk !== true) {
    const sum = (of: (unread: Unread) => number): number => rows.reduce((all, { unread }) => all + of(unread), 0);
    call.weigh(sum(({ read }) => read.length));
    weighBytes(
      call,
      sum(({ size }) => size),
    );
  }
  const feeds = await feedsOf(tx);
  const known = await knownVulnerabilities(
    tx,
    rows.map(({ unread }) => unread),
    feeds,
  );
  const own = await advisoriesNaming(
    tx,
    rows.flatMap(({ unread }) => unread.joined.names),
    scope,
  );
  return rows.map(({ unread: { joined } }, at) =>
    answerOf(
      known[at] as KnownVulnerability,
      joined.names.flatMap((name) => own.get(name) ?? []),
      joined.key,
    ),
  );
}

/** What advisories of groups add. */
interface Named {
  aliases: string[];
  severities: { type: string; score: string }[];
}

async function advisoriesNaming(
  tx: Database,
  names: readonly string[],
  scope: readonly RawBuilder<unknown>[],
): Promise<ReadonlyMap<string, Named[]>> {
  const found = new Map<string, Named[]>();
  const unique = [...new Set(names)];
  for (let at = 0; at < unique.length; at += IDS_AT_ONCE) {
    const conditions = [
      sql`x.alias in (${sql.join(unique.slice(at, at + IDS_AT_ONCE))})`,
      sql`t.delete_time is null`,
      ...scope,
    ];
    const { rows } = await sql<{ alias: string; aliases: string; severities: string }>`
      select x.alias, t.aliases, t.severities from advisory_aliases as x join advisories as t on t.uid = x.advisory
      where ${sql.join(conditions, sql` and `)} order by x.alias, t.uid limit ${MAX_ADVISORIES}`.execute(tx);
    for (const { alias, aliases, severities } of rows) {
      const named = {
        aliases: JSON.parse(aliases) as string[],
        severities: JSON.parse(severities) as Named["severities"],
      };
      const known = found.get(alias);
      if (known === undefined) found.set(alias, [named]);
      else known.push(named);
    }
  }
  return found;
}

// The most advisories of groups that are looked at for one page.
const MAX_ADVISORIES = 5_000;
const MAX_LISTED = 200;

/** The versions of CVSS, by the names that OSV gives them. */
export const VECTOR_TYPES: Readonly<Record<string, Severity_Type>> = {
  CVSS_V2: Severity_Type.CVSS_V2,
  CVSS_V3: Severity_Type.CVSS_V3,
  CVSS_V4: Severity_Type.CVSS_V4,
};

function answerOf(
  known: KnownVulnerability,
  own: readonly Named[],
  key: string,
): MessageInitShape<typeof VulnerabilityMetadataSchema> {
  const spellings = new Map([...own.flatMap(({ aliases }) => aliases), ...known.aliases].map((id) => [folded(id), id]));
  const isFromFeed = known.sources.length > 0;
  spellings.delete(key);
  const severities = [
    ...known.vectors.flatMap(({ type, score }) =>
      VECTOR_TYPES[type] === undefined ? [] : [{ type: VECTOR_TYPES[type], score }],
    ),
    ...own.flatMap(({ severities: each }) => each.map((one) => severityOf(one))),
  ];
  const ownId = own.flatMap(({ aliases }) => aliases).find((id) => folded(id) === key);
  return {
    id: isFromFeed ? known.id : (ownId ?? known.id),
    aliases: [...spellings.values()].sort().slice(0, MAX_LISTED),
    summary: known.summary,
    details: known.details,
    references: known.references.map(({ type, url }) => ({
      type: Object.hasOwn(Reference_Type, type) ? Reference_Type[type as "WEB"] : Reference_Type.UNSPECIFIED,
      url,
    })),
    severities: [...new Map(severities.map((each) => [`${each.type} ${each.score}`, each])).values()].slice(
      0,
      MAX_LISTED,
    ),
    severity: known.severity,
    ...(known.score !== undefined && { cvssScore: known.score }),
    ...(known.exploited && {
      knownExploited: {
        dateAdded: known.exploited.dateAdded,
        dueDate: known.exploited.dueDate,
        requiredAction: known.exploited.requiredAction,
        knownRansomwareCampaignUse: known.exploited.ransomware,
      },
    }),
    ...(known.epss && { epss: known.epss }),
    ...(known.withdrawnMs !== undefined && { withdrawTime: timestamp(known.withdrawnMs) }),
    sources: known.sources.map(({ feed, record, licence, modified, withdrawn }) => ({
      feed,
      record,
      licence,
      ...(modified > 0 && { modifyTime: timestamp(modified) }),
      ...(withdrawn !== null && { withdrawTime: timestamp(withdrawn) }),
    })),
  };
}

function severityOf({ type, score }: { type: string; score: string }): { type: Severity_Type; score: string } {
  return { type: VECTOR_TYPES[type.replace(/^TYPE_/, "")] ?? Severity_Type.UNSPECIFIED, score };
}
