import type { Call } from "@moorage/kernel/core/call";
import { isIndexType } from "@moorage/kernel/core/media-types";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { MAX_CONFIG_BYTES } from "@moorage/registry/registry";

/** What an image says about itself. Of an index its first image speaks, that for linux/amd64 before others. */
export interface ImageFacts {
  repo: string;
  /** The digest of the image of one platform. */
  digest: string;
  /** Labels and annotations `org.opencontainers.image.*`, without that beginning. */
  labels: ReadonlyMap<string, string>;
}

/** Where images are read, and how many configurations may still be. */
export interface FactsPlace {
  call: Call;
  readBlob: ServiceContext["readBlob"];
  repo: string;
  budget: { configs: number };
}

interface Manifest {
  config?: { digest: string };
  annotations?: unknown;
  manifests?: { digest: string; platform?: { os?: string; architecture?: string } | null }[];
}

const PREFIX = "org.opencontainers.image.";
const MAX_DEPTH = 64;
const MAX_LABEL = 500;

/** Undefined when the repo does not hold the manifest. */
export async function factsOf(place: FactsPlace, digest: string): Promise<ImageFacts | undefined> {
  const top = await manifestOf(place, digest);
  if (top === undefined) return undefined;
  const entries = (top.manifest.manifests ?? []).filter(({ platform }) => platform?.architecture !== "unknown");
  const first =
    entries.find(({ platform }) => platform?.os === "linux" && platform.architecture === "amd64") ?? entries[0];
  const image = top.isIndex && first !== undefined ? await manifestOf(place, first.digest) : undefined;
  const { manifest } = image ?? top;
  return {
    repo: place.repo,
    digest: image === undefined ? digest : (first?.digest ?? digest),
    labels: new Map([
      ...(await configLabels(place, manifest)),
      ...labelsIn(manifest.annotations),
      ...labelsIn(top.manifest.annotations),
    ]),
  };
}

async function manifestOf(
  { call, repo }: FactsPlace,
  digest: string,
): Promise<{ manifest: Manifest; isIndex: boolean } | undefined> {
  const row = await call.tx
    .selectFrom("manifests")
    .select(["media_type", "content"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const manifest = JSON.parse(Buffer.from(row.content).toString()) as Manifest;
  return { manifest, isIndex: isIndexType(row.media_type) };
}

async function configLabels(place: FactsPlace, { config }: Manifest): Promise<[string, string][]> {
  if (config === undefined) return [];
  const { call, readBlob, repo, budget } = place;
  budget.configs -= 1;
  const content = await readBlob(call, repo, config.digest, MAX_CONFIG_BYTES);
  if (content === undefined) return [];
  try {
    const parsed = parseJson(Buffer.from(content).toString(), MAX_DEPTH);
    return isObject(parsed) && isObject(parsed["config"]) ? labelsIn(parsed["config"]["Labels"]) : [];
  } catch {
    // The configuration of an artifact may be anything.
    return [];
  }
}

function labelsIn(value: unknown): [string, string][] {
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, each]) =>
    name.startsWith(PREFIX) && typeof each === "string" && each.length <= MAX_LABEL
      ? [[name.slice(PREFIX.length), each] as [string, string]]
      : [],
  );
}
