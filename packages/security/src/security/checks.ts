import { ReviewState } from "@moorage/api/messages";
import { IMAGE_CONFIG_TYPES } from "@moorage/kernel/core/media-types";
import { removeFaulty, repairBy, type RowCheck, withoutParent } from "@moorage/kernel/core/row-check";
import { select } from "@moorage/kernel/store";
import { noteDecision } from "./advisories/decisions.ts";
import { LOCATION_CHANGED } from "./advisories/location-changes.ts";
import { writeLookups } from "./advisories/lookups.ts";
import { CATALOG_STATE, LAYERS, LAYERS_AGAIN } from "./catalog/rows.ts";
import { markRemoved } from "./feeds/rows.ts";

const LATEST_TYPES = `with latest (uid, latest_type, really) as (
  select a.uid, a.latest_type, coalesce((select e.type from advisory_events as e where e.parent = a.uid and e.review_state = ${ReviewState.APPROVED} and e.type <> ${LOCATION_CHANGED} order by e.create_time desc limit 1), 0) from advisories as a
)`;

const DECISIONS = `with decided (uid, said, really) as (
  select a.uid, coalesce((select d.event from advisory_decisions as d where d.advisory = a.uid and d.until_time is null
      and exists (select 1 from advisory_decision_ids as i where i.advisory = d.advisory and i.from_time = d.from_time)), ''),
    coalesce((select e.uid from advisory_events as e where e.parent = a.uid and a.delete_time is null and e.review_state = ${ReviewState.APPROVED} and e.type <> ${LOCATION_CHANGED} order by e.create_time desc limit 1), '') from advisories as a
)`;

const FEED_COUNTS = `with really (name, records, withdrawn, really_records, really_withdrawn) as (
  select f.name, f.records, f.withdrawn, (select count(*) from feed_records as r where r.feed = f.name and r.removed = 0),
    (select count(*) from feed_records as r where r.feed = f.name and r.removed = 0 and r.withdrawn is not null) from feeds as f where f.run = ''
)`;

const CHANGE_NUMBERS = `with numbers (given, latest) as (
  select coalesce((select c.value from feed_changes as c where c.name = 'records'), 0), coalesce((select max(r.change) from feed_records as r), 0)
)`;

// To be read as if nobody had tried.
const AGAIN = `state = ${CATALOG_STATE.waiting}, attempts = 0, reason = '', holder = '', hold_until = 0, finish_time = null`;
const READ_AGAIN = `update image_catalogs set ${AGAIN}, backlog = 1 where digest = ?`;
const READ_ATTACHED_AGAIN = `update attached_readings set ${AGAIN} where subject = ?`;
const READ_MANIFEST_AGAIN = `${READ_ATTACHED_AGAIN} and manifest = ?`;

/** Of a reading that is done; what an attempt has written that is not is not seen. */
const READ = `exists (select 1 from attached_readings as r where r.subject = d.subject and r.manifest = d.manifest and r.state = ${CATALOG_STATE.done})`;

