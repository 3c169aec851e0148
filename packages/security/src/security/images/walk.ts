import { sql, type SqlBool } from "kysely";
import { type Scope, within } from "@moorage/kernel/aip/scope";
import { type Database, select } from "@moorage/kernel/store";
import type { ImageName } from "./images.ts";

// The order in which a list of findings goes through images. Each step continues after an image by an index, so that
// the last page costs what the first one costs.

/** Some images, and whether others may follow. `last`: the last that was looked at, also if it is not among them. */
export interface Batch {
  images: ImageName[];
  last: ImageName;
}

const BATCH = 100;
const REPOS = 50;

/** All digests of the repos in the scope, from the image on, by repos and then by digests. */
export async function* imagesByRepo(db: Database, scope: Scope, from: ImageName): AsyncGenerator<Batch> {
  for (let after = from.repo, isFirst = true; ; isFirst = false) {
    const repos = await reposOf(db, scope, after, isFirst);
    for (const repo of repos)
      for (let digest = repo === from.repo ? from.digest : "", isAt = repo === from.repo; ; isAt = false) {
        const rows = await db
          .selectFrom("manifests")
          .select(["repo", "digest"])
          .where("repo", "=", repo)
          .where("digest", isAt ? ">=" : ">", digest)
          .orderBy("digest")
          .limit(BATCH)
          .execute();
        const last = rows.at(-1);
        if (last === undefined) break;
        yield { images: rows, last };
        digest = last.digest;
      }
    const last = repos.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** The digests that hold one of the packages, from the image on, by digests and then by repos of the scope. */
export async function* imagesWith(
  db: Database,
  packages: readonly string[],
  scope: Scope,
  from: ImageName,
): AsyncGenerator<Batch> {
  for (let digest = from.digest, isAt = true; ; isAt = false) {
    const digests = await digestsWith(db, packages, digest, isAt);
    const last = digests.at(-1);
    if (last === undefined) return;
    const rows = await imagesOf(db, scope, digests);
    const images = rows.filter((row) => row.digest > from.digest || row.repo >= from.repo);
    yield { images, last: images.at(-1) ?? { repo: LAST_REPO, digest: last } };
    digest = last;
  }
}

/** The digests in each repo of the scope that has them, by digests and then by repos. */
export async function imagesOf(db: Database, scope: Scope, digests: readonly string[]): Promise<ImageName[]> {
  return await reposIn(db, scope)
    .innerJoin("manifests as m", "m.repo", "t.uid")
    .select(["m.repo", "m.digest"])
    .where("m.digest", "in", digests)
    .orderBy("m.digest")
    .orderBy("m.repo")
    .execute();
}

// After all uids, whose characters are hexadecimal digits and slashes.
const LAST_REPO = "~";

/** The repos of the scope that have the digest, in their order, at most so many. */
export async function reposWith(db: Database, scope: Scope, digest: string, most: number): Promise<string[]> {
  const rows = await reposIn(db, scope)
    .innerJoin("manifests as m", "m.repo", "t.uid")
    .select("m.repo")
    .where("m.digest", "=", digest)
    .orderBy("m.repo")
    .limit(most)
    .execute();
  return rows.map(({ repo }) => repo);
}

/** The repos of a scope, as `t`. */
function reposIn(db: Database, { roots, conditions }: Scope) {
  return db.selectFrom("repos as t").where(sql<SqlBool>`${sql.join([within(roots), ...conditions], sql` and `)}`);
}

async function reposOf(db: Database, scope: Scope, after: string, isAt: boolean): Promise<string[]> {
  const rows = await reposIn(db, scope)
    .select("t.uid")
    .where("t.uid", isAt ? ">=" : ">", after)
    .orderBy("t.uid")
    .limit(REPOS)
    .execute();
  return rows.map(({ uid }) => uid);
}

/** The next digests that hold one of the packages: of each package the next ones, by the index. */
async function digestsWith(db: Database, packages: readonly string[], after: string, isAt: boolean): Promise<string[]> {
  const found = new Set<string>();
  for (let at = 0; at < packages.length; at += BATCH) {
    const some = packages.slice(at, at + BATCH);
    const each = `select digest from (select distinct digest from image_packages where package = ? and digest ${isAt ? ">=" : ">"} ? order by digest limit ${BATCH}) as d`;
    const rows = await select<{ digest: string }>(
      db,
      some.map((_, n) => each.replace(/ as d$/, ` as d${n}`)).join(" union "),
      some.flatMap((id) => [id, after]),
    );
    for (const { digest } of rows) found.add(digest);
  }
  return [...found].sort().slice(0, BATCH);
}
