import type { TestContext } from "node:test";
import { loadConfig } from "../../src/index.ts";
import { openCommandWriter } from "../../src/installation/stores.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { openCall } from "../../src/runtime/open-call.ts";
import { packageRow } from "../../../security/src/security/catalog/rows.ts";
import { matchChanges } from "../../../security/src/security/findings/match-changes.ts";
import { matchPackages } from "../../../security/src/security/findings/match-packages.ts";
import { restateFeeds } from "../../../security/src/security/trusted/restate-feeds.ts";
import { type Database, openStore, type Row, type Store } from "../../../kernel/src/store/index.ts";
import type { FeedInstallation } from "./feed-installation.ts";

/** A package of an image, as its purl says; of distributions with its source package. */
export interface TestPackage {
  purl: string;
  name: string;
  version: string;
  sourceName?: string;
}

/** Notes that an image holds these packages, as its reading does. */
export async function addImage(db: Database, digest: string, packages: readonly TestPackage[]): Promise<void> {
  const rows = packages.map(({ sourceName = "", ...each }) =>
    packageRow({ sourceVersion: "", ...each, sourceName, licence: "", layer: "", path: "", reader: "" }),
  );
  await db
    .insertInto("packages")
    .values(rows)
    .onConflict((on) => on.doNothing())
    .execute();
  await db
    .insertInto("image_packages")
    .values(
      rows.map(({ id }, n) => ({
        digest,
        source: "layers",
        n,
        package: id,
        layer: "sha256:1",
        path: `${n}`,
        reader: "",
      })),
    )
    .execute();
}

export const npm = (name: string, version: string): TestPackage => ({
  purl: `pkg:npm/${name}@${version}`,
  name,
  version,
});

/** `affected` of an OSV record: the package is affected before the version. */
export const before = (name: string, fixed: string): object => ({
  affected: [
    {
      package: { ecosystem: "npm", name },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed }] }],
    },
  ],
});

/** The store of an installation, in which a test matches in this thread. */
export async function openMatching(
  t: TestContext,
  { env }: FeedInstallation,
): Promise<{ store: Store; match(nowMs: number): Promise<void> }> {
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  return { store, match: (nowMs) => matchAll(store, nowMs) };
}

/** Matches, at that time, until there is nothing left to do. */
async function matchAll(store: Store, nowMs: number): Promise<void> {
  for (const command of [restateFeeds, matchPackages, matchChanges])
    for (let isDone = false; !isDone;)
      ({ isDone } = await store.transact((tx) => command.run(openCall(systemCall(nowMs), tx), undefined, undefined), {
        isolation: command.isolation,
        durability: command.durability,
      }));
}

/** Matches through the command writer until there is nothing left to do, as a server does; `step` follows each step. */
export async function matchAsServer(env: Record<string, string | undefined>, step: () => void): Promise<void> {
  const config = loadConfig(env);
  const store = await openStore(config);
  const writer = await openCommandWriter(store, config, (error) => {
    throw error;
  });
  for (let isDone = false; !isDone;) {
    const done = [];
    for (const command of [restateFeeds, matchPackages, matchChanges]) {
      done.push(await writer.write(command, systemCall(Date.now()), undefined));
      step();
    }
    isDone = done.every((each) => each.isDone);
  }
  await writer.close();
  await store.close();
}

/** The findings of packages, in the order of their opening, the columns that tests name. */
export async function findings(db: Database): Promise<(Row<"package_findings"> & { name: string; version: string })[]> {
  const rows = await db
    .selectFrom("package_findings as f")
    .innerJoin("packages as p", "p.id", "f.package")
    .selectAll("f")
    .select(["p.name", "p.version"])
    .orderBy("p.name")
    .orderBy("p.version")
    .orderBy("f.feed")
    .orderBy("f.record")
    .orderBy("f.opened")
    .orderBy("f.change")
    .execute();
  return rows;
}

/** `name version record` of those that are open. */
export async function openOnes(db: Database): Promise<string[]> {
  const rows = (await findings(db)).filter(({ closed }) => closed === null);
  return rows.map(({ name, version, record }) => `${name} ${version} ${record}`);
}
