import { type Database, select } from "@moorage/kernel/store";
import { RUNNING_FOR_MS } from "../../registry/index.ts";

/** A repo that came from another registry, and when its content was used, as numbers in no order. */
export interface UsedRepo {
  repo: string;
  /** When each of its manifests was last used, in milliseconds since 1970: it came, was pulled or was said to run. */
  timesMs: number[];
}

const REPO_PAGE = 100;
const MANIFEST_PAGE = 500;

/**
 * Reads when the manifests were last used of the repos below a group that came from another registry, page by page. Not
 * of those whose registry is not asked, since they would not come again, nor of those that are followed, since they
 * would come with the next turn. `read` is to wait between two pages, so that other work proceeds.
 */
export async function* usesBelow(
  read: <T>(work: (tx: Database) => Promise<T>) => Promise<T>,
  group: string,
  nowMs: number,
): AsyncGenerator<UsedRepo> {
  for (let after: string | undefined = `${group}/`; after !== undefined;) {
    const from: string = after;
    const repos = await read((tx) =>
      tx
        .selectFrom("upstream_repos as o")
        .innerJoin("registry_upstreams as u", "u.uid", "o.upstream")
        .select("o.repo")
        .where("o.repo", ">", from)
        .where("o.repo", "<", `${group}0`)
        .where("u.disabled", "=", 0)
        .where("u.follow", "is", null)
        .orderBy("o.repo")
        .limit(REPO_PAGE)
        .execute(),
    );
    for (const { repo } of repos) yield { repo, timesMs: await timesOf(read, repo, nowMs) };
    after = repos.length < REPO_PAGE ? undefined : repos.at(-1)?.repo;
  }
}

interface Used {
  digest: string;
  touch_time: number;
  pulled: number | null;
  running: number | null;
}

const PAGE = `select m.digest, m.touch_time,
    (select p.time from last_pulls as p where p.repo = m.repo and p.digest = m.digest) as pulled,
    (select max(r.time) from running_images as r where r.repo = m.repo and r.digest = m.digest) as running
  from manifests as m where m.repo = ? and m.digest > ? order by m.digest limit ${MANIFEST_PAGE}`;

async function timesOf(
  read: <T>(work: (tx: Database) => Promise<T>) => Promise<T>,
  repo: string,
  nowMs: number,
): Promise<number[]> {
  const timesMs: number[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await read(async (tx) => await select<Used>(tx, PAGE, [repo, from]));
    for (const { touch_time: cameMs, pulled, running } of page) {
      const runsUntilMs = running === null ? 0 : Math.min(nowMs, Number(running) + RUNNING_FOR_MS);
      timesMs.push(Math.max(Number(cameMs), Number(pulled ?? 0), runsUntilMs));
    }
    after = page.length < MANIFEST_PAGE ? undefined : page.at(-1)?.digest;
  }
  return timesMs;
}
