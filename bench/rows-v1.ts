import { request } from "node:http";
import { api, findRepo, type Moorage } from "./moorage.ts";
import { forgetPeak, mappedMib, peakMib } from "./processes.ts";
import { type Bench, count, type Row, type Section } from "./rows.ts";
import { FEW_TAGS } from "./rows-tags.ts";
import { taggedName } from "./seed-sql.ts";

const TIMEOUT_MS = 300_000;
const PAGE = 200;
// The first byte waits for two pages of a thousand tags: twenty times what the short list has.
const MOST_FIRST_BYTE = 20;

/** What a list took: until its first byte and its last, and how many tags it had. */
interface Listed {
  firstMs: number;
  wholeMs: number;
  tags: number;
}

/** All tags of the repo by v1, in one answer. */
function listV1({ platform }: Moorage, repo: string): Promise<Listed> {
  const [, authorization = ""] = /^authorization: (.*)\r\n$/.exec(platform.authorization) ?? [];
  const path = `/registry/v1/tags?uidp.childrenOf=${repo}`;
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port: platform.port,
      path,
      headers: { authorization },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    asked.on("error", reject).on("response", (answer) => {
      let firstMs = 0;
      let tags = 0;
      // Every tag has one digest, which nothing else has; a name may be cut in two by a chunk, and is counted then.
      let rest = "";
      answer
        .on("error", reject)
        .on("data", (chunk: Buffer) => {
          if (firstMs === 0) firstMs = performance.now() - began;
          const text = rest + chunk.toString("latin1");
          const parts = text.split('"digest"');
          tags += parts.length - 1;
          rest = (parts.at(-1) ?? "").slice(-10);
        })
        .on("end", () => {
          if (answer.statusCode === 200) resolve({ firstMs, wholeMs: performance.now() - began, tags });
          else reject(new Error(`${path}: ${answer.statusCode}`));
        });
    });
    asked.end();
  });
}

/** All tags of the repo by v2, in pages of 200. Returns how many there are. */
async function listV2({ platform }: Moorage, repo: string): Promise<number> {
  let tags = 0;
  for (let token = ""; ;) {
    const path = `/registry/v2/tags?uidp.childrenOf=${repo}&page_size=${PAGE}&page_token=${encodeURIComponent(token)}`;
    const page = await api<{ tags: unknown[]; nextPageToken: string }>(platform, "GET", path);
    tags += page.tags.length;
    token = page.nextPageToken;
    if (token === "") return tags;
  }
}

/** Lists of v1, which have no pages, of a repo with many tags: against the pages of v2, and against a short list. */
export function v1Section({ engine, sizes, largest: { moorage } }: Bench): Section {
  const repoOf = (tags: number): Promise<string> => findRepo(moorage, taggedName(tags));
  const [few, many] = [count(FEW_TAGS), count(sizes.tags)];
  const byPages = `v2 list of ${many} tags by pages of ${PAGE}, ${engine}`;
  const firstOfFew = `v1 list of ${few} tags, until the first byte, ${engine}`;
  const first = (title: string, tags: number): Row => ({
    title,
    unit: "ms",
    measure: async () => ({ rate: (await listV1(moorage, await repoOf(tags))).firstMs }),
  });
  const rows: Row[] = [
    {
      title: `v1 list of ${many} tags, whole, ${engine}`,
      unit: "/s",
      async measure() {
        const { tags, wholeMs } = await listV1(moorage, await repoOf(sizes.tags));
        const failure = tags === sizes.tags ? undefined : `${tags} tags came`;
        return { rate: (tags * 1000) / wholeMs, ...(failure !== undefined && { failure }) };
      },
      against: [{ title: byPages, goal: 1 }],
    },
    {
      title: byPages,
      unit: "/s",
      async measure() {
        const began = performance.now();
        const tags = await listV2(moorage, await repoOf(sizes.tags));
        return { rate: (tags * 1000) / (performance.now() - began) };
      },
    },
    {
      ...first(`v1 list of ${many} tags, until the first byte, ${engine}`, sizes.tags),
      against: [{ title: firstOfFew, most: MOST_FIRST_BYTE }],
    },
    first(firstOfFew, FEW_TAGS),
  ];
  return { title: `lists of v1, ${engine}`, rows };
}

/** The peak of memory without mapped files while v1 lists few tags, and many, in MiB. */
export async function v1Peaks({ sizes, largest: { moorage } }: Bench): Promise<{ tags: number; peak: number }[]> {
  const { pid } = moorage.process;
  const found: { tags: number; peak: number }[] = [];
  for (const tags of [FEW_TAGS, sizes.tags]) {
    const repo = await findRepo(moorage, taggedName(tags));
    forgetPeak(pid);
    await listV1(moorage, repo);
    found.push({ tags, peak: (peakMib(pid) ?? Number.NaN) - (mappedMib(pid) ?? Number.NaN) });
  }
  return found;
}
