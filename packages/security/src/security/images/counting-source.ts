import { type RawBuilder, sql } from "kysely";
import { IS_SIGNED_AS_ASKED } from "../attached/layers.ts";
import { CATALOG_STATE, LAYERS } from "../catalog/rows.ts";

const documents = (trusted: 0 | 1): RawBuilder<string> => sql`select d.manifest || '/' || d.n as source
  from attachments as a
    join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${sql.lit(CATALOG_STATE.done)}
    join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.packages > 0 and ${sql.raw(IS_SIGNED_AS_ASKED)}
    where a.repo = m.repo and a.subject = m.digest and a.until_time is null and a.trusted = ${sql.lit(trusted)}`;

/**
 * Whether the packages of the row `i` of `image_packages` count for the manifest `m`, in SQL: its source is one of
 * `countingSources` as of now. For statements about many images.
 */
export const IS_COUNTED: RawBuilder<boolean> = sql`(i.source = coalesce(
  (${documents(1)} order by a.from_time desc, d.time desc, d.manifest, d.n limit 1),
  (select ${sql.lit(LAYERS)} from image_catalogs as c where c.digest = m.digest and c.state = ${sql.lit(CATALOG_STATE.done)}),
  (select 'scan/' || s.uid from scans as s where s.parent = m.repo and s.digest = m.digest and s.packages > 0
    order by s.report_time desc, s.uid limit 1))
  or (i.source = ${sql.lit(LAYERS)} and exists
    (select 1 from image_catalogs as c where c.digest = m.digest and c.state = ${sql.lit(CATALOG_STATE.done)}))
  or i.source in (${documents(0)}))`;
