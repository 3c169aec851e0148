import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLACE } from "./load.ts";
import { api, findRepo } from "./moorage.ts";
import { type Image, MANIFEST, pushImage, pushLayer, type Registry, send, tagImage } from "./registries.ts";
import { aloneByKeyRow, POSTGRES_GOAL } from "./rows-reads.ts";
import { rested } from "./rows-pull-events.ts";
import { type Against, type Bench, count, get, overHttp, type Row, type Section } from "./rows.ts";
import { MANIFESTS, recordTimeMs, tagName, taggedName } from "./seed-sql.ts";

const TAGGED = "manifest by tag";
// Against docker-registry; those of manifests on SQLite are about processor time, and the second is the next to reach.
const SAME_GOALS = [60];
const ANOTHER_GOALS = [20, 30];
const BLOB_GOAL = 20;
const POSTGRES_DOCKER_GOAL = 6;
const ZOT_GOAL = 1.5;
// The pages of tags and of records took 0.63 and 1.8 ms of processor time when docker-registry's page of tags took
// 1.47: the goals are a third of those times.
const TAGS_PAGE_GOAL = 7;
const HISTORY_PAGE_GOAL = 2.4;
const PEER_TAGS = 1_000;
const PUSH_CONCURRENCY = 8;
const TAGS_PAGE = 200;
// More blobs than the response cache can hold.
const BLOBS = 7_000;
// PostgreSQL is asked each time, whatever was asked before.
const POSTGRES_MANIFESTS = 1_000;

/** What the rows of a registry need to be pushed before. */
interface Stocked {
  registry: Registry;
  repository: string;
  image: Image;
}

const stocked = new Map<Registry, Stocked>();

/** Pushes an image, once for each registry. */
async function stock(registry: Registry, organization: string): Promise<Stocked> {
  const known = stocked.get(registry);
  if (known) return known;
  const repository = `${organization}/bench`;
  const made = { registry, repository, image: await pushImage(registry, repository, "latest") };
  stocked.set(registry, made);
  return made;
}

/** Pushes so many tags to another registry; Moorage has its tags from the seed. */
async function pushTags(registry: Registry, repository: string, tags: number): Promise<void> {
  const image = await pushImage(registry, repository, tagName(0));
  for (let at = 1; at < tags; at += PUSH_CONCURRENCY) {
    const names = Array.from({ length: Math.min(PUSH_CONCURRENCY, tags - at) }, (_, index) => tagName(at + index));
    await Promise.all(names.map((name) => tagImage(registry, repository, name, image.manifest)));
  }
}

/** Manifests and small blobs: Moorage with a token that it verifies, the other registries without one. */
export async function registrySection(bench: Bench): Promise<Section> {
  const {
    engine,
    largest: { moorage },
    peers,
  } = bench;
  // Moorage emits events for pulls, some of them after the row.
  const pullsOf = (registry: Registry, measure: Row["measure"]): Row["measure"] =>
    registry === moorage ? rested(registry, measure) : measure;
  const named = ({ name }: Registry): string => (name === moorage.name ? `${name} on ${engine}` : name);
  const rowsOf = ({ registry, repository, image }: Stocked): Row[] => {
    const row = (what: string, path: string, accept: string): Row => ({
      title: `${what}, ${named(registry)}`,
      unit: "/s",
      measure: pullsOf(
        registry,
        overHttp(bench, registry, () => [[get(`/v2/${repository}/${path}`, registry.authorization, accept)]]),
      ),
      ...(registry === moorage && {
        against: againstPeers(bench, what, false),
      }),
    });
    return [
      row(TAGGED, "manifests/latest", MANIFEST),
      row("manifest by digest", `manifests/${image.digest}`, MANIFEST),
      row("4 KiB blob", `blobs/${image.layer}`, "*/*"),
    ];
  };
  const all: Stocked[] = [];
  for (const registry of [...peers, moorage]) all.push(await stock(registry, moorage.organization.name));
  return {
    title: `registry, ${engine}`,
    rows: [...all.flatMap(rowsOf), ...(await variedRows(bench))],
  };
}

/**
 * The same with another manifest or blob each time, more of them than are cached. The other registries are compared by
 * their rate for a single one.
 */