/** The checks of security data. */
export const SECURITY_CHECKS: readonly RowCheck[] = [
  withoutParent("advisories"),
  {
    kind: "advisory-event-without-advisory",
    meaning: "an event belongs to an advisory that is gone",
    find: "select e.uid from advisory_events as e where not exists (select 1 from advisories as a where a.uid = e.parent)",
    show: ["uid"],
    repair: removeFaulty("advisory_events", ["uid"]),
  },
  {
    kind: "advisory-latest-event-wrong",
    meaning: "lists by the latest approved event would not show the advisory, or show one too many",
    find: `${LATEST_TYPES} select l.uid, l.latest_type, l.really from latest as l where l.latest_type <> l.really`,
    show: ["uid", "latest_type", "really"],
    repair: repairBy("update advisories set latest_type = ? where uid = ?", ["really", "uid"]),
  },
  ...["advisory_aliases", "advisory_suffixes"].map((table): RowCheck => ({
    kind: `${table.replaceAll("_", "-")}-stale`,
    meaning: `a row of ${table} belongs to an advisory that is gone or deleted`,
    find: `select distinct x.advisory from ${table} as x where not exists (select 1 from advisories as a where a.uid = x.advisory and a.delete_time is null)`,
    show: ["advisory"],
    repair: removeFaulty(table, ["advisory"]),
  })),
  {
    kind: "advisory-not-searchable",
    meaning: "lists by alias or by query would not show an advisory",
    find: `select a.uid from advisories as a where a.delete_time is null and (not exists (select 1 from advisory_aliases as x where x.advisory = a.uid)
      or not exists (select 1 from advisory_suffixes as x where x.advisory = a.uid))`,
    show: ["uid"],
    async repair(tx, { uid }) {
      const row = await tx.selectFrom("advisories").selectAll().where("uid", "=", String(uid)).executeTakeFirst();
      if (row !== undefined) await writeLookups({ tx }, row);
    },
  },
  ...["advisory_decisions", "advisory_decision_ids"].map((table): RowCheck => ({
    kind: `${table.replaceAll("_", "-")}-stale`,
    meaning: `a row of ${table} belongs to an advisory that is gone`,
    find: `select distinct x.advisory from ${table} as x where not exists (select 1 from advisories as a where a.uid = x.advisory)`,
    show: ["advisory"],
    repair: removeFaulty(table, ["advisory"]),
  })),
  {
    kind: "advisory-decision-wrong",
    meaning: "findings would be closed or open by what is not the latest approved event of an advisory",
    find: `${DECISIONS} select d.uid, d.said, d.really from decided as d where d.said <> d.really`,
    show: ["uid", "said", "really"],
    async repair(tx, { uid }) {
      // A server beside it finds what that leaves to do.
      await noteDecision({ tx, nowMs: Date.now(), wake: () => {} }, String(uid));
    },
  },
  {
    kind: "feed-changes-behind",
    meaning: "changes of records would get numbers that were given before, and would be missed",
    find: `${CHANGE_NUMBERS} select n.given, n.latest from numbers as n where n.given < n.latest`,
    show: ["given", "latest"],
    repair: repairBy(
      "insert into feed_changes (name, value) values ('records', ?) on conflict (name) do update set value = excluded.value",
      ["latest"],
    ),
  },
  {
    kind: "feed-key-stale",
    meaning: "a record of a feed would be found by what it does not have: import the feed again",
    find: "select distinct k.feed, k.record from feed_keys as k where not exists (select 1 from feed_records as r where r.feed = k.feed and r.id = k.record and r.removed = case when k.kind = 'former' then 1 else 0 end)",
    show: ["feed", "record"],
    repair: removeFaulty("feed_keys", ["feed", "record"]),
  },
  {
    kind: "feed-record-not-searchable",
    meaning: "a record of a feed would not be found; after the repair the next import writes it again",
    find: "select r.feed, r.id from feed_records as r where r.removed = 0 and r.hash <> '' and not exists (select 1 from feed_keys as k where k.feed = r.feed and k.record = r.id)",
    show: ["feed", "id"],
    repair: repairBy("update feed_records set hash = '' where feed = ? and id = ?", ["feed", "id"]),
  },
  {
    kind: "feed-record-without-feed",
    meaning: "a record belongs to a feed that is gone",
    find: "select r.feed, r.id from feed_records as r where r.removed = 0 and not exists (select 1 from feeds as f where f.name = r.feed)",
    show: ["feed", "id"],
    repair: (tx, { feed, id }) => markRemoved(tx, String(feed), [String(id)]),
  },
  {
    kind: "feed-statement-key-stale",
    meaning: "a statement of a feed would be found that is gone",
    find: "select k.key, k.vulnerability, k.feed, k.record, k.n from feed_statement_keys as k where not exists (select 1 from feed_statements as s where s.feed = k.feed and s.record = k.record and s.n = k.n)",
    show: ["feed", "record", "n"],
    repair: removeFaulty("feed_statement_keys", ["key", "vulnerability", "feed", "record", "n"]),
  },
  {
    kind: "feed-statement-not-searchable",
    meaning: "a statement of a feed about a product that it may decide about would not be found",
    find: `select s.feed, s.record, s.n, s.key, s.ids from feed_statements as s where not exists
      (select 1 from feed_statement_keys as k where k.key = s.key and k.feed = s.feed and k.record = s.record and k.n = s.n)`,
    show: ["feed", "record", "n"],
    async repair(tx, { feed, record, n, key, ids }) {
      for (const id of new Set(JSON.parse(String(ids)) as string[]))
        await select(
          tx,
          "insert into feed_statement_keys (key, vulnerability, feed, record, n) values (?, ?, ?, ?, ?) on conflict do nothing",
          [String(key), id, String(feed), String(record), Number(n)],
        );
    },
  },
  {
    kind: "feed-problem-without-feed",
    meaning: "what could not be read is noted for a feed that is gone",
    find: "select p.feed, p.n from feed_problems as p where not exists (select 1 from feeds as f where f.name = p.feed)",
    show: ["feed", "n"],
    repair: removeFaulty("feed_problems", ["feed", "n"]),
  },
  {
    kind: "feed-counts-wrong",
    meaning: "a feed counts other records than it has",
    // Those of an import that is under way, or was killed, hold when the next one has ended.
    find: `${FEED_COUNTS} select r.name, r.records, r.withdrawn, r.really_records, r.really_withdrawn from really as r where r.records <> r.really_records or r.withdrawn <> r.really_withdrawn`,
    show: ["name", "records", "really_records", "withdrawn", "really_withdrawn"],
    repair: repairBy("update feeds set records = ?, withdrawn = ? where name = ?", [
      "really_records",
      "really_withdrawn",
      "name",
    ]),
  },
  {
    kind: "image-package-without-catalog",
    meaning: "what an image holds is noted, and its catalog, or the reading of what is attached to it, is gone",
    find: `select i.digest, i.source, i.n from image_packages as i where
      (i.source in ('${LAYERS}', '${LAYERS_AGAIN}') and not exists (select 1 from image_catalogs as c where c.digest = i.digest))
      or (i.source like 'scan/%' and not exists (select 1 from scans as s where 'scan/' || s.uid = i.source))
      or (i.source not in ('${LAYERS}', '${LAYERS_AGAIN}') and i.source not like 'scan/%' and not exists (select 1 from attached_readings as r where r.subject = i.digest and i.source like r.manifest || '/%'))`,
    show: ["digest", "source", "n"],
    repair: removeFaulty("image_packages", ["digest", "source", "n"]),
  },
  {
    kind: "image-package-without-package",
    meaning: "an image holds a package that is gone; after the repair a server reads the image again",
    find: "select distinct i.digest from image_packages as i where not exists (select 1 from packages as p where p.id = i.package)",
    show: ["digest"],
    async repair(tx, row) {
      await repairBy("delete from image_packages where digest = ?", ["digest"])(tx, row);
      await repairBy(READ_AGAIN, ["digest"])(tx, row);
      await repairBy(READ_ATTACHED_AGAIN, ["digest"])(tx, row);
      await repairBy("update scans set packages = 0 where digest = ?", ["digest"])(tx, row);
    },
  },
  {
    kind: "image-without-catalog",
    meaning: "it is not noted that an image is to be read; after the repair a server reads it",
    find: `select m.digest, min(m.create_time) as create_time from manifests as m where m.artifact_type in (${IMAGE_CONFIG_TYPES.map((type) => `'${type}'`).join(", ")})
      and not exists (select 1 from image_catalogs as c where c.digest = m.digest) group by m.digest`,
    show: ["digest"],
    repair: repairBy(
      `insert into image_catalogs (digest, state, backlog, attempts, reason, holder, hold_until, os_id, os_version, os_name, unread, create_time)
         values (?, ${CATALOG_STATE.waiting}, 1, 0, '', '', 0, '', '', '', '[]', ?) on conflict do nothing`,
      ["digest", "create_time"],
    ),
  },
  {
    kind: "attachment-without-reading",
    meaning: "it is not noted that what is attached to an image is to be read; after the repair a server reads it",
    find: `select a.subject, a.manifest, min(a.from_time) as from_time from attachments as a
      where not exists (select 1 from attached_readings as r where r.subject = a.subject and r.manifest = a.manifest) group by a.subject, a.manifest`,
    show: ["subject", "manifest"],
    repair: repairBy(
      `insert into attached_readings (subject, manifest, state, attempts, reason, holder, hold_until, create_time)
         values (?, ?, ${CATALOG_STATE.waiting}, 0, '', '', 0, ?) on conflict do nothing`,
      ["subject", "manifest", "from_time"],
    ),
  },
  {
    kind: "attached-document-without-reading",
    meaning: "a document is noted that was attached to an image, and its reading is gone",
    find: "select d.subject, d.manifest, d.n from attached_documents as d where not exists (select 1 from attached_readings as r where r.subject = d.subject and r.manifest = d.manifest)",
    show: ["subject", "manifest", "n"],
    repair: removeFaulty("attached_documents", ["subject", "manifest", "n"]),
  },
  {
    kind: "attached-statement-without-document",
    meaning: "a statement about a vulnerability is noted, and the document that made it is gone",
    find: `select distinct s.subject, s.manifest, s.n from attached_statements as s where not exists (select 1 from attached_documents as d where d.subject = s.subject and d.manifest = s.manifest and d.n = s.n)
      and not exists (select 1 from attached_readings as r where r.subject = s.subject and r.manifest = s.manifest and (r.state <> ${CATALOG_STATE.done} or s.n < 0))`,
    show: ["subject", "manifest", "n"],
    repair: removeFaulty("attached_statements", ["subject", "manifest", "n"]),
  },
  {
    kind: "reference-without-document",
    meaning: "a reference to a component is noted, and the document that has the component is gone",
    find: `select distinct s.subject, s.manifest, s.n from attached_refs as s where not exists (select 1 from attached_documents as d where d.subject = s.subject and d.manifest = s.manifest and d.n = s.n)`,
    show: ["subject", "manifest", "n"],
    repair: removeFaulty("attached_refs", ["subject", "manifest", "n"]),
  },
  {
    kind: "passed-over-statement-without-document",
    meaning: "a statement about something else is noted, and the document that made it is gone",
    find: `select distinct s.subject, s.manifest, s.n from attached_passed_over as s where not exists (select 1 from attached_documents as d where d.subject = s.subject and d.manifest = s.manifest and d.n = s.n)`,
    show: ["subject", "manifest", "n"],
    repair: removeFaulty("attached_passed_over", ["subject", "manifest", "n"]),
  },
  {
    kind: "attached-document-incomplete",
    meaning:
      "a document that is attached to an image has lost packages or statements; after the repair it is read again",
    find: `select d.subject, d.manifest, d.n from attached_documents as d where ${READ} and (
      d.statements <> (select count(*) from attached_statements as s where s.subject = d.subject and s.manifest = d.manifest and s.n = d.n)
      or d.packages <> (select count(*) from image_packages as i where i.digest = d.subject and i.source = d.manifest || '/' || d.n))`,
    show: ["subject", "manifest", "n"],
    repair: repairBy(READ_MANIFEST_AGAIN, ["subject", "manifest"]),
  },
  {
    kind: "archive-without-package",
    meaning: "what a Java archive says of itself is kept, and the archive is not among the packages of its image",
    find: "select a.digest, a.n from image_archives as a where not exists (select 1 from image_packages as i where i.digest = a.digest and i.source = '${LAYERS}' and i.n = a.n)",
    show: ["digest", "n"],
    repair: removeFaulty("image_archives", ["digest", "n"]),
  },
  {
    kind: "package-without-image",
    meaning: "a package is kept that no image holds",
    find: "select p.id, p.purl from packages as p where not exists (select 1 from image_packages as i where i.package = p.id)",
    show: ["purl"],
    repair: removeFaulty("packages", ["id"]),
  },
  {
    kind: "scan-report-without-scan",
    meaning: "the report of a scanner is kept that no scan shows any more",
    find: "select r.scan from scan_reports as r where not exists (select 1 from scans as s where s.uid = r.scan)",
    show: ["scan"],
    repair: removeFaulty("scan_reports", ["scan"]),
  },
  ...["package_keys", "package_findings"].map((table): RowCheck => ({
    kind: `${table.replaceAll("_", "-")}-without-package`,
    meaning: `a row of ${table} is about a package that no image holds any more`,
    find: `select distinct t.package from ${table} as t where not exists (select 1 from packages as p where p.id = t.package)`,
    show: ["package"],
    repair: removeFaulty(table, ["package"]),
  })),
];
