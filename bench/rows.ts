import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import type { Alone, AloneResult } from "./alone.ts";
import type { Transfer, TransferResult } from "./blob.ts";
import type { Load, LoadResult } from "./load.ts";
import { ask, cpuUs, LOAD_CORE, SERVER_CORE } from "./processes.ts";
import { beginUpload, type Moorage, pushImage, type Registry, send } from "./registries.ts";

/** One measurement. `cpuUs`: the server's processor time per request; `loadShare`: how busy the load's own core was. */
export interface Sample { rate: number; cpuUs?: number; loadShare?: number; failure?: string }

/** A line of the table. `rate` is in `unit`. */
export interface Row {
  /** What `--rows` picks it by; several rows may share it. */
  key: string;
  title: string;
  unit: "/s" | "MB/s";
  measure(round: number): Promise<Sample>;
  /** The title of the row it is held against, and the least ratio that is aimed at. */
  against?: { title: string; goal: number };
}

export interface Sizes { repos: number; roundMs: number; blobBytes: number; connections: number }
export interface Bench { hello: { process: ChildProcess; port: number }; moorage: Moorage; peer: Registry | undefined; dataDir: string; repo: string; sizes: Sizes }

export const HELLO = "node:http hello, nothing else";
const TAGS = 1_000;
const SETUP_TIMEOUT_MS = 60_000;
// A page this far in, as a share of all repos.
const DEEP = 0.9;

function get(path: string, authorization = "", accept = "*/*"): string {
  return `GET ${path} HTTP/1.1\r\nhost: bench\r\naccept: ${accept}\r\n${authorization}\r\n`;
}

async function load(server: { process: ChildProcess; port: number }, sizes: Sizes, sequences: string[][]): Promise<Sample> {
  const before = cpuUs(server.process.pid);
  const input: Load = { port: server.port, connections: sizes.connections, durationMs: sizes.roundMs, sequences };
  const result = await ask<LoadResult>(LOAD_CORE, "load.ts", input, sizes.roundMs + SETUP_TIMEOUT_MS);
  const after = cpuUs(server.process.pid);
  return {
    rate: (result.answers * 1000) / result.elapsedMs, loadShare: result.loadShare,
    ...(before !== undefined && after !== undefined && { cpuUs: (after - before) / Math.max(1, result.answers) }),
    ...(result.failures > 0 && { failure: result.firstFailure }),
  };
}

function alone(input: Alone): Promise<Sample> {
  return ask<AloneResult>(SERVER_CORE, "alone.ts", input, input.durationMs + SETUP_TIMEOUT_MS).then(({ perSecond }) => ({ rate: perSecond }));
}

function platformRows({ hello, moorage, repo, sizes }: Bench): Row[] {
  return [
    { key: "hello", title: HELLO, unit: "/s", measure: () => load(hello, sizes, [[get("/")]]) },
    { key: "ping", title: "ping, REST", unit: "/s", measure: () => load(moorage, sizes, [[get("/ping/v2/ping")]]) },
    {
      key: "get", title: "get a repo, REST", unit: "/s", against: { title: HELLO, goal: 0.35 },
      measure: () => load(moorage, sizes, [[get(`/registry/v2/repos/${repo}`, moorage.platformAuthorization)]]),
    },
  ];
}

async function listRows({ moorage, dataDir, sizes }: Bench): Promise<Row[]> {
  const first = `/registry/v2/repos?uidp.descendants_of=${moorage.organization.uid}&page_size=50`;
  const skip = Math.floor(sizes.repos * DEEP);
  const platform: Registry = { ...moorage, authorization: moorage.platformAuthorization };
  const page = await (await send(platform, "GET", `${first}&skip=${skip}`)).json() as { nextPageToken: string; totalCount: string };
  if (Number(page.totalCount) < sizes.repos) throw new Error(`the list counts ${page.totalCount} repos`);
  const deep = `${first}&page_token=${encodeURIComponent(page.nextPageToken)}`;
  const of = `50 of ${sizes.repos.toLocaleString("en")}`;
  const titles = { first: `list ${of}, first page, REST`, alone: `the prepared statement alone, first page` };
  const statement = (name: string): Promise<Sample> => alone({
    work: "list", database: join(dataDir, "moorage.db"), ancestor: moorage.organization.uid, after: { name, uid: "" }, durationMs: sizes.roundMs / 2,
  });
  return [
    { key: "list", title: titles.alone, unit: "/s", measure: () => statement("") },
    { key: "list", title: titles.first, unit: "/s", against: { title: titles.alone, goal: 0.3 }, measure: () => load(moorage, sizes, [[get(first, moorage.platformAuthorization)]]) },
    { key: "list", title: `list ${of}, deep page, REST`, unit: "/s", against: { title: titles.first, goal: 0.9 }, measure: () => load(moorage, sizes, [[get(deep, moorage.platformAuthorization)]]) },
  ];
}

