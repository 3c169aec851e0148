import { sql } from "kysely";
import { readState, writeState } from "../../../../security/src/security/causes/matching-state.ts";
import { takeNumbers } from "../../../../security/src/security/feeds/rows.ts";
import { POSTGRES, SQLITE } from "../../../../../bench/seed-sql.ts";
import { pushLayers } from "../catalog/push.ts";
import { tarOf } from "../catalog/archives.ts";
import { ENGINE } from "../database.ts";
import type { HeavyWorld } from "./input.ts";

/** An image of a repo of its own. */
export interface HeavyImage {
  repo: string;
  digests: string[];
}

/** Where images are pushed. */
export type ImagePlace = Pick<HeavyWorld, "url" | "registry" | "organization" | "write">;

/** What was read from the images. */
export interface Held {
  packages: number;
  /** How many of them have a finding. */
  findings?: number;
}

const EPOCH_MS = 1_760_000_000_000;
const FEED = "heavy";
/** The state of an image that was read. */
const READ = 2;
let images = 0;
/** Each image has packages of its own. */
let begun = 0;

/**
 * Pushes an image for each of `held` and writes what the reading of images and matching would have written. The
 * packages of an image are named from `from` on, so that those of two images may differ.
 */
export async function pushHolding(world: ImagePlace, held: readonly Held[]): Promise<HeavyImage> {
  const name = `heavy-${(images += 1)}`;
  const target = { url: world.url, token: world.registry, name: `${world.organization.name}/${name}` };
  const digests: string[] = [];
  for (const [at] of held.entries())
    digests.push(await pushLayers(target, `v${at}`, [tarOf([{ path: "name", content: `${name} ${at}` }])]));
  let repo = "";
  await world.write(async (db) => {
    repo = (await db.selectFrom("repos").select("uid").where("name", "=", name).executeTakeFirstOrThrow()).uid;
    const { series, pad } = ENGINE === "sqlite" ? SQLITE : POSTGRES;
    const run = async (text: string): Promise<void> => void (await sql.raw(text).execute(db));
    for (const [at, { packages, findings = 0 }] of held.entries()) {
      const digest = digests[at] ?? "";
      const from = begun;
      await db
        .updateTable("image_catalogs")
        .set({ state: READ, finish_time: EPOCH_MS })
        .where("digest", "=", digest)
        .execute();
      begun += packages;
      const id = `'heavy-' || ${pad(`s.i + ${from}`)}`;
      await run(`insert into packages (id, ecosystem, source_name, source_version, purl, name, version, licence, matched)
        select ${id}, 'npm', 'package-' || ${pad("s.i")}, '1.0.${from}', 'pkg:npm/package-' || ${pad("s.i")} || '@1.0.${from}',
          'package-' || ${pad("s.i")}, '1.0.${from}', 'MIT', ${EPOCH_MS} from ${series(packages)} as s`);
      await run(`insert into image_packages (digest, source, n, package, layer, path, reader)
        select '${digest}', 'layers', s.i, ${id}, '${digest}', 'app/node_modules/package-' || ${pad("s.i")} || '/package.json', 'npm'
          from ${series(packages)} as s`);
      if (findings === 0) continue;
      const record = `'HEAVY-' || ${pad("s.i")}`;
      const body = `'{"schema_version":"1.7.0","id":"HEAVY-' || ${pad("s.i")} || '","modified":"2026-01-01T00:00:00Z","summary":"${"s".repeat(100)}","details":"${"d".repeat(500)}","aliases":["CVE-2026-' || ${pad("s.i")} || '"],"references":[{"type":"ADVISORY","url":"https://advisories.example.com/' || ${pad("s.i")} || '"}],"affected":[{"package":{"ecosystem":"npm","name":"package-' || ${pad("s.i")} || '"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"9.0.0"}]}]}]}'`;
      await run(`insert into feeds (name, format, address, licence, interval_ms, products, origin, run, etag, last_modified, newest, records, withdrawn, problems, error, create_time)
        values ('${FEED}', 'osv', '', 'CC0-1.0', 0, '[]', 'command', '', '', '', ${EPOCH_MS}, 0, 0, 0, '', ${EPOCH_MS}) on conflict do nothing`);
      await run(`insert into feed_records (feed, id, modified, withdrawn, removed, hash, severity, score_tenths, body, change)
        select '${FEED}', ${record}, ${EPOCH_MS}, null, 0, '', 'CRITICAL', 98, ${body}, s.i + 1 from ${series(findings)} as s where true on conflict do nothing`);
      // Otherwise the server compares them with packages that have no keys here, and closes their findings.
      await takeNumbers(db, findings);
      for (const part of ["archives", "changes"] as const) {
        const { value } = await readState(db, part);
        await writeState(db, part, { value: Math.max(value, findings), position: "" });
      }
      for (const [kind, key] of [
        ["id", `'heavy-' || ${pad("s.i")}`],
        ["alias", `'cve-2026-' || ${pad("s.i")}`],
      ])
        await run(`insert into feed_keys (kind, key, feed, record)
          select '${kind}', ${key}, '${FEED}', ${record} from ${series(findings)} as s where true on conflict do nothing`);
      await run(`insert into package_findings (package, feed, record, change, modified, opened, since, closed, reason_opened, reason_closed, state, fixed, last_affected)
        select ${id}, '${FEED}', ${record}, s.i + 1, ${EPOCH_MS}, ${EPOCH_MS}, ${EPOCH_MS}, null, 'PACKAGE', '', 'FIXED', '["9.0.0"]', '[]' from ${series(findings)} as s`);
    }
  });
  return { repo, digests };
}