async function variedRows(bench: Bench): Promise<Row[]> {
  const {
    engine,
    sizes,
    scratch,
    largest: { moorage },
  } = bench;
  const { organization, authorization, platform } = moorage;
  const repository = `${organization.name}/${taggedName(sizes.tags)}`;
  const manifests = Math.min(MANIFESTS, sizes.tags);
  const row = (what: string, from: string, kind: string, names: string[] | (() => Promise<string[]>)): Row => {
    const fill = join(scratch, `varied-${what}-${engine}`.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
    return {
      prepare: async () => writeFileSync(fill, (typeof names === "function" ? await names() : names).join("\n")),
      title: `${what}, another each time, moorage on ${engine}`,
      unit: "/s",
      measure: rested(
        moorage,
        overHttp(bench, moorage, () => [[get(`/v2/${from}/${kind}/${PLACE}`, authorization, MANIFEST)]], { fill }),
      ),
      against: againstPeers(bench, what, true),
    };
  };
  const names = Array.from({ length: manifests }, (_, index) => tagName(index));
  const repo = await findRepo(moorage, taggedName(sizes.tags));
  const digests: string[] = [];
  const wanted = engine === "SQLite" ? manifests : Math.min(manifests, POSTGRES_MANIFESTS);
  for (let token = ""; digests.length < wanted;) {
    const page = await api<{ tags: { digest: string }[]; nextPageToken: string }>(
      platform,
      "GET",
      `/registry/v2/tags?uidp.descendants_of=${repo}&page_size=${TAGS_PAGE}&page_token=${encodeURIComponent(token)}`,
    );
    digests.push(...page.tags.map(({ digest }) => digest));
    token = page.nextPageToken;
    if (token === "") break;
  }
  const byDigest = row("manifest by digest", repository, "manifests", digests.slice(0, wanted));
  const statementAlone = `the statement of a manifest by digest, another each time, PostgreSQL's client alone`;
  if (engine === "PostgreSQL") {
    // The first pull by who may push writes that the manifest is in use.
    for (const digest of digests) await send(moorage, "HEAD", `/v2/${repository}/manifests/${digest}`);
    const keys = digests.map((digest) => [repo, digest]);
    return [
      aloneByKeyRow(bench.largest, statementAlone, "manifest", keys),
      row("manifest by tag", repository, "manifests", names),
      { ...byDigest, against: [{ title: statementAlone, goal: POSTGRES_GOAL }, ...(byDigest.against ?? [])] },
    ];
  }
  const small = `${organization.name}/bench`;
  const layers = async (): Promise<string[]> => {
    const pushed: string[] = [];
    for (let at = 0; at < Math.min(BLOBS, sizes.tags); at += PUSH_CONCURRENCY) {
      const indexes = Array.from({ length: PUSH_CONCURRENCY }, (_, index) => at + index);
      pushed.push(...(await Promise.all(indexes.map((index) => pushLayer(moorage, small, `moorage ${index} `)))));
    }
    return pushed;
  };
  return [row(TAGGED, repository, "manifests", names), byDigest, row("4 KiB blob", small, "blobs", layers)];
}

/** The rows of the peers to compare a row with. `what`: as in their titles. */
function againstPeers({ engine, peers }: Bench, what: string, isAnother: boolean): Against[] {
  return peers.flatMap(({ name }): Against[] => {
    const title = `${what}, ${name}`;
    const isManifest = what.startsWith("manifest");
    if (engine !== "SQLite")
      return [{ title, ...(name === "docker-registry" && what === TAGGED && { goal: POSTGRES_DOCKER_GOAL }) }];
    if (name !== "docker-registry") return [{ title, goal: ZOT_GOAL, byCpu: true }];
    if (!isManifest) return [{ title, goal: BLOB_GOAL }];
    return (isAnother ? ANOTHER_GOALS : SAME_GOALS).map((goal) => ({ title, goal, byCpu: true }));
  });
}

/** Lists of tags and histories, short and long; the first page, and one from the middle. */
export async function tagsSection(bench: Bench): Promise<Section> {
  const {
    engine,
    sizes,
    largest: { moorage },
    peers,
  } = bench;
  const { organization, authorization } = moorage;
  const short = Math.min(PEER_TAGS, sizes.tags);
  const row = (title: string, path: string, against: Against[]): Row => ({
    title: `${title}, ${engine}`,
    unit: "/s",
    measure: overHttp(bench, moorage, () => [[get(path, authorization)]]),
    against,
  });
  const list = (tags: number): string => `/v2/${organization.name}/${taggedName(tags)}/tags/list`;
  const history = (tags: number): string =>
    `/v2/${organization.name}/${taggedName(tags)}/_service/history/${tagName(0)}`;
  const middle = sizes.tags >> 1;
  const start = new Date(recordTimeMs(middle)).toISOString();
  const tagsOf = ({ name }: Registry): string => `1,000 of ${count(PEER_TAGS)} tags, ${name}`;
  const toPeers = (goal: number): Against[] =>
    (engine === "SQLite" ? peers : []).map((peer) => ({
      title: tagsOf(peer),
      ...(peer.name === "docker-registry" && { goal, byCpu: true }),
    }));
  const tagged = `${organization.name}/tagged`;
  const peerRows = peers.map((peer): Row => ({
    title: tagsOf(peer),
    unit: "/s",
    prepare: () => pushTags(peer, tagged, PEER_TAGS),
    measure: overHttp(bench, peer, () => [[get(`/v2/${tagged}/tags/list`)]]),
  }));
  const title = `1,000 of ${count(short)} tags`;
  const shortHistory = `1,000 of ${count(short)} records of a history`;
  return {
    title: `tags and histories, ${engine}`,
    rows: [
      ...(engine === "SQLite" ? peerRows : []),
      row(title, list(short), toPeers(TAGS_PAGE_GOAL)),
      row(`1,000 of ${count(sizes.tags)} tags, first page`, list(sizes.tags), [{ title: `${title}, ${engine}` }]),
      row(`1,000 of ${count(sizes.tags)} tags, deep page`, `${list(sizes.tags)}?last=${tagName(middle)}`, [
        { title: `${title}, ${engine}` },
      ]),
      row(shortHistory, history(short), toPeers(HISTORY_PAGE_GOAL)),
      row(`1,000 of ${count(sizes.tags)} records of a history, first`, history(sizes.tags), [
        { title: `${shortHistory}, ${engine}` },
      ]),
      row(
        `1,000 of ${count(sizes.tags)} records of a history, from the middle`,
        `${history(sizes.tags)}?start=${start}`,
        [{ title: `${shortHistory}, ${engine}` }],
      ),
    ],
  };
}