/** What each caller sends: it owns some of the tags and moves each to and fro between two digests that no other round uses. */
function moves(bench: Bench, round: number): string[][] {
  const digests = ["a", "b"].map((side) => `sha256:${createHash("sha256").update(`${round}/${side}`).digest("hex")}`);
  return Array.from({ length: bench.sizes.connections }, (_, caller) => digests.flatMap((digest) => {
    const requests: string[] = [];
    for (let tag = caller; tag < TAGS; tag += bench.sizes.connections) {
      const body = JSON.stringify({ name: `t${tag}`, digest });
      requests.push(`POST /registry/v2/tags/${bench.repo} HTTP/1.1\r\nhost: bench\r\n${bench.moorage.platformAuthorization}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    }
    return requests;
  }));
}

function moveRows(bench: Bench): Row[] {
  const title = "one-row durable commits, the engine alone, 1 caller";
  return [
    { key: "moves", title, unit: "/s", measure: () => alone({ work: "commit", database: join(bench.dataDir, "commits.db"), durationMs: bench.sizes.roundMs }) },
    {
      key: "moves", title: `tag moves with history, ${bench.sizes.connections} callers, ${TAGS.toLocaleString("en")} tags`, unit: "/s", against: { title, goal: 2 },
      measure: (round) => load(bench.moorage, bench.sizes, moves(bench, round)),
    },
  ];
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** The same rows for the peer, where there is one, and for us, held against it. */
async function withPeer(bench: Bench, rows: (registry: Registry) => Promise<Row[]>, goals: Record<string, number>): Promise<Row[]> {
  const named = (registry: Registry, row: Row): Row => ({ ...row, title: `${row.title}, ${registry.name}` });
  const peer = bench.peer;
  const theirs = peer ? (await rows(peer)).map((row) => named(peer, row)) : [];
  const ours = (await rows(bench.moorage)).map((row) => {
    const goal = goals[row.title];
    return { ...named(bench.moorage, row), ...(peer && goal !== undefined && { against: { title: `${row.title}, ${peer.name}`, goal } }) };
  });
  return [...theirs, ...ours];
}

function manifestRows(bench: Bench): Promise<Row[]> {
  return withPeer(bench, async (registry) => {
    const repository = `${bench.moorage.organization.name}/bench`;
    const digest = await pushImage(registry, repository, "latest");
    const row = (title: string, reference: string): Row => ({
      key: "manifest", title, unit: "/s", measure: () => load(registry, bench.sizes, [[get(`/v2/${repository}/manifests/${reference}`, registry.authorization, MANIFEST)]]),
    });
    return [row("manifest by tag", "latest"), row("manifest by digest", digest)];
  }, { "manifest by tag": 20, "manifest by digest": 20 });
}

function blobRows(bench: Bench): Promise<Row[]> {
  const { blobBytes } = bench.sizes;
  const size = `${blobBytes / 2 ** 20} MiB blob`;
  return withPeer(bench, async (registry) => {
    const repository = `${bench.moorage.organization.name}/bench`;
    const transfer = async (input: Omit<Transfer, "port" | "bytes">): Promise<{ sample: Sample; digest: string }> => {
      const { seconds, digest } = await ask<TransferResult>(LOAD_CORE, "blob.ts", { ...input, port: registry.port, bytes: blobBytes }, SETUP_TIMEOUT_MS);
      return { sample: { rate: blobBytes / 1e6 / seconds }, digest };
    };
    let newest = "";
    return [
      {
        key: "blob", title: `${size} up`, unit: "MB/s",
        measure: async (round) => {
          const target = await beginUpload(registry, repository, "DIGEST");
          const head = `PUT ${target} HTTP/1.1\r\nhost: bench\r\n${registry.authorization}content-type: application/octet-stream\r\ncontent-length: ${blobBytes}\r\n\r\n`;
          const { sample, digest } = await transfer({ direction: "up", head, seed: round });
          newest = digest;
          return sample;
        },
      },
      {
        key: "blob", title: `${size} down`, unit: "MB/s",
        measure: async (round) => (await transfer({ direction: "down", head: get(`/v2/${repository}/blobs/${newest}`, registry.authorization), seed: round })).sample,
      },
    ];
  }, { [`${size} up`]: 1.5, [`${size} down`]: 1 });
}

/** All rows that were asked for; what they need is set up here. The hello limit is always among them. */
export async function rowsOf(bench: Bench, wanted: (key: string) => boolean): Promise<Row[]> {
  return [
    ...platformRows(bench).filter(({ key }) => key === "hello" || wanted(key)),
    ...(wanted("list") ? await listRows(bench) : []),
    ...(wanted("moves") ? moveRows(bench) : []),
    ...(wanted("manifest") ? await manifestRows(bench) : []),
    ...(wanted("blob") ? await blobRows(bench) : []),
  ];
}
