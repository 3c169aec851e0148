import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Moorage, type Place, startMoorage } from "./moorage.ts";
import type { Postgres } from "./postgres.ts";
import { ask, LOAD_CORE, stop } from "./processes.ts";
import { say } from "./say.ts";
import type { SeedPlan } from "./seed-sql.ts";
import type { SqliteSeed } from "./seed-sqlite.ts";

/** A data folder, and a database if it is elsewhere, with so many repos. */
export interface Installation {
  place: Place;
  repos: number;
  engine: Engine;
}
export type Engine = "SQLite" | "PostgreSQL";

/** How many rows to create. Only the largest installation has the tags, and one of its own has images. */
export interface Amounts {
  repos: number;
  tagged: number[];
  images?: number;
  artifacts?: number;
}

// Files that determine the content of a fresh database.
const SOURCES = [
  "./seed-sql.ts",
  "./seed-sqlite.ts",
  "./seed-images.ts",
  "./seed-artifacts.ts",
  "../packages/kernel/src/store/migrations.ts",
  "../packages/server/src/installation/bootstrap.ts",
  "../packages/security/src/security/catalog/readers-version.ts",
];
const SEED_TIMEOUT_MS = 600_000;
const MAX_GROUPS = 100;

function planOf(
  { organization, publicOrganization }: Moorage,
  { repos, tagged, images, artifacts }: Amounts,
): SeedPlan {
  return {
    organization: organization.uid,
    small: publicOrganization.uid,
    repos,
    groups: Math.min(MAX_GROUPS, Math.ceil(repos / 10)),
    tagged,
    ...(images !== undefined && { images }),
    ...(artifacts !== undefined && { artifacts }),
  };
}

const described = ({ repos, images, artifacts }: Amounts): string => {
  if (artifacts !== undefined) return `${artifacts.toLocaleString("en")} libraries`;
  return images === undefined ? `${repos.toLocaleString("en")} repos` : `${images.toLocaleString("en")} images`;
};

/** Starts and stops the server once, so that the installation is initialized before rows are added. */
async function firstStart(place: Place): Promise<Moorage> {
  mkdirSync(place.dataDir, { recursive: true });
  const moorage = await startMoorage(place);
  await stop(moorage.process);
  return moorage;
}

/** A data folder with SQLite: created once for each schema and size in `cacheFolder`, and copied to `scratch`. */
export async function sqliteInstallation(
  launcher: string,
  cacheFolder: string,
  scratch: string,
  amounts: Amounts,
): Promise<Installation> {
  const schema = createHash("sha256");
  for (const source of SOURCES) schema.update(readFileSync(new URL(source, import.meta.url)));
  const { images, artifacts } = amounts;
  const ofRepos = images === undefined ? `seed-${amounts.repos}-${amounts.tagged.join("-")}-` : `images-${images}-`;
  const prefix = artifacts === undefined ? ofRepos : `libraries-${artifacts}-`;
  const folder = join(cacheFolder, prefix + schema.digest("hex").slice(0, 12));
  if (!existsSync(folder)) {
    for (const stale of readdirSync(cacheFolder).filter((entry) => entry.startsWith(prefix)))
      rmSync(join(cacheFolder, stale), { recursive: true, force: true });
    say(`SQLite: making ${described(amounts)}, kept for the next run`);
    const making = mkdtempSync(join(cacheFolder, "making-"));
    try {
      const moorage = await firstStart({ launcher, dataDir: making, env: {} });
      const input: SqliteSeed = { database: join(making, "moorage.db"), plan: planOf(moorage, amounts) };
      await ask(LOAD_CORE, "seed-sqlite.ts", input, SEED_TIMEOUT_MS);
      renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  const dataDir = join(scratch, `sqlite-${artifacts === undefined ? "" : "libraries-"}${amounts.repos}`);
  cpSync(folder, dataDir, { recursive: true });
  return { place: { launcher, dataDir, env: {} }, repos: amounts.repos, engine: "SQLite" };
}

/** A separate database on the PostgreSQL server. `name`: what the database's name begins with. */
export async function postgresInstallation(
  launcher: string,
  postgres: Postgres,
  scratch: string,
  amounts: Amounts,
  name = "repos",
): Promise<Installation> {
  say(`PostgreSQL: making ${described(amounts)}`);
  const url = await postgres.database(`${name}_${amounts.repos}`);
  const place = { launcher, dataDir: join(scratch, `postgres-${amounts.repos}`), env: { MOORAGE_DATABASE_URL: url } };
  await postgres.seed(url, planOf(await firstStart(place), amounts));
  return { place, repos: amounts.repos, engine: "PostgreSQL" };
}
